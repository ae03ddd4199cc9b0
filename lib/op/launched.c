/* launched.c - see launched.h.
 *
 * CUPTI, roctracer and XLA store the same correlation id in a launch and in the launched work; ids are unique within a rank. If
 * several calls have the same id, one after the other, as in traces of programs that forked, the id does not identify the call.
 * Work without an id that decides is linked by a flow from a host span to the work, or otherwise by its External id, which is
 * the id of an operator.
 *
 * torch_npu queues the work of operators; another thread takes it from the queue and calls CANN. This call is recorded only at
 * profiler levels 1 and 2, and is not inside any operator, module or annotation. So a flow from the operator to the work takes
 * precedence, even if the call has the correlation id of the work. */
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
  struct map shared; /* correlation ids of several calls that follow each other */
  struct map ops;   /* External id -> innermost host event; used for work without another link */
  struct picks links, external;
};

bool launched_is_work(const struct kinds *k, const struct tk_event *e) {
  unsigned kinds = kinds_of(k, e);
  return e->kind == TK_EVENT_SPAN && kinds & WORK && kinds & KIND_DEVICE && !(e->flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK));
}

/* Returns the id from the first usable arg of those picked, combined with the rank; 0 = none. */
static uint64_t id_of(const struct launched *l, const struct tk_event *e, const struct picks *of) {
  struct tk_arg args[PICKS_MOST];
  const uint32_t known = picks_of(of, e, args);
  for (uint32_t i = 0; known >> i; i++) {
    const bool is_id = known >> i & 1 && (args[i].type == TK_ARG_INT || args[i].type == TK_ARG_UINT) && args[i].i > 0;
    if (is_id) return args[i].u ^ (uint64_t)(l->origins ? l->origins[e->track].rank + 1 : 0) << 44;
  }
  return 0;
}

bool launched_apart(const struct kinds *k, const struct tk_event *a, const struct tk_event *b) {
  const bool calls = kinds_of(k, a) & KIND_RUNTIME && kinds_of(k, b) & KIND_RUNTIME;
  return calls && (a->ts + a->dur <= b->ts || b->ts + b->dur <= a->ts);
}

/* Maps each id to the last host event with it, which is the innermost: the call itself rather than the operator around it. */
static bool find_hosts(struct launched *l, const struct picks *of, struct map *hosts) {
  const struct tk_trace *t = l->t;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind != TK_EVENT_SPAN || kinds_of(l->kinds, e) & KIND_DEVICE) continue;
    const uint64_t id = id_of(l, e, of);
    uint32_t *at = id ? map_put(hosts, id, i) : NULL;
    if (at && *at != i && of == &l->links && launched_apart(l->kinds, &t->events[*at], e)) map_put(&l->shared, id, 1);
    if (at) *at = i;
  }
  return !l->mem->failed;
}

/* Calls `found` for work at the end of a flow, with the host event of the last flow start before it; flow points are sorted by time.
 * `cat`: category of the flows to use; 0 = all flows. */
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

/* Finds the launches of all work that has a correlation id. */
static bool find_by_correlation(struct launched *l, tk_id *by) {
  tk_id keys[ACCELERATOR_LINKS], any = 0;
  for (int i = 0; i < ACCELERATOR_LINKS; i++) any |= keys[i] = trace_text_id(l->t, accelerator_links[i]);
  if (!any) return true;
  if (!picks_init(&l->links, l->t, keys, ACCELERATOR_LINKS, l->mem) || !find_hosts(l, &l->links, &l->hosts)) return false;
  for (tk_id i = 1; i <= l->t->n_events; i++) {
    const struct tk_event *e = &l->t->events[i];
    const uint64_t id = launched_is_work(l->kinds, e) ? id_of(l, e, &l->links) : 0;
    const uint32_t *host = id ? map_get(&l->hosts, id) : NULL;
    if (host && !map_get(&l->shared, id)) by[i] = *host;
  }
  return true;
}

/* True if the operator may have launched the work: it must begin before the work ends. If the trace lacks the launching call, Kineto up
 * to PyTorch 2.1 stored the correlation id of work as its External id. An unrelated operator has the same External id, so the id
 * does not count. */
static bool is_operator_of(const struct launched *l, tk_id op, tk_id work, uint64_t id) {
  const struct tk_event *v = l->t->events;
  const bool is_link = l->links.of && id_of(l, &v[work], &l->links) == id;
  return !is_link && v[op].ts < v[work].ts + v[work].dur;
}

/* Finds the operators of work without another link. */
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
  map_init(&l.shared, mem);
  map_init(&l.ops, mem);
  bool ok = by && launched_each_flow(kinds, mem, launched_keep, by) && find_by_correlation(&l, by);
  ok = ok && find_by_queue(&l, by) && find_by_operator(&l, by);
  for (tk_id i = 1; ok && i <= t->n_events; i++)
    if (by[i]) found(arg, by[i], i);
  map_free(&l.hosts);
  map_free(&l.shared);
  map_free(&l.ops);
  picks_free(&l.links);
  picks_free(&l.external);
  mem_free(mem, by);
  return ok;
}
