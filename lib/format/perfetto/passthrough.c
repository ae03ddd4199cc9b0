/* passthrough.c - the passthrough of a graph that was read from a Perfetto file. */
#include "passthrough.h"

#include <string.h>

#include "perfetto.h"

bool passthrough_is(const struct tk_trace *t, const struct tk_meta *m, const char *key) {
  return m->origin && strcmp(m->origin, PERFETTO_FORMAT) == 0 && strcmp(tk_string(t, m->key, NULL), key) == 0;
}

const struct tk_meta *passthrough_find(const struct tk_trace *t, const char *key) {
  for (tk_id i = 1; i <= t->n_metas; i++)
    if (passthrough_is(t, &t->metas[i], key)) return &t->metas[i];
  return NULL;
}

bool perfetto_machine(const struct tk_trace *t, uint32_t at, struct format_machine *m) {
  const struct tk_meta *all = passthrough_find(t, PASSTHROUGH_MACHINES);
  if (!all || all->size / sizeof *m <= at) return false;
  memcpy(m, trace_raw(t, all->at) + at * sizeof *m, sizeof *m);
  return true;
}
