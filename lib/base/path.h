/* path.h - extracts parts of a path. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Returns the part after the last slash; for "a/", this is "". */
static inline const char *path_leaf(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Returns the part after the last slash, and up to `folders` folders before it. */
static inline const char *path_end(const char *path, unsigned folders) {
  const char *p = path_leaf(path);
  while (p > path && folders--)
    for (p--; p > path && p[-1] != '/';) p--;
  return p;
}

/* True if the path is `end`, or has a slash before it. */
static inline bool path_ends(const char *path, const char *end) {
  const size_t n = strlen(path), m = strlen(end);
  return n >= m && strcmp(path + n - m, end) == 0 && (n == m || path[n - m - 1] == '/');
}

/* Appends to a file name those characters of `part` that all systems allow in file names, up to `most` bytes; `name` has room
 * for one more byte. The name never begins with a dot. */
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
