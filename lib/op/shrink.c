/* shrink.c - makes a trace smaller in steps (the "rungs" of a ladder), removing the least important data first, and counts every
 * removed event.
 *
 *     drop       events that the user does not want
 *     args       key by key, those with the most bytes first; args that link events are never removed
 *     python     Python frames, the deepest first
 *     samples    stack samples, evenly spread, as if the sampling rate were lower
 *     coalesce   neighbours with the same name and parent that follow closely become one span, which lasts as long as they do
 *                together, with args `count` and `total` (`tracekit.count` and `tracekit.total`, if the trace has its own args
 *                of those names)
 *     spans      spans and instants, the shortest first; unless the user lists the steps, also samples of counters, evenly spread,
 *                so that a trace with many counters does not lose all spans
 *     counters   samples of counters, evenly spread
 *     hard       kernels, collectives, steps and annotations, only if requested
 *
 * Removed events are counted by process, kind and name, so the kept events and these counts add up to the original trace. A coalesced
 * span records the number and total duration of the spans that were merged into it. */
#include "shrink.h"

#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "shrink_account.h"
#include "strip.h"
#include "graph/args.h"

/* SAFE: removed only by RUNG_HARD. WANTED: never removed. UNWANTED: removed first. STRIPPED: args of the event were removed. */
enum shrink_mark { SAFE = 1, WANTED = 2, UNWANTED = 4, STRIPPED = 8 };

/* ---- preparing ---- */

static void *array_of(struct mem *m, uint64_t n, size_t elem) { return mem_zeros(m, n + 1, elem); }

/* Returns the size of an event, which is compared with thresholds: its duration and, in the lower bits, a hash of its id. The hash
 * breaks ties, so that a threshold can remove any share of events with equal durations. */
static uint64_t size_of(const struct tk_event *e, tk_id id) {
  uint64_t dur = (uint64_t)e->dur < ((uint64_t)1 << 50) ? (uint64_t)e->dur : ((uint64_t)1 << 50) - 1;
  return dur << 13 | (id * 2654435761u >> 19);
}

static int by_size(const void *a, const void *b) {
  const uint64_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

enum { SAMPLE = 1 << 16 };

static bool sample_sizes(struct shrink *s) {
  struct ladder *l = &s->ladder;
  tk_id n = s->t->n_events, stride = n / SAMPLE + 1;
  l->order = array_of(s->mem, n / stride + 1, sizeof *l->order);
  if (!l->order) return false;
  for (tk_id i = 1; i <= n; i += stride) l->order[l->n_order++] = size_of(&s->t->events[i], i);
  qsort(l->order, l->n_order, sizeof *l->order, by_size);
  return true;
}

static uint64_t threshold(const struct ladder *l, double level) {
  if (level >= 1 || l->n_order == 0) return UINT64_MAX;
  double at = level * l->n_order;
  uint32_t i = (uint32_t)at;
  uint64_t low = l->order[i], high = i + 1 < l->n_order ? l->order[i + 1] : low;
  return low + (uint64_t)((double)(high - low) * (at - i));
}

static bool mark_matches(struct shrink *s, enum shrink_mark as, const char *where, const struct track_origin *origins,
                         struct tk_err *err) {
  const char *const list[] = {where, NULL};
  struct match m;
  if (!where) return true;
  bool ok = match_init(&m, s->t, list, origins, s->mem, err);
  for (tk_id i = 1; ok && i <= s->t->n_events; i++) {
    s->marks[i] |= match_event(&m, i) ? as : 0;
    if (i % (1 << 14) == 0) ok = match_check(&m, err);
  }
  ok = ok && match_check(&m, err);
  match_free(&m);
  return ok;
}

/* Marks events of the kinds that users most often look for in a trace as SAFE. */
static void mark_safe(struct shrink *s) {
  static const unsigned PRECIOUS = KIND_KERNEL | KIND_MEMCPY | KIND_MEMSET | KIND_COLLECTIVE | KIND_STEP | KIND_ANNOTATION;
  for (tk_id i = 1; i <= s->t->n_events; i++) s->marks[i] = kinds_of(&s->kinds, &s->t->events[i]) & PRECIOUS ? SAFE : 0;
}

static bool any_shape_has(const struct tk_trace *t, tk_id a, tk_id b) {
  for (uint32_t i = 1; i <= t->store->n_shapes; i++) {
    const struct tk_arg_shape *shape = t->store->shapes[i];
    unsigned met = 0;
    for (uint32_t k = 0; k < shape->n; k++) met |= (shape->fields[k].key == a ? 1u : 0) | (shape->fields[k].key == b ? 2u : 0);
    if (met == 3) return true;
  }
  return false;
}

/* True if the trace was shrunk before and spans were merged then, according to its metadata. */
static bool has_merged(const struct tk_trace *t) {
  static const char COUNT[] = "\"coalesced\":";
  const struct tk_meta *m = trace_meta(t, "tracekit");
  const char *at = m && !m->origin ? strstr(trace_raw(t, m->at), "\"shrink\":") : NULL;
  while (at && (at = strstr(at, COUNT)) && at[sizeof COUNT - 1] == '0') at += sizeof COUNT;
  return at != NULL;
}

/* Chooses the arg keys for coalesced spans: `count` and `total`, or `tracekit.count` and `tracekit.total` if the trace has its own args
 * `count` or `total` (not from an earlier shrink). */
static void name_counts(struct shrink *s) {
  struct tk_trace *t = s->t;
  const bool shrunk = has_merged(t);
  tk_id count = trace_text(t, "count"), total = trace_text(t, "total");
  s->count = trace_text(t, "tracekit.count"), s->total = trace_text(t, "tracekit.total");
  if (any_shape_has(t, s->count, s->total) || (!shrunk && any_shape_has(t, count, total))) return;
  s->count = count, s->total = total;
}

static bool prepare_shrink(struct shrink *s, struct tk_trace *t, const struct tk_shrink_options *opt,
                           const struct track_origin *origins, struct tk_err *err) {
  *s = (struct shrink){.mem = &t->store->mem, .t = t, .n_marks = t->n_events};
  name_counts(s);
  s->marks = array_of(s->mem, t->n_events, 1);
  if (!s->marks || !kinds_init(&s->kinds, t, s->mem)) return false;
  mark_safe(s);
  return mark_matches(s, WANTED, opt->keep, origins, err) && mark_matches(s, UNWANTED, opt->drop, origins, err);
}

static void ladder_free(struct ladder *l, struct mem *mem) {
  mem_free(mem, l->order);
  mem_free(mem, l->steps);
  *l = (struct ladder){0};
}

void shrink_free(struct shrink *s) {
  if (!s->mem) return;
  mem_free(s->mem, s->marks);
  kinds_free(&s->kinds);
  if (!s->depths) ladder_free(&s->ladder, s->mem);
  *s = (struct shrink){0};
}

bool shrink_init(struct shrink *s, struct tk_trace *t, const struct tk_shrink_options *opt, const struct track_origin *origins,
                 struct tk_err *err) {
  return prepare_shrink(s, t, opt, origins, err) && sample_sizes(s) && shrink_ladder_make(s, opt, err);
}

bool shrink_init_sample(struct shrink *s, struct sample *sample, const struct ladder *ladder,
                        const struct tk_shrink_options *opt, const struct track_origin *origins, struct tk_err *err) {
  if (!prepare_shrink(s, &sample->view, opt, origins, err)) return false;
  s->ladder = *ladder;
  s->depths = sample->depths;
  return true;
}

/* ---- thresholds ---- */

/* Data that is removed at a certain place on the ladder. drop, coalesce, spans, hard: size thresholds. */
struct climb {
  uint64_t drop, coalesce, spans, hard;
  double thin[RUNGS];       /* share of the counter samples and of the stack samples to remove, by rung */
  uint32_t python_depth;    /* frames at this depth or deeper are removed */
  uint32_t python_part;     /* frames at this depth are removed if they are smaller than python_size */
  uint64_t python_size;
  uint8_t *goes;            /* by string id: true if args with this key are removed */
  tk_id part_key;           /* args with this key are removed, but only from events smaller than part_size */
  uint64_t part_size;
};

static bool climb_ladder(const struct shrink *s, struct place at, struct climb *c) {
  *c = (struct climb){.python_depth = UINT32_MAX};
  c->goes = array_of(s->mem, s->t->store->strings.n, 1);
  if (!c->goes) return false;
  for (uint32_t i = 0; i < s->ladder.n_steps && i <= at.whole; i++) {
    const struct rung_step *step = &s->ladder.steps[i];
    double l = i < at.whole ? 1 : at.level;
    uint64_t size = threshold(&s->ladder, l);
    if (l <= 0) break;
    switch (step->rung) {
    case RUNG_DROP: c->drop = size; break;
    case RUNG_COALESCE: c->coalesce = size; break;
    case RUNG_SPANS:
      c->spans = size;
      if (l * step->thins > c->thin[RUNG_COUNTERS]) c->thin[RUNG_COUNTERS] = l * step->thins;
      break;
    case RUNG_HARD: c->hard = size; break;
    case RUNG_COUNTERS:
    case RUNG_SAMPLES: c->thin[step->rung] += (1 - c->thin[step->rung]) * l; break;
    case RUNG_PYTHON:
      if (l >= 1) c->python_depth = step->depth;
      else c->python_part = step->depth, c->python_size = size;
      break;
    default:
      if (l >= 1) c->goes[step->key] = 1;
      else c->part_key = step->key, c->part_size = size;
    }
  }
  return true;
}

/* ---- removing ---- */

static uint32_t depth_of(const struct shrink *s, tk_id id) { return s->depths ? s->depths[id] : s->t->events[id].depth; }

/* Returns the rung that removes the event; RUNGS if the event is kept. */
static enum rung goes_at(const struct shrink *s, const struct climb *c, tk_id id) {
  const struct tk_event *e = &s->t->events[id];
  uint64_t size = size_of(e, id);
  if (s->marks[id] & WANTED || e->flags & TK_FLAG_UNFINISHED) return RUNGS; /* the duration of an unfinished span is unknown */
  if (s->marks[id] & UNWANTED && size < c->drop) return RUNG_DROP;
  if (e->kind == TK_EVENT_COUNTER || e->kind == TK_EVENT_SAMPLE) return RUNGS;
  if (s->marks[id] & SAFE) return size < c->hard ? RUNG_HARD : RUNGS;
  if (shrink_is_python(s, e) && depth_of(s, id) >= c->python_depth) return RUNG_PYTHON;
  if (size < c->python_size && shrink_is_python(s, e) && depth_of(s, id) == c->python_part) return RUNG_PYTHON;
  return size < c->spans ? RUNG_SPANS : RUNGS;
}

static void take_events(const struct shrink *s, const struct climb *c, struct subset *k, struct shrunk *out) {
  for (tk_id i = 1; i <= s->t->n_events; i++) {
    enum rung rung = goes_at(s, c, i);
    if (rung == RUNGS) continue;
    k->events[i] = 0;
    shrink_account(s, out, &s->t->events[i], rung);
  }
}

/* Removes the same share of the samples of a kind, evenly spread, from every track. Always keeps the first sample of each track. */
static void thin(const struct shrink *s, const struct climb *c, enum rung rung, struct subset *k, struct shrunk *out) {
  const uint8_t kind = rung == RUNG_SAMPLES ? TK_EVENT_SAMPLE : TK_EVENT_COUNTER;
  const double was = s->thinned[rung], stays = was < 1 ? (1 - c->thin[rung]) / (1 - was) : 1;
  for (tk_id i = 1; stays < 1 && i <= s->t->n_tracks; i++) {
    const struct tk_track *track = &s->t->tracks[i];
    uint32_t n = 0;
    for (tk_id id = track->first; id < track->first + track->count; id++) {
      if (s->t->events[id].kind != kind || n++ == 0) continue;
      if (s->marks[id] & WANTED || !k->events[id] || (uint64_t)((n - 1) * stays) != (uint64_t)((n - 2) * stays)) continue;
      k->events[id] = 0;
      shrink_account(s, out, &s->t->events[id], rung);
    }
  }
}

/* ---- coalescing ---- */

/* State of coalescing, which goes through the tracks one by one. */
struct coalescing {
  const struct shrink *s;
  const struct climb *c;
  struct subset *k;
  struct run *runs;   /* by depth among kept events: the run that is open */
  uint16_t *above;    /* by depth in the whole trace: number of kept ancestors */
  struct buf *merged; /* array of struct merged */
  struct shrunk *out;
};

struct run {
  tk_id first;
  uint64_t count;
  i128 total; /* durations of its spans, added up */
};

/* True if the args `count` and `total` cannot be added to the event, because it already has args with these keys, or because its args
 * are not a JSON object. */
static bool counts_already(const struct shrink *s, const struct tk_event *e) {
  struct tk_args it = tk_args_of(s->t, e->args);
  struct tk_arg arg;
  bool odd = false;
  for (uint32_t i = 0; it.shape && i < it.shape->n; i++) {
    tk_id key = it.shape->fields[i].key;
    if (key == s->count || key == s->total) return true;
    odd |= key == KEY_ARGS;
  }
  while (odd && tk_args_next(&it, &arg))
    if (arg.key == KEY_ARGS && !strip_is_bare(s->t, &arg)) return true;
  return false;
}

/* True for spans that are never merged: calls of a device runtime, because each is linked to different work, and records of profiler
 * overhead, because their exact times matter. */
static bool stays_apart(const struct shrink *s, const struct tk_event *e) {
  const char *cat = tk_string(s->t, s->t->classes[e->cls].cat, NULL);
  return kinds_of(&s->kinds, e) & KIND_RUNTIME || strcmp(cat, "overhead") == 0;
}

static bool is_small(const struct shrink *s, const struct climb *c, tk_id id) {
  static const uint8_t ODD = TK_FLAG_UNFINISHED | TK_FLAG_OVERLAPS | TK_FLAG_LOST_CLOCK | TK_FLAG_ASYNC;
  const struct tk_event *e = &s->t->events[id];
  return e->kind == TK_EVENT_SPAN && !(s->marks[id] & (SAFE | WANTED)) && !(e->flags & ODD) && size_of(e, id) < c->coalesce &&
         !stays_apart(s, e) && !counts_already(s, e);
}

/* The total time between the spans of a run is at most 1/GAPS of the total time in the spans. */
enum { GAPS = 8 };

/* True if the span follows the run's spans so closely that it may join the run. The merged span begins with the first span of the run,
 * and its duration is the sum of all durations. So later spans of the run are shown too early, but by no more than the gaps of the
 * run. */
static bool follows(const struct tk_trace *t, const struct run *r, const struct tk_event *e) {
  const i128 parts = r->total + e->dur, length = (i128)e->ts + e->dur - t->events[r->first].ts;
  return (length - parts) * GAPS <= parts;
}

/* True if no kept event is nested in the event. */
static bool is_leaf(const struct tk_trace *t, const struct subset *k, tk_id id, tk_id end) {
  for (tk_id i = id + 1; i < end && t->events[i].depth > t->events[id].depth; i++)
    if (k->events[i]) return false;
  return true;
}

struct merged {
  tk_id id;
  uint64_t count;
  i128 total;
};

static bool finish_run(struct run *r, struct buf *merged) {
  struct merged m = {r->first, r->count, r->total};
  bool fine = r->count < 2 || buf_append(merged, &m, sizeof m);
  r->count = 0;
  return fine;
}

/* Returns the event's depth among kept events. If the event is kept, counts it as an ancestor of the events inside it. */
static uint32_t depth_left(const struct coalescing *g, tk_id id) {
  const struct tk_event *e = &g->s->t->events[id];
  uint16_t depth = g->above[e->depth];
  if (trace_nests(g->s->t, id) && e->depth < UINT16_MAX) g->above[e->depth + 1] = (uint16_t)(depth + g->k->events[id]);
  return depth;
}

/* Merges neighbouring spans of a track. At most one run is open at each depth. A kept span ends all runs at greater depths, because
 * spans with different parents are not merged. It also ends the run at its own depth, unless it joins that run. */
static bool coalesce_track(const struct coalescing *g, tk_id track) {
  const struct tk_trace *t = g->s->t;
  struct run *runs = g->runs;
  tk_id first = t->tracks[track].first, end = first + t->tracks[track].count;
  uint32_t deepest = 0;
  bool ok = true;
  for (tk_id i = first; ok && i < end; i++) {
    const struct tk_event *e = &t->events[i];
    uint32_t depth = depth_left(g, i);
    if (!g->k->events[i]) continue;
    for (; ok && deepest > depth; deepest--) ok = finish_run(&runs[deepest], g->merged);
    for (; deepest < depth; deepest++) runs[deepest + 1].count = 0;
    struct run *r = &runs[depth];
    bool small = is_small(g->s, g->c, i) && is_leaf(t, g->k, i, end);
    if (small && r->count && t->events[r->first].cls == e->cls && follows(t, r, e)) {
      g->k->events[i] = 0;
      g->out->coalesced++;
      g->out->rungs[RUNG_COALESCE].events++;
      g->out->rungs[RUNG_COALESCE].time += e->dur;
      r->count++;
      r->total += e->dur;
      continue;
    }
    ok = finish_run(r, g->merged);
    if (small) *r = (struct run){i, 1, e->dur};
  }
  for (uint32_t d = 0; ok && d <= deepest; d++) ok = finish_run(&runs[d], g->merged);
  return ok;
}

static bool coalesce(const struct shrink *s, const struct climb *c, struct subset *k, struct buf *merged, struct shrunk *out) {
  struct run *runs = c->coalesce ? array_of(s->mem, UINT16_MAX + 1, sizeof *runs) : NULL;
  uint16_t *above = c->coalesce ? array_of(s->mem, UINT16_MAX + 1, sizeof *above) : NULL;
  struct coalescing g = {s, c, k, runs, above, merged, out};
  bool ok = (runs && above) || !c->coalesce;
  for (tk_id i = 1; c->coalesce && ok && i <= s->t->n_tracks; i++) {
    runs[0].count = 0;
    if (s->t->tracks[i].kind == TK_TRACK_THREAD) ok = coalesce_track(&g, i);
  }
  mem_free(s->mem, runs);
  mem_free(s->mem, above);
  return ok;
}

static int by_id(const void *a, const void *b) {
  const struct merged *x = a, *y = b;
  return x->id < y->id ? -1 : x->id > y->id;
}

/* Sets the duration of a run's first span to the sum over the run. Adds two args to the span: the number of spans in the run, and their
 * total duration in us. */
static void stretch(const struct shrink *s, struct tk_trace *view, struct tk_event *e, const struct merged *m) {
  struct tk_args it = tk_args_of(view, e->args);
  struct tk_arg arg;
  int64_t total = (int64_t)m->total;
  int exp = -6;
  for (; exp < 0 && total % 10 == 0; exp++) total /= 10;
  args_begin(view);
  while (tk_args_next(&it, &arg))
    if (!strip_is_bare(view, &arg)) args_copy(view, &arg);
  args_uint(view, s->count, TK_ARG_UINT, m->count);
  if (exp < 0) args_decimal(view, s->total, total, exp);
  else args_int(view, s->total, total);
  e->args = args_end(view);
  e->dur = (tk_time)m->total;
}

/* Extends the first span of each run. Translates ids of the full trace to ids of the view, which have the same order. */
static void stretch_runs(const struct shrink *s, struct tk_trace *view, const struct subset *k, struct merged *m, size_t n) {
  tk_id now = 0, at = 0;
  if (n) qsort(m, n, sizeof *m, by_id);
  for (size_t i = 0; i < n; i++) {
    for (; at < m[i].id; now += k->events[++at]) {}
    stretch(s, view, &view->events[now], &m[i]);
  }
}

/* ---- args ---- */

static void strip_events(struct shrink *s, const struct climb *c, struct tk_trace *to, struct shrunk *out) {
  uint8_t *marks = to == s->t ? s->marks : NULL;
  for (tk_id i = 1; i <= to->n_events; i++) {
    struct tk_event *e = &to->events[i];
    if (e->kind == TK_EVENT_COUNTER || e->kind == TK_EVENT_SAMPLE) continue;
    bool part = c->part_key && !c->goes[c->part_key] && size_of(e, i) < c->part_size;
    if (part) c->goes[c->part_key] = 1;
    uint32_t args = strip_args(to, e->args, c->goes);
    if (part) c->goes[c->part_key] = 0;
    if (args == e->args) continue;
    e->args = args;
    out->rungs[RUNG_ARG].args += !marks || !(marks[i] & STRIPPED);
    if (marks) marks[i] |= STRIPPED;
  }
}

/* ---- entry points ---- */

/* Moves the marks of kept events to their new ids. */
static void move_marks(struct shrink *s, const struct climb *c, const struct subset *k) {
  tk_id n = 0;
  for (tk_id i = 1; i <= k->n_events; i++)
    if (k->events[i]) s->marks[++n] = s->marks[i];
  for (int r = 0; r < RUNGS; r++)
    if (c->thin[r] > s->thinned[r]) s->thinned[r] = c->thin[r];
}

bool shrink_apply(struct shrink *s, struct place at, struct tk_trace *to, struct shrunk *out, struct tk_err *err) {
  struct climb c;
  struct subset k = {.mem = s->mem};
  struct buf merged = {.mem = s->mem};
  bool ok = climb_ladder(s, at, &c) && subset_init(&k, s->t, s->mem);
  if (ok) take_events(s, &c, &k, out);
  if (ok) thin(s, &c, RUNG_COUNTERS, &k, out);
  if (ok) thin(s, &c, RUNG_SAMPLES, &k, out);
  ok = ok && coalesce(s, &c, &k, &merged, out) && subset_take(s->t, &k, to, &out->kept, err);
  bool has_view = ok && to != s->t;
  if (ok) {
    if (to == s->t) move_marks(s, &c, &k);
    strip_events(s, &c, to, out);
    ok = !(to->edits & TK_EDIT_DROPPED) || frames_prune(to, err);
    stretch_runs(s, to, &k, (struct merged *)(void *)merged.data, merged.len / sizeof(struct merged));
  }
  subset_free(&k);
  buf_free(&merged);
  mem_free(s->mem, c.goes);
  if (ok && mem_check(s->mem, err)) return true;
  if (has_view) subset_free_view(to);
  return mem_refuse(s->mem, err);
}
