/* sample.c - samples a trace: takes blocks of neighbouring events, evenly spread over the trace.
 *
 * Single events would not do: shrinking coalesces neighbouring events, and nested events are neighbours, too. The blocks are small and
 * numerous, because a trace has phases with different events. */
#include "sample.h"

#include "graph/chain.h"

enum { BLOCK = 64 };

static bool is_taken(tk_id id, uint32_t every) { return every && id / BLOCK % every == every / 2; }

/* Takes the events at the end of each flow whose start was taken. */
static bool follow_flows(const struct tk_trace *t, struct subset *k) {
  struct chains chains;
  if (t->n_flow_points == 0) return true;
  if (!chains_init(&chains, t, k->mem)) return false;
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    tk_id *chain = chains_of(&chains, f);
    if (!*chain || flow_starts(f)) *chain = i;
    else if (f->bound && t->flow_points[*chain].bound) k->events[f->at] = k->events[t->flow_points[*chain].at];
  }
  chains_free(&chains);
  return true;
}

static bool take_depths(struct sample *s, const struct tk_trace *t, const struct subset *k) {
  tk_id n = 0;
  s->n_depths = s->view.n_events;
  s->depths = mem_array(k->mem, (uint64_t)s->n_depths + 1, sizeof *s->depths);
  for (tk_id i = 1; s->depths && i <= t->n_events; i++)
    if (k->events[i]) s->depths[++n] = t->events[i].depth;
  return s->depths != NULL;
}

void sample_free(struct sample *s, struct mem *mem) {
  mem_free(mem, s->depths);
  subset_free_view(&s->view);
  *s = (struct sample){0};
}

bool sample_take(struct sample *s, const struct tk_trace *t, uint32_t every, struct mem *mem, struct tk_err *err) {
  struct subset k;
  struct subset_losses kept = {0};
  bool ok = subset_init(&k, t, mem);
  *s = (struct sample){0};
  for (tk_id i = 1; ok && every != 1 && i <= t->n_events; i++) k.events[i] = is_taken(i, every);
  for (tk_id i = 1; ok && every != 1 && i <= t->n_records; i++) k.records[i] = t->records[i].phase == 'M' || is_taken(i, every);
  if (ok && every > 1) ok = follow_flows(t, &k);
  for (tk_id i = 1; ok && every != 1 && i <= t->n_flow_points; i++) k.points[i] = t->flow_points[i].bound || is_taken(i, every);
  ok = ok && subset_take(t, &k, &s->view, &kept, err) && take_depths(s, t, &k);
  subset_free(&k);
  return ok || mem_refuse(mem, err);
}
