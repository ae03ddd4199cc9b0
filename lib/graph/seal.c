/* seal.c - establishes the invariants after reading.
 *
 *     file order, B and E apart   --scatter-->   by track   --sort-->   by (ts, rank, longest)   --sweep-->   preorder + depth
 *
 * Ties at one time follow trace_processor: E first, then X with the longest first, then the rest (X of no time, too) in file order;
 * in a trace without any X, file order alone.  Unlike there, an E stays behind a B of its own time, so B E B E at one time stays what
 * it was.
 *
 * A span that ends at a time has ended: what starts there is its sibling, unless both begin there (X of no time nest in file
 * order).  A span that sticks out (by more than 1 ns, which is rounding) of the one it starts in is kept as its child without
 * children of its own, flagged: the depths of all others are then those that trace_processor gives.
 *
 * Measured on 6 M Kineto events: counting sort 4 ns an event once the memory is touched; tracks are runs, so sorting is mostly one
 * comparison an event. */
#include "seal.h"

#include <stdlib.h>
#include <string.h>

struct sealer {
  struct tk_trace *t;
  bool has_x;          /* some span came complete */
  bool has_ends;       /* some event ends a begin event */
  bool has_async;      /* ... of a pair that its identity makes, wherever its two stand */
  bool has_lost;       /* some event has no clock */
  bool grouped;        /* the events came by track */
  tk_time start, end;  /* of the trace */
  uint32_t *order;     /* [1..n]: old event ids in new order; NULL when nobody asks */
  uint32_t *by_time, *spare, *runs; /* scratch for the largest track yet that came unsorted */
  uint32_t n_scratch;
  uint32_t n_unmatched, n_overlaps;
};

/* ---- by track ---- */

/* Stable counting sort by track into a new array, unless the events came in this order.  What has been moved is given back while
 * the rest moves, so that there is memory for one array, not for two. */
static bool scatter(struct sealer *s) {
  enum { STRETCH = 1 << 16 };
  struct tk_trace *t = s->t;
  struct mem *m = &t->store->mem;
  uint32_t cap = 0, at = 1;
  struct tk_event *to = NULL, *from = t->events;
  for (tk_id k = 1; k <= t->n_tracks; k++) {
    t->tracks[k].first = at;
    at += t->tracks[k].count;
  }
  if (s->grouped) {
    for (tk_id i = 1; s->order && i <= t->n_events; i++) s->order[i] = i;
    return true;
  }
  if (!mem_grow(m, (void **)&to, &cap, (uint64_t)t->n_events + 1, sizeof *to)) return false;
  to[0] = (struct tk_event){0};
  for (tk_id k = 1; k <= t->n_tracks; k++) t->tracks[k].count = 0;
  for (tk_id i = 1; i <= t->n_events; i++) {
    struct tk_track *k = &t->tracks[from[i].track];
    if (i % STRETCH == 0) mem_forget(from + (i - STRETCH), STRETCH * sizeof *from);
    if (from[i].kind == KIND_DEAD) continue;
    at = k->first + k->count++;
    to[at] = from[i];
    if (s->order) s->order[at] = i;
  }
  mem_free(m, from);
  t->events = to;
  t->store->cap_events = cap;
  return true;
}

static void *scratch(struct sealer *s, uint64_t n, size_t elem) { return mem_array(&s->t->store->mem, (uint64_t)n + 1, elem); }
static void release_track(struct sealer *s) {
  mem_free(&s->t->store->mem, s->by_time);
  mem_free(&s->t->store->mem, s->spare);
  mem_free(&s->t->store->mem, s->runs);
}

/* Scratch for a track of n events that came unsorted: few do. */
static bool room_for_track(struct sealer *s, uint32_t n) {
  if (n <= s->n_scratch && s->by_time) return true;
  release_track(s);
  s->n_scratch = n;
  s->by_time = scratch(s, n, sizeof *s->by_time);
  s->spare = scratch(s, n, sizeof *s->spare);
  s->runs = scratch(s, n, sizeof *s->runs);
  return s->by_time && s->spare && s->runs;
}

static uint32_t rank_of(const struct sealer *s, const struct tk_event *e) {
  if (!seal_is_timed(e)) return 0;
  if (!s->has_x) return 3;
  if (e->kind == TK_END) return e->depth ? 3 : 1; /* marked: its begin is of the same time and comes first */
  return e->kind == TK_SPAN && e->dur && !(e->flags & TK_PAIRED) ? 2 : 3;
}

/* At equal places the one that was first in the file comes first: whoever sorts is stable. */
static inline bool after(const struct sealer *s, const struct tk_event *a, const struct tk_event *b) {
  if (a->ts != b->ts) return a->ts > b->ts;
  uint32_t rank = rank_of(s, a), other = rank_of(s, b);
  return rank != other ? rank > other : rank == 2 && a->dur < b->dur;
}

/* Runs [a, b) and [b, end) of positions in e. */
static void merge_runs(const struct sealer *s, const struct tk_event *e, uint32_t *to, const uint32_t *const run[3]) {
  const uint32_t *a = run[0], *b = run[1], *mid = b, *end = run[2];
  while (a < mid && b < end) *to++ = after(s, &e[*a], &e[*b]) ? *b++ : *a++;
  memcpy(to, a, (size_t)(mid - a) * sizeof *a);
  memcpy(to + (mid - a), b, (size_t)(end - b) * sizeof *b);
}

/* The n positions in s->by_time, which lead into e, in time order.  Stable natural merge sort: producers write runs per thread, so
 * there are few. */
static uint32_t *sort_by_time(struct sealer *s, const struct tk_event *e, uint32_t n) {
  uint32_t *from = s->by_time, *to = s->spare, *swap, n_runs = 0, i;
  for (i = 0; i < n; i++)
    if (i == 0 || after(s, &e[from[i - 1]], &e[from[i]])) s->runs[n_runs++] = i;
  s->runs[n_runs] = n;
  while (n_runs > 1) {
    uint32_t kept = 0;
    for (i = 0; i + 1 < n_runs; i += 2) {
      uint32_t a = s->runs[i];
      merge_runs(s, e, to + a, (const uint32_t *const[]){from + a, from + s->runs[i + 1], from + s->runs[i + 2]});
      s->runs[kept++] = a;
    }
    if (i < n_runs) {
      memcpy(to + s->runs[i], from + s->runs[i], (size_t)(n - s->runs[i]) * sizeof *to);
      s->runs[kept++] = s->runs[i];
    }
    s->runs[kept] = n;
    n_runs = kept;
    swap = from, from = to, to = swap;
  }
  return from;
}

static bool sorted_already(const struct sealer *s, const struct tk_event *e, uint32_t n) {
  for (uint32_t i = 1; i < n; i++)
    if (after(s, &e[i - 1], &e[i])) return false;
  return true;
}

/* e[i] becomes what e[from[i]] was, cycle by cycle, and `order` (where there is one) likewise: a second array of events would be
 * the peak of reading. */
static void permute(struct tk_event *e, uint32_t *order, uint32_t *from, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    struct tk_event first = e[i];
    uint32_t to = i, was = order ? order[i] : 0;
    while (from[to] != i) {
      uint32_t next = from[to];
      e[to] = e[next];
      if (order) order[to] = order[next];
      from[to] = to;
      to = next;
    }
    e[to] = first;
    if (order) order[to] = was;
    from[to] = to;
  }
}

/* Ends whose begin is of the same time: they must not be sorted before it.  Pairs are those of the stack in file order. */
static bool mark_brief_ends(struct sealer *s, const struct tk_track *k, uint32_t *stack) {
  struct tk_event *e = s->t->events + k->first;
  uint32_t n = 0, open = 0;
  if (!room_for_track(s, k->count)) return false;
  for (uint32_t i = 0; i < k->count; i++)
    if (e[i].kind == TK_BEGIN || e[i].kind == TK_END) s->by_time[n++] = i;
  s->has_x = false;
  const uint32_t *sorted = sort_by_time(s, e, n);
  s->has_x = true;
  for (uint32_t i = 0; i < n; i++) {
    struct tk_event *end = &e[sorted[i]];
    if (end->kind == TK_BEGIN) stack[open++] = sorted[i];
    else if (open) end->depth = e[stack[--open]].ts == end->ts;
  }
  return true;
}

static bool has_ends(const struct sealer *s, const struct tk_track *k) {
  for (uint32_t i = 0; s->has_ends && i < k->count; i++)
    if (s->t->events[k->first + i].kind == TK_END) return true;
  return false;
}

static bool sort_track(struct sealer *s, const struct tk_track *k) {
  struct tk_event *e = s->t->events + k->first;
  if (sorted_already(s, e, k->count)) return true;
  if (!room_for_track(s, k->count)) return false;
  for (uint32_t i = 0; i < k->count; i++) s->by_time[i] = i;
  uint32_t *from = sort_by_time(s, e, k->count);
  if (k->kind == TK_THREAD && s->has_x && !seal_keep_ties(s->t, k, from)) return false;
  permute(e, s->order ? s->order + k->first : NULL, from, k->count);
  return true;
}

/* Events without a clock stand at the start of their track. */
static void place_lost(struct sealer *s) {
  struct tk_trace *t = s->t;
  if (!s->has_lost) return;
  for (tk_id k = 1; k <= t->n_tracks; k++) {
    struct tk_event *e = t->events + t->tracks[k].first;
    tk_time start = INT64_MAX;
    bool lost = false;
    for (uint32_t i = 0; i < t->tracks[k].count; i++) {
      if (!seal_is_timed(&e[i])) lost = true;
      else if (e[i].ts < start) start = e[i].ts;
    }
    if (start == INT64_MAX) start = s->start == INT64_MAX ? 0 : s->start;
    for (uint32_t i = 0; lost && i < t->tracks[k].count; i++)
      if (!seal_is_timed(&e[i])) e[i].ts = start;
  }
}

/* ---- preorder and depth of one track ---- */

/* The spans that are open at a point of the sweep: positions in the track. */
struct sweep {
  struct tk_event *e;
  uint32_t *stack;
  uint32_t n;
};

static tk_time end_of(const struct tk_event *e) { return e->ts + e->dur; }

static void pop_ended(struct sweep *w, tk_time ts) {
  while (w->n) {
    const struct tk_event *top = &w->e[w->stack[w->n - 1]];
    if (top->kind == TK_BEGIN || end_of(top) > ts || top->ts == ts) return;
    w->n--;
  }
}

/* Rounded ends may stick out by this much: that is nesting still. */
static const tk_time ROUNDING = 1000;

static void overlaps(struct sealer *s, struct tk_event *e) {
  s->n_overlaps += !(e->flags & TK_OVERLAPS);
  e->flags |= TK_OVERLAPS;
}

/* E closes the innermost open B, whatever its name (as catapult does); an X still open above it sticks out. */
static void close_begin(struct sealer *s, struct sweep *w, struct tk_event *end) {
  uint32_t at;
  end->kind = KIND_DEAD;
  pop_ended(w, end->ts);
  at = w->n;
  while (at > 0 && w->e[w->stack[at - 1]].kind != TK_BEGIN) at--;
  if (at == 0) {
    s->n_unmatched++;
    return;
  }
  for (uint32_t i = at; i < w->n; i++)
    if (end_of(&w->e[w->stack[i]]) > end->ts) overlaps(s, &w->e[w->stack[i]]);
  struct tk_event *begin = &w->e[w->stack[at - 1]];
  const struct tk_class *b = &s->t->classes[begin->cls], *e = &s->t->classes[end->cls];
  if (e->name && e->name != b->name)
    trace_note(s->t, TK_NOTE_REPAIR, UINT64_MAX, "end event with another name than the begin event it closes");
  seal_close(s->t, begin, end);
  w->n = at - 1;
  if (w->n && w->e[w->stack[w->n - 1]].kind == TK_SPAN && end_of(begin) - end_of(&w->e[w->stack[w->n - 1]]) > ROUNDING)
    overlaps(s, begin);
}

static void place_span(struct sealer *s, struct sweep *w, uint32_t at) {
  struct tk_event *e = &w->e[at];
  const struct tk_event *top = w->n ? &w->e[w->stack[w->n - 1]] : NULL;
  e->depth = (uint16_t)(w->n < UINT16_MAX ? w->n : UINT16_MAX);
  if (e->flags & TK_LOST_CLOCK) {
    e->depth = 0;
    if (e->kind == TK_BEGIN) w->stack[w->n++] = at; /* its end, as lost as it is, comes next */
    return;
  }
  e->flags &= (uint8_t)~TK_OVERLAPS;
  if (top && top->kind == TK_SPAN && e->kind == TK_SPAN && end_of(e) - end_of(top) > ROUNDING) overlaps(s, e);
  else w->stack[w->n++] = at;
}

/* A begin does not open inside of an X of no time: nothing can be inside of that. */
static void pop_momentary(struct sweep *w) {
  while (w->n && w->e[w->stack[w->n - 1]].kind == TK_SPAN && w->e[w->stack[w->n - 1]].dur == 0) w->n--;
}

/* Begins that are still open never end. */
static void leave_open(struct sealer *s, struct sweep *w) {
  for (uint32_t i = 0; i < w->n; i++) {
    struct tk_event *e = &w->e[w->stack[i]];
    if (e->kind != TK_BEGIN) continue;
    e->kind = TK_SPAN;
    e->flags |= TK_PAIRED | TK_UNFINISHED;
    e->dur = seal_is_timed(e) ? seal_dur(e->ts, s->end) : 0;
    trace_note(s->t, TK_NOTE_FACT, UINT64_MAX, SEAL_UNFINISHED);
  }
  w->n = 0;
}

/* What has lost its clock comes first, and nothing that has one is in it. */
static void sweep_thread(struct sealer *s, const struct tk_track *k, uint32_t *stack) {
  struct sweep w = {s->t->events + k->first, stack, 0};
  bool lost = true;
  for (uint32_t i = 0; i < k->count; i++) {
    struct tk_event *e = &w.e[i];
    if (lost && seal_is_timed(e)) leave_open(s, &w), lost = false;
    if (e->kind == TK_END) {
      close_begin(s, &w, e);
      continue;
    }
    if (seal_is_timed(e)) pop_ended(&w, e->ts);
    if (seal_is_timed(e) && (e->kind == TK_BEGIN || e->flags & TK_PAIRED)) pop_momentary(&w);
    if (e->kind == TK_INSTANT) e->depth = (uint16_t)(seal_is_timed(e) && w.n < UINT16_MAX ? w.n : 0);
    else if (e->kind != TK_COUNTER) place_span(s, &w, i);
  }
  leave_open(s, &w);
}

/* Async events, process instants and counters have no stack: depth 0. */
static void flatten(struct tk_trace *t, const struct tk_track *k) {
  for (uint32_t i = 0; i < k->count; i++) {
    t->events[k->first + i].depth = 0;
    t->events[k->first + i].flags &= (uint8_t)~TK_OVERLAPS;
  }
}

/* ---- all tracks ---- */

static bool seal_thread(struct sealer *s, const struct tk_track *k, uint32_t *stack) {
  if (s->has_x && has_ends(s, k) && !mark_brief_ends(s, k, stack)) return false;
  if (!sort_track(s, k)) return false;
  sweep_thread(s, k, stack);
  return true;
}

static bool each_track(struct sealer *s) {
  struct tk_trace *t = s->t;
  uint32_t most = 0;
  for (tk_id k = 1; k <= t->n_tracks; k++)
    if (t->tracks[k].count > most) most = t->tracks[k].count;
  uint32_t *stack = scratch(s, most, sizeof *stack);
  bool ok = stack != NULL;
  for (tk_id k = 1; ok && k <= t->n_tracks; k++) {
    if (t->tracks[k].kind == TK_THREAD) ok = seal_thread(s, &t->tracks[k], stack);
    else if ((ok = sort_track(s, &t->tracks[k]))) flatten(t, &t->tracks[k]);
  }
  mem_free(&s->t->store->mem, stack);
  release_track(s);
  return ok;
}

/* Closes the gaps that matched ends left: none of them is in a tie. */
static void compact(struct sealer *s) {
  struct tk_trace *t = s->t;
  struct tk_store *store = t->store;
  uint32_t tie = 0;
  tk_id to = 1;
  for (tk_id k = 1; k <= t->n_tracks; k++) {
    struct tk_track *track = &t->tracks[k];
    tk_id first = to;
    for (uint32_t i = 0; i < track->count; i++) {
      tk_id from = track->first + i;
      if (t->events[from].kind == KIND_DEAD) continue;
      if (tie < store->n_ties && store->ties[tie].first == from) store->ties[tie++].first = to;
      if (s->order) s->order[to] = s->order[from];
      if (to != from) t->events[to] = t->events[from];
      to++;
    }
    track->first = first;
    track->count = to - first;
  }
  t->n_events = to - 1;
}

/* Flow points that are fields of an event follow it to its new id. */
static bool renumber_points(struct sealer *s, tk_id n_old) {
  struct tk_trace *t = s->t;
  uint32_t *now = scratch(s, n_old, sizeof *now);
  if (!now) return false;
  memset(now, 0, ((size_t)n_old + 1) * sizeof *now);
  for (tk_id i = 1; i <= t->n_events; i++) now[s->order[i]] = i;
  for (tk_id i = 1; i <= t->n_flow_points; i++)
    if (t->flow_points[i].bound) t->flow_points[i].at = now[t->flow_points[i].at];
  mem_free(&s->t->store->mem, now);
  return true;
}

static void survey(struct sealer *s) {
  struct tk_trace *t = s->t;
  s->grouped = true;
  for (tk_id k = 1; k <= t->n_tracks; k++) t->tracks[k].count = 0;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind == KIND_DEAD || e->track < e[-1].track) s->grouped = false;
    if (e->kind == KIND_DEAD) continue;
    t->tracks[e->track].count++;
    if (e->kind == TK_SPAN && !(e->flags & TK_PAIRED)) s->has_x = true;
    if (e->kind == TK_END) s->has_ends = true;
    if (e->flags & TK_ASYNC && (e->kind == TK_BEGIN || e->kind == TK_END)) s->has_async = true;
    if (!seal_is_timed(e)) {
      s->has_lost = true;
      continue;
    }
    if (e->ts < s->start) s->start = e->ts;
    if (end_of(e) > s->end) s->end = end_of(e);
  }
}

static bool seal_tracks(struct sealer *s) {
  struct tk_trace *t = s->t;
  tk_id n_old = t->n_events;
  bool ok;
  survey(s);
  if (s->has_async) s->grouped = false; /* ends that are matched go */
  for (tk_id i = 1; i <= t->n_flow_points && !s->order; i++)
    if (t->flow_points[i].bound) s->order = scratch(s, n_old, sizeof *s->order);
  ok = (!s->has_async || seal_async(t, s->end)) && scatter(s);
  if (ok) place_lost(s);
  ok = ok && each_track(s);
  if (ok && s->has_ends) compact(s);
  else if (ok) t->n_events = t->tracks[t->n_tracks].first + t->tracks[t->n_tracks].count - (t->n_tracks != 0);
  ok = ok && (!s->order || renumber_points(s, n_old));
  mem_free(&s->t->store->mem, s->order);
  return ok && seal_flows(t);
}

static void note_counted(struct tk_trace *t, enum tk_note_kind kind, const char *text, uint32_t n) {
  if (n == 0) return;
  trace_note(t, kind, UINT64_MAX, text);
  t->notes[t->n_notes].count = n;
}

bool seal(struct tk_trace *t, struct tk_err *err) {
  struct sealer s = {.t = t, .start = INT64_MAX, .end = INT64_MIN};
  bool ok;
  if (!mem_check(&t->store->mem, err)) return false;
  ok = seal_tracks(&s);
  note_counted(t, TK_NOTE_REPAIR, "end events without a begin event: dropped", s.n_unmatched);
  note_counted(t, TK_NOTE_FACT, "spans that overlap: they end after the span that they begin in", s.n_overlaps);
  t->counts.dropped += s.n_unmatched;
  if (!ok) t->store->mem.failed = true;
  if (!mem_check(&t->store->mem, err)) return false;
  t->sealed = true;
  return true;
}
