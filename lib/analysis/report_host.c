/* report_host.c - measures host activity: compilation, operators, runtime calls, garbage collections, and what the host did at
 * each instant (host_time.h). */
#include "report.h"

#include <string.h>

#include "measure.h"

struct host {
  struct reporter *p;
  struct report_host_sums *sums;
  const struct step *steps; /* of the rank's host */
  uint32_t n_steps;
  struct interval *v;  /* compilations */
  uint32_t n, cap;
};

/* The open outermost operator of a thread. `launches`: whether it has launched work. */
struct outermost {
  const struct tk_event *op;
  bool launched;
};

static void end_op(struct host *h, struct outermost *o) {
  if (o->op && !o->launched) {
    h->sums->host_only_ops++;
    h->sums->host_only += o->op->flags & TK_UNFINISHED ? 0 : o->op->dur;
  }
  *o = (struct outermost){NULL, false};
}

static void see_op(struct host *h, tk_id event, unsigned kind, struct outermost *o) {
  const struct tk_event *e = &h->p->t->events[event];
  if (o->op && e->depth <= o->op->depth) end_op(h, o);
  if (!o->op && kind & KIND_OP) {
    h->sums->host_ops++;
    o->op = e;
  }
  if (o->op && h->p->launches[event]) o->launched = true;
}

static bool see_compilation(struct host *h, const struct tk_event *e, int64_t *depth) {
  const struct window *w = &h->p->scope.window;
  if (*depth >= 0 && e->depth > *depth) return true;
  *depth = -1;
  if (report_named_class(h->p, e->cls) != HOST_COMPILE || e->flags & (TK_UNFINISHED | TK_LOST_CLOCK)) return true;
  *depth = e->depth;
  h->sums->compilations++;
  if (!mem_grow(h->p->mem, (void **)&h->v, &h->cap, (uint64_t)h->n + 1, sizeof *h->v)) return false;
  const tk_time start = e->ts > w->start ? e->ts : w->start, end = e->ts + e->dur < w->end ? e->ts + e->dur : w->end;
  h->v[h->n++] = (struct interval){start, end - start};
  return true;
}

/* ---- classes ---- */

static void count_collection(struct host *h, const struct tk_event *e) {
  struct report_host_sums *s = h->sums;
  s->collections++;
  s->collecting += e->dur;
  if (e->dur <= s->collection_max) return;
  s->collection_max = e->dur;
  s->collection_at = e->ts - h->p->zero;
}

/* Adds the span to the time of the host. Blocking calls and collections count unless they are parts of others. */
static bool see_class(struct host *h, const struct tk_event *e, unsigned kind) {
  const enum host_class class = host_names_class_of(report_named_class(h->p, e->cls), kind);
  enum host_class around;
  if (e->flags & (TK_UNFINISHED | TK_LOST_CLOCK)) return true;
  if (!host_time_add(&h->sums->time, e, class, &around)) return false;
  if (class == HOST_GC && around < HOST_GC) count_collection(h, e);
  if (class != HOST_SYNC || around >= HOST_SYNC) return true;
  h->sums->syncs++;
  h->sums->syncs_in_steps += report_is_in_step(h->steps, h->n_steps, e->ts);
  return true;
}

static bool see_track(struct host *h, tk_id track) {
  const struct tk_trace *t = h->p->t;
  const struct tk_track *k = &t->tracks[track];
  struct outermost o = {NULL, false};
  int64_t compiling = -1;
  bool leads = h->n_steps && h->steps->track == track;
  if (!host_time_begin(&h->sums->time)) return false;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (!scope_holds(&h->p->scope, e)) continue;
    h->sums->events++;
    const unsigned kind = e->kind == TK_SPAN ? kinds_of(&h->p->match.kinds, e) : KIND_DEVICE;
    if (kind & KIND_DEVICE || k->kind != TK_THREAD) continue;
    h->sums->runtime_calls += (kind & KIND_RUNTIME) != 0;
    leads = leads || h->p->launches[i];
    see_op(h, i, kind, &o);
    if (!see_compilation(h, e, &compiling) || !see_class(h, e, kind)) return false;
  }
  end_op(h, &o);
  return host_time_end(&h->sums->time, leads) && report_spans_add(h->p, track, h->steps, h->n_steps);
}

static bool report_prepare(struct reporter *p) {
  const struct tk_trace *t = p->t;
  const struct works *w = &p->works;
  if (p->launches) return true;
  p->host_class = mem_alloc(p->mem, (size_t)t->n_classes + 1);
  p->launches = mem_alloc(p->mem, (size_t)t->n_events + 1);
  if (!p->host_class || !p->launches) return false;
  memset(p->host_class, HOST_CLASSES, (size_t)t->n_classes + 1);
  memset(p->launches, 0, (size_t)t->n_events + 1);
  for (tk_id i = 1; w->launch_of && i <= t->n_events; i++)
    if (w->launch_of[i]) p->launches[w->launch_of[i]] = true;
  return true;
}

static bool sum_up(struct reporter *p, uint32_t group) {
  const struct report_index *x = &p->index;
  const struct report_steps steps = x->steps[group];
  struct host h = {.p = p, .sums = &x->hosts[group], .n_steps = steps.n};
  if (steps.n) h.steps = p->match.steps.v + steps.first;
  bool ok = report_prepare(p);
  h.sums->time.mem = p->mem;
  for (uint32_t i = x->tracks_at[group]; ok && i < x->tracks_at[group + 1]; i++) ok = see_track(&h, x->tracks[i]);
  p->impl->host_steps += steps.n;
  ok = ok && host_time_merge(&h.sums->time);
  struct interval *room = ok ? mem_array(p->mem, (uint64_t)h.n + 1, sizeof *room) : NULL;
  if (room) h.sums->compile = measure_union(h.v, h.n, room);
  h.sums->made = room != NULL;
  mem_free(p->mem, room);
  mem_free(p->mem, h.v);
  return h.sums->made;
}

bool report_host(struct reporter *p, struct tk_report_rank *row, uint32_t group) {
  const struct report_host_sums *s = &p->index.hosts[group];
  if (!s->made && !sum_up(p, group)) return false;
  row->events = s->events;
  row->runtime_calls = s->runtime_calls;
  row->host_ops = s->host_ops;
  row->host_only_ops = s->host_only_ops;
  row->host_only = s->host_only;
  row->compilations = s->compilations;
  row->compile = s->compile;
  row->syncs = s->syncs;
  row->syncs_in_steps = s->syncs_in_steps;
  row->collections = s->collections;
  row->collecting = s->collecting;
  row->collection_max = s->collection_max;
  row->collection_at = s->collection_at;
  row->launch_calls = s->launch_calls;
  row->unrecorded = s->unrecorded;
  return true;
}

void report_host_free(struct reporter *p) {
  mem_free(p->mem, p->host_class);
  mem_free(p->mem, p->traits);
  mem_free(p->mem, p->launches);
}
