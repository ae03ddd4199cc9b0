/* report_host.c - measures host activity: compilation, operators, runtime calls, garbage collections, and what the host did at
 * each instant (host_time.h). */
#include "report.h"

#include <string.h>

enum { MOST_DEPTH = 256 };

struct host {
  struct reporter *p;
  struct report_host_sums *sums;
  const struct steps_run *steps; /* of the rank's host */
  struct report_compiles compiles;
  struct intervals compilations; /* parts within the range of the report */
  struct waits {
    uint64_t calls, in_steps;
    tk_time time_in_steps;
    bool settled; /* true if the last call that launched work also waited for it */
  } waits; /* calls of the current thread that wait for the device */
  bool leads;                     /* true if an earlier thread leads: contains the steps or launched work */
};

/* The open compilation of a thread. */
struct compiling {
  int64_t depth;            /* depth of its outermost span; -1 = none */
  tk_id around[MOST_DEPTH]; /* by depth: the thread's last event; events at lower depths than the current event may contain it */
};

/* The open outermost operator of a thread. `launched`: true if it has launched work. */
struct outermost {
  const struct tk_event *op;
  bool launched;
};

static void end_op(struct host *h, struct outermost *o) {
  if (o->op && !o->launched) {
    h->sums->host_only_ops++;
    h->sums->host_only += o->op->flags & TK_FLAG_UNFINISHED ? 0 : o->op->dur;
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

static struct interval part_of(const struct host *h, const struct tk_event *e) {
  return measure_part(&h->p->scope.window, e->ts, e->ts + e->dur);
}

/* Returns the innermost function of JAX around a span; 0 = none. */
static tk_id find_function(const struct host *h, const struct compiling *c, const struct tk_event *span) {
  const struct tk_trace *t = h->p->t;
  for (uint32_t depth = span->depth < MOST_DEPTH ? span->depth : MOST_DEPTH; depth-- > 0;) {
    const struct tk_event *around = &t->events[c->around[depth]];
    const bool contains = c->around[depth] && around->ts + around->dur >= span->ts + span->dur;
    if (contains && report_is_function(tk_string(t, t->classes[around->cls].name, NULL))) return c->around[depth];
  }
  return 0;
}

static bool see_compilation(struct host *h, tk_id event, struct compiling *c) {
  struct report_compiles *to = &h->compiles;
  const struct tk_event *e = &h->p->t->events[event];
  if (e->depth < MOST_DEPTH) c->around[e->depth] = event;
  if (c->depth >= 0 && e->depth > c->depth) return true;
  c->depth = -1;
  if (report_named_class(h->p, e->cls) != HOST_COMPILE || e->flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK)) return true;
  if (!mem_grow(h->p->mem, (void **)&to->v, &to->cap, (uint64_t)to->n + 1, sizeof *to->v)) return false;
  c->depth = e->depth;
  to->v[to->n++] = (struct report_compile){part_of(h, e), event, find_function(h, c, e)};
  return measure_add(&h->compilations, part_of(h, e), h->p->mem);
}

/* ---- classes ---- */

/* Counts a call that waits for the device. If a copy already waited, the synchronization after it is part of the same wait, as in
 * .item(), and is not counted. */
static void count_wait(struct host *h, tk_id event) {
  const struct tk_event *e = &h->p->t->events[event];
  const bool is_new = !h->waits.settled || h->p->launches[event], in_step = steps_runs_at(h->steps, e->ts) != NULL;
  h->waits.calls += is_new;
  h->waits.in_steps += is_new && in_step;
  h->waits.time_in_steps += in_step ? part_of(h, e).dur : 0;
}

/* Records the end of the first call that waits for all work of a device. */
static void see_settled(struct host *h, const struct tk_event *e) {
  const char *name = tk_string(h->p->t, h->p->t->classes[e->cls].name, NULL);
  const bool waits = strstr(name, "DeviceSynchronize") || strstr(name, "CtxSynchronize");
  if (waits && e->ts + e->dur < h->sums->settled) h->sums->settled = e->ts + e->dur;
}

/* Adds the span to the host's time. Counts blocking calls and garbage collections, except those inside another blocking call or
 * collection. */
static bool see_class(struct host *h, tk_id event, unsigned kind) {
  const struct tk_event *e = &h->p->t->events[event];
  const enum host_class class = report_class_of(h->p, event, kind);
  enum host_class around;
  if (e->flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK)) return true;
  if (!host_time_add(&h->sums->time, e, class, &around)) return false;
  if (class == HOST_GC && around < HOST_GC && !report_collections_add(h->p, h->sums, part_of(h, e))) return false;
  if (class == HOST_SYNC && around < HOST_SYNC) count_wait(h, event);
  if (class == HOST_SYNC) see_settled(h, e);
  if (h->p->launches[event]) h->waits.settled = h->p->launches[event] & REPORT_AWAITED;
  return true;
}

/* Completes a thread. If it leads (contains the steps or launched work), its blocking calls are counted. Blocking calls of other
 * threads are counted only if no thread leads. */
static bool end_track(struct host *h, bool leads) {
  struct report_host_sums *s = h->sums;
  if (leads && !h->leads) s->syncs = s->syncs_in_steps = s->sync_in_steps = 0;
  h->leads = h->leads || leads;
  if (leads == h->leads) {
    s->syncs += h->waits.calls;
    s->syncs_in_steps += h->waits.in_steps;
    s->sync_in_steps += h->waits.time_in_steps;
  }
  h->waits = (struct waits){0};
  return host_time_end(&s->time, leads);
}

static bool see_track(struct host *h, tk_id track) {
  const struct tk_trace *t = h->p->t;
  const struct tk_track *k = &t->tracks[track];
  struct outermost o = {NULL, false};
  struct compiling compiling = {.depth = -1};
  const bool repeats = h->p->match.kinds.of_track[track] & KIND_REPEAT;
  bool leads = h->steps->n && h->steps->v->track == track;
  if (!host_time_begin(&h->sums->time)) return false;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (!scope_holds(&h->p->scope, e)) continue;
    h->sums->events++;
    const unsigned kind = e->kind == TK_EVENT_SPAN ? kinds_of(&h->p->match.kinds, e) : KIND_DEVICE;
    if (kind & KIND_DEVICE || repeats || k->kind != TK_TRACK_THREAD) continue;
    h->sums->runtime_calls += (kind & KIND_RUNTIME) != 0;
    leads = leads || h->p->launches[i];
    see_op(h, i, kind, &o);
    if (kind & KIND_COLLECTIVE && !report_cpu_collective(h->p, i)) return false;
    if (!see_compilation(h, i, &compiling) || !see_class(h, i, kind)) return false;
  }
  end_op(h, &o);
  h->p->leads[track] = leads;
  return end_track(h, leads) && (repeats || report_spans_add(h->p, track));
}

/* True if the call that launched a copy also waited for it. This is so for pageable memory, if at least half of the copy was done when
 * the call returned. A copy to pageable memory is complete when the call returns. For a copy from pageable memory, CUDA uses a buffer,
 * and returns when the last part is in the buffer: for a copy of 3 ms, this is 30 to 60 us before its end. */
static bool is_awaited(struct reporter *p, const struct work *w) {
  const struct tk_event *call = &p->t->events[w->launch], *copy = &p->t->events[w->event];
  return w->class == WORK_COPY && call->ts + call->dur >= copy->ts + copy->dur / 2 && report_is_pageable(p, w->event);
}

static bool report_prepare(struct reporter *p) {
  const struct tk_trace *t = p->t;
  const struct works *w = &p->works;
  if (p->launches) return true;
  p->host_class = mem_alloc(p->mem, (size_t)t->n_classes + 1);
  p->launches = mem_alloc(p->mem, (size_t)t->n_events + 1);
  p->leads = mem_alloc(p->mem, (size_t)t->n_tracks + 1);
  p->traits = mem_alloc(p->mem, (size_t)t->n_classes + 1);
  if (!p->host_class || !p->launches || !p->leads || !p->traits) return false;
  p->copy_details = report_key_of(t, "memcpy_details");
  memset(p->traits, 0, (size_t)t->n_classes + 1);
  memset(p->leads, 0, (size_t)t->n_tracks + 1);
  memset(p->host_class, HOST_CLASSES, (size_t)t->n_classes + 1);
  memset(p->launches, 0, (size_t)t->n_events + 1);
  for (tk_id i = 1; w->launch_of && i <= t->n_events; i++)
    if (w->launch_of[i]) p->launches[w->launch_of[i]] = REPORT_LAUNCHED;
  for (uint32_t i = 0; i < w->n; i++)
    if (w->v[i].launch && is_awaited(p, &w->v[i])) p->launches[w->v[i].launch] |= REPORT_AWAITED;
  return true;
}

static bool sum_up(struct reporter *p, const struct tk_report_rank *row, uint32_t group) {
  const struct report_index *x = &p->index;
  const struct steps_run *steps = &x->steps[group];
  struct host h = {.p = p, .sums = &x->hosts[group], .steps = steps, .compiles = {.steps = *steps}};
  bool ok = report_prepare(p);
  h.sums->time.mem = p->mem;
  report_spans_begin(p, h.sums, steps);
  for (uint32_t i = x->tracks_at[group]; ok && i < x->tracks_at[group + 1]; i++) ok = see_track(&h, x->tracks[i]);
  for (uint32_t i = 0; i < steps->n; i++) h.sums->host_steps += report_holds_step(p, &steps->v[i]);
  p->impl->host_steps += h.sums->host_steps;
  ok = ok && host_time_merge(&h.sums->time);
  ok = ok && report_compilations_add(p, row, &h.compiles, h.sums);
  mem_free(p->mem, h.compiles.v);
  h.sums->compile = measure_join(&h.compilations, p->mem, &ok);
  report_collections_end(h.sums);
  return h.sums->made = ok && report_profiler(p, h.sums, group);
}

bool report_host(struct reporter *p, struct tk_report_rank *row, uint32_t group) {
  const struct report_host_sums *s = &p->index.hosts[group];
  if (!s->made && !sum_up(p, row, group)) return false;
  row->events = s->events;
  row->runtime_calls = s->runtime_calls;
  row->host_ops = s->host_ops;
  row->host_only_ops = s->host_only_ops;
  row->host_only = s->host_only;
  row->compilations = s->compilations;
  row->compile = s->compile;
  row->syncs = s->syncs;
  row->syncs_in_steps = s->syncs_in_steps;
  row->sync_in_steps = s->sync_in_steps;
  row->host_steps = s->host_steps;
  row->collections = s->collections;
  row->collecting = s->collecting;
  row->collection_max = s->collection_max;
  row->collection_at = s->collection_at;
  row->profiler = s->profiler;
  row->profiler_max = s->profiler_max;
  row->profiler_at = s->profiler_at;
  row->compiled_frames = s->compiled_frames;
  row->recompilations = s->recompilations;
  row->module_recompilations = s->module_recompilations;
  row->recompiled_module = s->recompiled_module ? s->recompiled_module : "";
  row->launch_calls = s->launch_calls;
  row->unrecorded = s->unrecorded;
  row->trailing = s->trailing;
  row->unrecorded_at = s->unrecorded ? s->lost - p->zero : 0;
  row->long_ops = s->long_ops;
  return true;
}

void report_host_free(struct reporter *p) {
  mem_free(p->mem, p->host_class);
  mem_free(p->mem, p->traits);
  mem_free(p->mem, p->names);
  mem_free(p->mem, p->launches);
  mem_free(p->mem, p->leads);
}
