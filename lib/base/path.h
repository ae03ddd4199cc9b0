/* path.h - parts of a path. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stddef.h>
#include <string.h>

/* What stands behind the last slash: "" for "a/". */
static inline const char *path_leaf(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* ... and so many folders before it. */
static inline const char *path_end(const char *path, unsigned folders) {
  const char *p = path_leaf(path);
  while (p > path && folders--)
    for (p--; p > path && p[-1] != '/';) p--;
  return p;
}

/* Appends to a file's name what may stand in one everywhere, as far as `most` bytes allow, which `name` has and one more; the
 * beginning of a name is no dot. */
static inline void path_put_safe(char *name, size_t most, const char *part) {
  size_t n = strlen(name);
  for (; *part && n < most; part++) {
    const unsigned char c = (unsigned char)*part;
    const int bad = c < 0x20 || c == 0x7f || strchr("/\\:*?\"<>|", c) || (c == '.' && n == 0);
    name[n++] = bad ? '_' : (char)c;
  }
  name[n] = 0;
}

#endif
