/* paths.c - see paths.h. */
#include "paths.h"

#include <string.h>

#include "intern.h"
#include "path.h"

unsigned paths_folders(const char *(*name)(const void *arg, size_t i), const void *arg, size_t n, struct mem *mem) {
  enum { MOST = 8 };
  unsigned folders = 0;
  for (bool same = true; same && folders < MOST; folders += same) {
    struct intern names;
    intern_init(&names, mem);
    same = false;
    for (size_t i = 0; i < n && !same; i++) {
      const char *end = path_end(name(arg, i), folders);
      const uint32_t before = names.n;
      same = intern(&names, end, strlen(end)) <= before;
    }
    intern_free(&names);
  }
  return folders == MOST ? 0 : folders;
}
