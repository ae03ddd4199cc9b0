/* sources_kept.c - see sources_kept.h. */
#include "sources_kept.h"

#include <stdlib.h>

#include "sources_impl.h"

struct tk_trace **sources_kept(struct tk_sources *s) {
  if (!s->impl->kept) s->impl->kept = calloc(s->n + 1, sizeof *s->impl->kept);
  return s->impl->kept;
}

uint64_t sources_kept_bytes(const struct tk_sources *s) {
  uint64_t bytes = 0;
  for (size_t i = 0; s->impl->kept && i < s->n; i++)
    if (s->impl->kept[i]) bytes += s->impl->kept[i]->store->mem.used;
  return bytes;
}

struct tk_trace *sources_kept_take(struct tk_sources *s, size_t i) {
  struct tk_trace *t = s->impl->kept ? s->impl->kept[i] : NULL;
  if (t) s->impl->kept[i] = NULL;
  return t;
}

void sources_kept_free(struct tk_sources *s) {
  for (size_t i = 0; s->impl->kept && i < s->n; i++) tk_free(s->impl->kept[i]);
  free(s->impl->kept);
  s->impl->kept = NULL;
}
