/* path.h - parts of a path. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <string.h>

/* What stands behind the last slash: "" for "a/". */
static inline const char *path_leaf(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

#endif
