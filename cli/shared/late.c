/* late.c - see late.h. */
#include "late.h"

#if defined TK_LATE_ARCHIVE || defined TK_LATE_EDIT
#include <dlfcn.h>
#include <string.h>

/* Copies the bytes of each address, because C has no conversion of the data pointers from dlsym() to function pointers. The
 * library stays loaded. */
bool late_find(const char *library, const char *const *names, size_t n, void *functions) {
  void *loaded = dlopen(library, RTLD_LAZY | RTLD_LOCAL), *found;
  size_t i = 0;
  for (; loaded && i < n && (found = dlsym(loaded, names[i])); i++)
    memcpy((unsigned char *)functions + i * sizeof found, &found, sizeof found);
  return i == n;
}

#endif
