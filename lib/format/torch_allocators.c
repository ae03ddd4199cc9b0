/* torch_allocators.c - see torch_allocators.h. */
#include "torch_allocators.h"

#include <string.h>

/* Beginnings of names in native_functions.yaml of PyTorch. */
static const char *const ALLOCATORS[] = {
    "empty",     /* empty, empty_like, empty_strided, empty_quantized */
    "new_empty", /* new_empty, new_empty_strided */
    "resize_",   /* resize_, resize_as_ */
    "set_",      /* set_.source_Storage */
};

bool torch_only_allocates(const char *name, size_t n) {
  for (size_t i = 0; i < sizeof ALLOCATORS / sizeof *ALLOCATORS; i++) {
    const size_t m = strlen(ALLOCATORS[i]);
    if (n >= m && memcmp(name, ALLOCATORS[i], m) == 0) return true;
  }
  return false;
}
