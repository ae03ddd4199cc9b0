/* libarchive.c - see libarchive.h. */
#include "libarchive.h"

#ifdef TK_LATE_ARCHIVE
#include <dlfcn.h>
#include <string.h>

#define NAME(name) #name,
static const char *const NAMES[] = {LIBARCHIVE_FUNCTIONS(NAME)};
enum { FUNCTIONS = sizeof NAMES / sizeof *NAMES };
_Static_assert(sizeof(struct libarchive) == FUNCTIONS * sizeof(void *), "a pointer to a function is as large as one to data");

/* Copies the address as bytes, because C does not convert pointers to data into pointers to functions. */
static bool look_up(void *library, size_t i, struct libarchive *lib) {
  void *found = dlsym(library, NAMES[i]);
  memcpy((unsigned char *)lib + i * sizeof found, &found, sizeof found);
  return found;
}

/* RTLD_NODELETE: the functions that were found stay valid although the handle is closed. */
bool libarchive_find(struct libarchive *lib, struct tk_err *err) {
  void *library = dlopen(TK_LATE_ARCHIVE, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  size_t n = 0;
  if (!library) return err_set(err, TK_EREAD, "libarchive is required but cannot be loaded: %s", dlerror());
  while (n < FUNCTIONS && look_up(library, n, lib)) n++;
  dlclose(library);
  return n == FUNCTIONS || err_set(err, TK_EREAD, "libarchive is required but %s lacks %s", TK_LATE_ARCHIVE, NAMES[n]);
}

#else

#define LINKED(name) .name = (name),

bool libarchive_find(struct libarchive *lib, struct tk_err *err) {
  (void)err;
  *lib = (struct libarchive){LIBARCHIVE_FUNCTIONS(LINKED)};
  return true;
}

#endif
