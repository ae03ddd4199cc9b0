/* launched.c - see launched.h.
 *
 * CUPTI, roctracer and XLA store the same correlation id, which is unique within a rank, in a launch and in the launched work.
 * Work without this id is linked by a flow that starts in a host span and ends at the work, or otherwise by the External id of
 * its operator. */
#include "launched.h"

#include <string.h>

#include "graph/accelerator.h"
#include "graph/chain.h"
#include "graph/args.h"

enum { WORK = KIND_KERNEL | KIND_MEMCPY | KIND_MEMSET };

struct launched {
  const struct tk_trace *t;
  const struct kinds *kinds;
  const struct track_origin *origins;
  struct map hosts; /* correlation id -> host event */
  struct map ops;   /* External id -> innermost host event, for work that nothing else links */
  tk_id keys[ACCELERATOR_LINKS], external;
  bool any; /* true if the trace has any of `keys`, so that events may have correlation ids */
};

bool launched_is_work(const struct kinds *k, const struct tk_event *e) {
  unsigned kinds = kinds_of(k, e);
  return e->kind == TK_EVENT_SPAN && kinds & WORK && kinds & KIND_DEVICE && !(e->flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK));
}

static bool id_of(const struct launched *l, const struct tk_event *e, tk_id key, uint64_t *id) {
  struct tk_arg arg;
  if (!key || !args_of_event(l->t, e, key, &arg) || (arg.type != TK_ARG_INT && arg.type != TK_ARG_UINT) || arg.i <= 0) return false;
  *id = arg.u ^ (uint64_t)(l->origins ? l->origins[e->track].rank + 1 : 0) << 44;
  return true;
}

static bool correlation_of(const struct launched *l, const struct tk_event *e, uint64_t *id) {
  for (int i = 0; l->any && i < ACCELERATOR_LINKS; i++)
    if (id_of(l, e, l->keys[i], id)) return true;
  return false;
}

/* Maps each id to its last and innermost host event: the call itself rather than the operator around it. */
static bool find_hosts(struct launched *l) {
  const struct tk_trace *t = l->t;
  uint64_t id;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind != TK_EVENT_SPAN || kinds_of(l->kinds, e) & KIND_DEVICE) continue;
    uint32_t *at = correlation_of(l, e, &id) ? map_put(&l->hosts, id, i) : NULL;
    if (at) *at = i;
    uint32_t *op = id_of(l, e, l->external, &id) ? map_put(&l->ops, id, i) : NULL;
    if (op) *op = i;
  }
  return !l->hosts.mem->failed;
}

/* Flow points are sorted by time: the launch of some work is the last point on the host before it in the same flow. */
bool launched_each_flow(const struct kinds *k, struct mem *mem, void (*found)(void *arg, tk_id host, tk_id work), void *arg) {
  const struct tk_trace *t = k->t;
  struct chains chains;
  if (!t->n_flow_points) return true;
  if (!chains_init(&chains, t, mem)) return false;
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    tk_id *start = chains_of(&chains, f);
    if (flow_starts(f)) *start = i;
    if (flow_starts(f) || !*start || !f->bound || !t->flow_points[*start].bound) continue;
    const tk_id host = t->flow_points[*start].at;
    if (launched_is_work(k, &t->events[f->at]) && !(kinds_of(k, &t->events[host]) & KIND_DEVICE)) found(arg, host, f->at);
  }
  chains_free(&chains);
  return true;
}

bool launched_each(const struct kinds *kinds, const struct track_origin *origins, struct mem *mem,
                   void (*found)(void *arg, tk_id launch, tk_id work), void *arg) {
  struct launched l = {.t = kinds->t, .kinds = kinds, .origins = origins};
  const struct tk_trace *t = kinds->t;
  tk_id *by = mem_zeros(mem, (uint64_t)t->n_events + 1, sizeof *by);
  uint64_t id;
  for (int i = 0; i < ACCELERATOR_LINKS; i++) {
    l.keys[i] = trace_text_id(t, accelerator_links[i]);
    l.any = l.any || l.keys[i];
  }
  l.external = trace_text_id(t, "External id");
  map_init(&l.hosts, mem);
  map_init(&l.ops, mem);
  bool ok = by && ((!l.any && !l.external) || find_hosts(&l)) && launched_each_flow(kinds, mem, launched_keep, by);
  for (tk_id i = 1; ok && i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (!launched_is_work(kinds, e)) continue;
    const uint32_t *host = correlation_of(&l, e, &id) ? map_get(&l.hosts, id) : NULL;
    const uint32_t *op = host || by[i] || !id_of(&l, e, l.external, &id) ? NULL : map_get(&l.ops, id);
    if (host || by[i] || op) found(arg, host ? *host : by[i] ? by[i] : *op, i);
  }
  map_free(&l.hosts);
  map_free(&l.ops);
  mem_free(mem, by);
  return ok;
}
