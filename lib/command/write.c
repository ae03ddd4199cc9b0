/* write.c - implements tk_sources_write: writes files other than traces that are derived from traces, such as HTML pages. */
#include <stdlib.h>

#include "base/err.h"
#include "io/out.h"
#include "source/sources.h"

bool tk_sources_write(const struct tk_sources *s, const char *path, const void *p, size_t n, bool force, struct tk_err *err) {
  struct mem mem = {0};
  struct out o = {0};
  struct tk_err own;
  const char **inputs = calloc(s->n + 1, sizeof *inputs);
  if (!err) err = &own;
  err_clear(err);
  if (!inputs) return err_set(err, TK_ELIMIT, "out of memory");
  for (size_t i = 0; i < s->n; i++) inputs[i] = sources_path(s, i);
  const struct out_options options = {.force = force, .inputs = inputs};
  bool ok = out_open(&o, path, &options, &mem, err);
  if (ok) out_write(&o, p, n);
  ok = ok && out_commit(&o, err);
  out_close(&o);
  free(inputs);
  return ok || err_prefix(err, "%s", path);
}
