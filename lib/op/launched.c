/* launched.c - see launched.h.
 *
 * CUPTI, roctracer and XLA store the same correlation id, which is unique within a rank, in a launch and in the launched work.
 * Work without this id is linked by a flow that starts in a host span and ends at the work, or otherwise by the External id of
 * its operator.
 *
 * torch_npu queues the work of operators: another thread takes it from the queue and calls CANN. Only a profiler level of 1 or 2
 * records this call, which is in none of the operators, modules and annotations. So a flow from the operator is the link at every
 * level, even if the call has the id of the work. */
#include "launched.h"

#include "graph/accelerator.h"
#include "graph/chain.h"
#include "graph/picks.h"

enum { WORK = KIND_KERNEL | KIND_MEMCPY | KIND_MEMSET };

struct launched {
  const struct tk_trace *t;
  const struct kinds *kinds;
  const struct track_origin *origins;
  struct mem *mem;
  struct map hosts; /* correlation id -> host event */
  struct map ops;   /* External id -> innermost host event, for work that nothing else links */
  struct picks links, external;
};

bool launched_is_work(const struct kinds *k, const struct tk_event *e) {
  unsigned kinds = kinds_of(k, e);
  return e->kind == TK_EVENT_SPAN && kinds & WORK && kinds & KIND_DEVICE && !(e->flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK));
}

/* Returns the id that the first usable of the picked args states, apart for each rank; 0 = none. */
static uint64_t id_of(const struct launched *l, const struct tk_event *e, const struct picks *of) {
  struct tk_arg args[PICKS_MOST];
  const uint32_t known = picks_of(of, e, args);
  for (uint32_t i = 0; known >> i; i++) {
    const bool is_id = known >> i & 1 && (args[i].type == TK_ARG_INT || args[i].type == TK_ARG_UINT) && args[i].i > 0;
    if (is_id) return args[i].u ^ (uint64_t)(l->origins ? l->origins[e->track].rank + 1 : 0) << 44;
  }
  return 0;
}

/* Maps each id to its last and innermost host event: the call itself rather than the operator around it. */
static bool find_hosts(struct launched *l, const struct picks *of, struct map *hosts) {
  const struct tk_trace *t = l->t;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind != TK_EVENT_SPAN || kinds_of(l->kinds, e) & KIND_DEVICE) continue;
    const uint64_t id = id_of(l, e, of);
    uint32_t *at = id ? map_put(hosts, id, i) : NULL;
    if (at) *at = i;
  }
  return !l->mem->failed;
}

/* Work was launched by the host event of the last start before it in the same flow; flow points are sorted by time. Only flows
 * of the category `cat`; 0 = all flows. */
static bool each_flow_of(tk_id cat, const struct kinds *k, struct mem *mem, void (*found)(void *arg, tk_id host, tk_id work),
                         void *arg) {
  const struct tk_trace *t = k->t;
  struct chains chains;
  if (!t->n_flow_points) return true;
  if (!chains_init(&chains, t, mem)) return false;
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    if (cat && t->classes[f->cls].cat != cat) continue;
    tk_id *start = chains_of(&chains, f);
    if (flow_starts(f)) *start = i;
    if (flow_starts(f) || !*start || !f->bound || !t->flow_points[*start].bound) continue;
    const tk_id host = t->flow_points[*start].at;
    if (launched_is_work(k, &t->events[f->at]) && !(kinds_of(k, &t->events[host]) & KIND_DEVICE)) found(arg, host, f->at);
  }
  chains_free(&chains);
  return true;
}

bool launched_each_flow(const struct kinds *k, struct mem *mem, void (*found)(void *arg, tk_id host, tk_id work), void *arg) {
  return each_flow_of(0, k, mem, found, arg);
}

/* Replaces launches by the operators that queued them. */
static bool find_by_queue(const struct launched *l, tk_id *by) {
  const tk_id cat = trace_text_id(l->t, "async_npu"); /* torch_npu, fwk_cann_relation_parser.py; msprof's databases */
  return !cat || each_flow_of(cat, l->kinds, l->mem, launched_keep, by);
}

/* Finds the launches of all work by correlation id, where there is one. */
static bool find_by_correlation(struct launched *l, tk_id *by) {
  tk_id keys[ACCELERATOR_LINKS], any = 0;
  for (int i = 0; i < ACCELERATOR_LINKS; i++) any |= keys[i] = trace_text_id(l->t, accelerator_links[i]);
  if (!any) return true;
  if (!picks_init(&l->links, l->t, keys, ACCELERATOR_LINKS, l->mem) || !find_hosts(l, &l->links, &l->hosts)) return false;
  for (tk_id i = 1; i <= l->t->n_events; i++) {
    const struct tk_event *e = &l->t->events[i];
    const uint64_t id = launched_is_work(l->kinds, e) ? id_of(l, e, &l->links) : 0;
    const uint32_t *host = id ? map_get(&l->hosts, id) : NULL;
    if (host) by[i] = *host;
  }
  return true;
}

/* True if the operator may have launched the work. Kineto up to PyTorch 2.1 stored the correlation id of work as its External id,
 * which is the id of any operator, if the trace lacks the launching call. An operator that begins after the work did not launch it. */
static bool is_operator_of(const struct launched *l, tk_id op, tk_id work, uint64_t id) {
  const struct tk_event *v = l->t->events;
  const bool is_link = l->links.of && id_of(l, &v[work], &l->links) == id;
  return !is_link && v[op].ts < v[work].ts + v[work].dur;
}

/* Finds the operators of work that nothing else links. */
static bool find_by_operator(struct launched *l, tk_id *by) {
  const tk_id key = trace_text_id(l->t, "External id");
  bool searched = false;
  if (!key) return true;
  if (!picks_init(&l->external, l->t, &key, 1, l->mem)) return false;
  for (tk_id i = 1; i <= l->t->n_events; i++) {
    const struct tk_event *e = &l->t->events[i];
    const uint64_t id = !by[i] && launched_is_work(l->kinds, e) ? id_of(l, e, &l->external) : 0;
    if (id && !searched && !find_hosts(l, &l->external, &l->ops)) return false;
    searched = searched || id;
    const uint32_t *op = id ? map_get(&l->ops, id) : NULL;
    if (op && is_operator_of(l, *op, i, id)) by[i] = *op;
  }
  return true;
}

bool launched_each(const struct kinds *kinds, const struct track_origin *origins, struct mem *mem,
                   void (*found)(void *arg, tk_id launch, tk_id work), void *arg) {
  const struct tk_trace *t = kinds->t;
  struct launched l = {.t = t, .kinds = kinds, .origins = origins, .mem = mem};
  tk_id *by = mem_zeros(mem, (uint64_t)t->n_events + 1, sizeof *by);
  map_init(&l.hosts, mem);
  map_init(&l.ops, mem);
  bool ok = by && launched_each_flow(kinds, mem, launched_keep, by) && find_by_correlation(&l, by);
  ok = ok && find_by_queue(&l, by) && find_by_operator(&l, by);
  for (tk_id i = 1; ok && i <= t->n_events; i++)
    if (by[i]) found(arg, by[i], i);
  map_free(&l.hosts);
  map_free(&l.ops);
  picks_free(&l.links);
  picks_free(&l.external);
  mem_free(mem, by);
  return ok;
}
