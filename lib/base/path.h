/* path.h - names of files. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <string.h>

/* What stands behind the last slash of a path; all of it where there is none. */
static inline const char *path_base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

#endif
