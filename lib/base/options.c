/* options.c - see options.h. */
#include "options.h"

#include <string.h>

static bool unknown(struct tk_err *err) {
  return err_set(err, TK_EUSAGE, "unknown option: the caller was built for a newer version of the library than " TK_VERSION);
}

bool options_take(void *own, size_t size, size_t first, const void *given, struct tk_err *err) {
  size_t n = 0;
  memset(own, 0, size);
  if (!given) return true;
  memcpy(&n, given, sizeof n);
  if (n == 0) n = first;
  if (n < first) return err_set(err, TK_EUSAGE, "options of %zu bytes; expected at least %zu", n, first);
  for (size_t i = size; i < n; i++)
    if (((const uint8_t *)given)[i]) return unknown(err);
  memcpy(own, given, n < size ? n : size);
  return true;
}

bool options_reserved(const uint64_t *reserved, size_t n, struct tk_err *err) {
  for (size_t i = 0; i < n; i++)
    if (reserved[i]) return unknown(err);
  return true;
}
