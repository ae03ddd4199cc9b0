/* seal.c - turns the events that a reader added into a sealed graph (seal.h).
 *
 *     file order, B and E apart  --piles-->  by track and time  --ties-->  by (ts, rank, longest)  --sweep-->  preorder + depth
 *
 * Ties at one time follow trace_processor: E first, then X with the longest first, then the rest (including X of zero length) in file
 * order; in a trace without any X, file order alone. Unlike in trace_processor, an E stays after a B of the same time, so B E B E at
 * one time keeps its meaning.
 *
 * An event that starts when a span ends is the span's sibling, unless both start at that time (X of zero length nest in file order). A
 * span that ends more than 1 ns (the tolerance for rounding) after the span in which it starts remains the child of that span, but is
 * flagged and has no children itself. All other depths then equal those of trace_processor. */
#include "seal.h"

#include <stddef.h>
#include <string.h>

#include "apart.h"
#include "piles.h"

struct sealer {
  struct tk_trace *t;
  bool has_x;          /* true if some span was a complete event (X) */
  bool has_ends;       /* true if some end event (E) is left to match */
  bool has_async;      /* true if some begin or end event is matched by identity, on any thread */
  bool has_unfinished; /* true if some begin event has no end event */
  bool has_lost;       /* true if some event has no clock */
  bool grouped;        /* true if the events were added track by track */
  tk_time start, end;  /* times of the trace's first and last event */
  tk_time *latest;     /* by track: time of its last begin or end event in file order; INT64_MIN = none */
  uint32_t *order;     /* [1..n]: old event ids in new order; NULL if unused */
  struct piles piles;  /* one group per track */
  struct keyed *keys, *spare; /* scratch space, large enough for the largest unsorted tie so far */
  uint32_t *in_file;
  uint32_t n_scratch;
  uint32_t n_unmatched, n_late, n_overlaps, n_cut, n_frames, n_noise;
};

static void *scratch(struct sealer *s, uint64_t n, size_t elem) { return mem_array(&s->t->store->mem, (uint64_t)n + 1, elem); }

/* ---- by track and time ---- */

static tk_time seal_end_of(const struct tk_event *e) { return e->ts + e->dur; }

/* Begin and end events of a thread are matched in file order. Producers that compute times as doubles write some events a few
 * picoseconds before the preceding event: such an event moves to the time of the preceding one. */
static void settle_noise(struct sealer *s, struct tk_event *e) {
  enum { NOISE = 1000 };
  tk_time *latest = &s->latest[e->track];
  if (e->kind != TK_EVENT_BEGIN && e->kind != TK_EVENT_END) return;
  if (e->flags & TK_FLAG_ASYNC) return;
  if (e->ts < *latest && num_sub(*latest, e->ts) < NOISE) {
    e->ts = *latest;
    s->n_noise++;
  }
  *latest = e->ts;
}

/* Puts all events on piles and collects facts about them. Events without a clock sort before all others of their track;
 * place_lost gives them a time. */
static void survey(struct sealer *s) {
  struct tk_trace *t = s->t;
  s->grouped = true;
  for (tk_id k = 0; k <= t->n_tracks; k++) s->latest[k] = INT64_MIN;
  for (tk_id i = 1; i <= t->n_events; i++) {
    struct tk_event *e = &t->events[i];
    const bool timed = seal_is_timed(e);
    if (timed) settle_noise(s, e);
    if (e->kind == KIND_DEAD || e->track < e[-1].track) s->grouped = false;
    if (e->kind == KIND_DEAD) continue;
    piles_put(&s->piles, i, e->track, timed ? e->ts : INT64_MIN);
    if (e->kind == TK_EVENT_SPAN && !(e->flags & TK_FLAG_PAIRED)) s->has_x = true;
    if (e->kind == TK_EVENT_END) s->has_ends = true;
    if (e->flags & TK_FLAG_ASYNC && (e->kind == TK_EVENT_BEGIN || e->kind == TK_EVENT_END)) s->has_async = true;
    if (!timed) {
      s->has_lost = true;
      continue;
    }
    if (e->ts < s->start) s->start = e->ts;
    if (seal_end_of(e) > s->end) s->end = seal_end_of(e);
  }
}

static bool survey_anew(struct sealer *s) {
  piles_free(&s->piles);
  if (!piles_init(&s->piles, &s->t->store->mem, s->t->n_tracks + 1, s->t->n_events)) return false;
  survey(s);
  return true;
}

/* Surveys all events, and once more if async begin and end events were paired, because pairing deletes end events. */
static bool survey_all(struct sealer *s) {
  struct tk_trace *t = s->t;
  s->latest = scratch(s, t->n_tracks, sizeof *s->latest);
  if (!s->latest || !survey_anew(s)) return false;
  if (s->has_async && !seal_async(t, s->end)) return false;
  for (tk_id i = 1; s->has_lost && i <= t->n_events; i++)
    if (!seal_is_timed(&t->events[i])) t->events[i].ts = INT64_MIN;
  return !s->has_async || survey_anew(s);
}

static bool arrange(struct sealer *s) {
  struct tk_trace *t = s->t;
  const struct pile_array events = {.items = t->events, .n = t->n_events, .group_at = offsetof(struct tk_event, track),
                                    .grouped = s->grouped, .was = s->order};
  _Static_assert(sizeof *t->events == PILE_ELEM && offsetof(struct tk_event, ts) == 0, "what piles are made for");
  const bool ok = piles_settle(&s->piles, &events);
  tk_id at = 1;
  for (tk_id k = 1; k <= t->n_tracks; k++) {
    t->tracks[k].first = at;
    t->tracks[k].count = s->piles.groups[k].n;
    at += t->tracks[k].count;
  }
  piles_free(&s->piles);
  return ok;
}

/* Places events without a clock at the start of their track. */
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

/* ---- ties ---- */

/* Returns the sort key of an event among the events of the same time; lower keys come first. */
static int64_t tie_key(const struct sealer *s, const struct tk_event *e) {
  static const int64_t LOST = INT64_MIN, END = INT64_MIN + 1, LONGEST = INT64_MIN + 2, REST = 0;
  if (!seal_is_timed(e)) return LOST;
  if (!s->has_x) return REST;
  if (e->kind == TK_EVENT_END) return e->depth == SEAL_BRIEF ? REST : END; /* BRIEF: its begin has the same time and comes first */
  if (e->kind != TK_EVENT_SPAN || e->flags & TK_FLAG_PAIRED) return REST;
  return e->dur < INT64_MAX ? -e->dur : LONGEST;
}

static void release_scratch(struct sealer *s) {
  mem_free(&s->t->store->mem, s->keys);
  mem_free(&s->t->store->mem, s->spare);
  mem_free(&s->t->store->mem, s->in_file);
}

static bool room_for_tie(struct sealer *s, uint32_t n) {
  if (n <= s->n_scratch && s->in_file) return true;
  release_scratch(s);
  s->n_scratch = n < 64 ? 64 : n;
  s->keys = scratch(s, s->n_scratch, sizeof *s->keys);
  s->spare = scratch(s, s->n_scratch, sizeof *s->spare);
  s->in_file = scratch(s, s->n_scratch, sizeof *s->in_file);
  return s->keys && s->spare && s->in_file;
}

/* Sorts events first .. first+n-1 of a track, which have the same time and are in file order. */
static bool order_tie(struct sealer *s, const struct tk_track *k, tk_id first, uint32_t n) {
  struct tk_event *e = s->t->events + first;
  if (!room_for_tie(s, n)) return false;
  for (uint32_t i = 0; i < n; i++) s->keys[i] = (struct keyed){tie_key(s, &e[i]), i};
  struct keyed *sorted = keyed_sort(s->keys, s->spare, n);
  for (uint32_t i = 0; i < n; i++) s->in_file[i] = sorted[i].index;
  if (k->kind == TK_TRACK_THREAD && s->has_x && !seal_keep_tie(s->t, first, s->in_file, n)) return false;
  piles_permute(e, s->order ? s->order + first : NULL, sorted, n);
  return true;
}

static bool order_ties(struct sealer *s, const struct tk_track *k) {
  const struct tk_event *e = s->t->events + k->first;
  bool ok = true;
  for (uint32_t i = 1; ok && i < k->count; i++) {
    uint32_t a = i - 1, b = i + 1;
    if (e[i].ts != e[i - 1].ts || tie_key(s, &e[i - 1]) <= tie_key(s, &e[i])) continue;
    while (a > 0 && e[a - 1].ts == e[i].ts) a--;
    while (b < k->count && e[b].ts == e[i].ts) b++;
    ok = order_tie(s, k, k->first + a, b - a);
    i = b;
  }
  return ok;
}

/* ---- preorder and depth of one track ---- */

/* Number of begin events, closed with the span around them, for which a sweep still expects an end event. */
enum { CUTS = 64 };

/* State of the sweep over a track: the open spans, as positions in the track. */
struct sweep {
  struct tk_event *e;
  uint32_t *stack;
  uint32_t n;
  bool has_cut;    /* true if an end event closed a begin event while begin events inside it were open */
  uint32_t lowest; /* stack position of the outermost begin event closed in this way */
  tk_time cut_ts;  /* time of the last end event that did so */
  uint32_t cut[CUTS]; /* positions of the last begin events that were closed with the span around them */
  uint32_t n_cuts;
};

/* The rounded end of a span may exceed its parent's end by this much. */
static const tk_time ROUNDING = 1000;

static void overlaps(struct sealer *s, struct tk_event *e) {
  s->n_overlaps += !(e->flags & TK_FLAG_OVERLAPS);
  e->flags |= TK_FLAG_OVERLAPS;
}

/* Marks the span at this position of the stack if it outlasts the span around it. */
static void compare_with_parent(struct sealer *s, struct sweep *w, uint32_t at) {
  struct tk_event *e = &w->e[w->stack[at]];
  const struct tk_event *up = at ? &w->e[w->stack[at - 1]] : NULL;
  if (up && up->kind == TK_EVENT_SPAN && seal_end_of(e) - seal_end_of(up) > ROUNDING) overlaps(s, e);
}

static void forget_cut(struct sweep *w, uint32_t at) {
  memmove(w->cut + at, w->cut + at + 1, (w->n_cuts - at - 1) * sizeof *w->cut);
  w->n_cuts--;
}

static void remember_cut(struct sweep *w, uint32_t at) {
  if (w->n_cuts == CUTS) forget_cut(w, 0);
  w->cut[w->n_cuts++] = at;
}

/* Counts an end event that closes nothing. It is late if its begin event was closed with the span around it. */
static void count_stray_end(struct sealer *s, struct sweep *w, const struct tk_event *end) {
  for (uint32_t i = w->n_cuts; i > 0; i--) {
    if (!seal_is_end_of(s->t, &w->e[w->cut[i - 1]], end)) continue;
    forget_cut(w, i - 1);
    s->n_late++;
    return;
  }
  s->n_unmatched++;
}

/* Closes the begin events that are still open inside a span that has ended, as trace_processor does. */
static void cut_down(struct sealer *s, struct sweep *w) {
  tk_time end_ts = w->cut_ts;
  for (uint32_t i = w->lowest; i < w->n; i++) {
    struct tk_event *e = &w->e[w->stack[i]];
    if (e->kind != TK_EVENT_BEGIN) {
      if (e->flags & TK_FLAG_PAIRED) end_ts = seal_end_of(e);
      else if (seal_end_of(e) > end_ts) overlaps(s, e);
      if (e->flags & TK_FLAG_PAIRED) compare_with_parent(s, w, i);
      continue;
    }
    e->kind = TK_EVENT_SPAN;
    e->flags |= TK_FLAG_PAIRED;
    e->dur = seal_dur(e->ts, end_ts);
    compare_with_parent(s, w, i);
    remember_cut(w, w->stack[i]);
    s->n_cut++;
  }
  w->n = w->lowest;
  w->has_cut = false;
}

static void pop_ended(struct sealer *s, struct sweep *w, tk_time ts) {
  if (w->has_cut && ts > w->cut_ts) cut_down(s, w);
  while (w->n) {
    const struct tk_event *top = &w->e[w->stack[w->n - 1]];
    if (top->kind == TK_EVENT_BEGIN || top->flags & TK_FLAG_UNFINISHED || seal_end_of(top) > ts || top->ts == ts) return;
    w->n--;
  }
}

/* True if a begin event is open above this position of the stack. */
static bool is_open_above(const struct sweep *w, uint32_t at) {
  while (at < w->n && w->e[w->stack[at]].kind != TK_EVENT_BEGIN) at++;
  return at < w->n;
}

/* E closes the innermost open B with its name, or the innermost B if E has no name. Each X that is still open above this B
 * outlasts its parent. Each B above it waits for its own E at this time (cut_down). */
static void close_begin(struct sealer *s, struct sweep *w, struct tk_event *end) {
  end->kind = KIND_DEAD;
  pop_ended(s, w, end->ts);
  const uint32_t at = seal_find_begin(s->t, w->e, w->stack, w->n, end);
  if (at == 0) {
    count_stray_end(s, w, end);
    return;
  }
  struct tk_event *begin = &w->e[w->stack[at - 1]];
  if (is_open_above(w, at)) {
    seal_close(s->t, begin, end);
    if (!w->has_cut || at - 1 < w->lowest) w->lowest = at - 1;
    w->has_cut = true;
    w->cut_ts = end->ts;
    return;
  }
  for (uint32_t i = at; i < w->n; i++)
    if (seal_end_of(&w->e[w->stack[i]]) > end->ts) overlaps(s, &w->e[w->stack[i]]);
  seal_close(s->t, begin, end);
  compare_with_parent(s, w, at - 1);
  w->n = at - 1;
  if (w->has_cut && w->n <= w->lowest) w->has_cut = false;
}

static void place_span(struct sealer *s, struct sweep *w, uint32_t at) {
  struct tk_event *e = &w->e[at];
  const struct tk_event *top = w->n ? &w->e[w->stack[w->n - 1]] : NULL;
  e->depth = (uint16_t)(w->n < UINT16_MAX ? w->n : UINT16_MAX);
  if (e->flags & TK_FLAG_LOST_CLOCK) {
    e->depth = 0;
    if (e->kind == TK_EVENT_BEGIN) w->stack[w->n++] = at; /* the matching end comes next and has no clock either */
    return;
  }
  e->flags &= (uint8_t)~TK_FLAG_OVERLAPS;
  if (top && top->kind == TK_EVENT_SPAN && e->kind == TK_EVENT_SPAN && seal_end_of(e) - seal_end_of(top) > ROUNDING) overlaps(s, e);
  else w->stack[w->n++] = at;
}

/* Removes X of zero length from the top of the stack: no begin event can be inside them. */
static void pop_momentary(struct sweep *w) {
  while (w->n && w->e[w->stack[w->n - 1]].kind == TK_EVENT_SPAN && w->e[w->stack[w->n - 1]].dur == 0) w->n--;
}

/* Turns begin events that are still open into unfinished spans. */
static void leave_open(struct sealer *s, struct sweep *w) {
  if (w->has_cut) cut_down(s, w);
  for (uint32_t i = 0; i < w->n; i++) {
    struct tk_event *e = &w->e[w->stack[i]];
    if (e->kind != TK_EVENT_BEGIN) continue;
    e->kind = TK_EVENT_SPAN;
    e->flags |= TK_FLAG_PAIRED | TK_FLAG_UNFINISHED;
    e->dur = 0;
    s->has_unfinished = true;
    trace_note(s->t, TK_NOTE_FACT, UINT64_MAX, SEAL_UNFINISHED);
  }
  w->n = 0;
}

/* Computes depths and matches begin events with end events. Events without a clock come first, and contain no event that has a
 * clock. */
static void sweep_thread(struct sealer *s, const struct tk_track *k, uint32_t *stack) {
  struct sweep w = {.e = s->t->events + k->first, .stack = stack};
  bool lost = true;
  for (uint32_t i = 0; i < k->count; i++) {
    struct tk_event *e = &w.e[i];
    if (lost && seal_is_timed(e)) leave_open(s, &w), lost = false;
    if (e->kind == TK_EVENT_END) {
      close_begin(s, &w, e);
      continue;
    }
    if (e->kind == KIND_DEAD) continue;
    if (w.has_cut) cut_down(s, &w); /* this event is a sibling of the span that has ended, not a child */
    if (seal_is_timed(e)) pop_ended(s, &w, e->ts);
    if (seal_is_timed(e) && (e->kind == TK_EVENT_BEGIN || e->flags & TK_FLAG_PAIRED)) pop_momentary(&w);
    if (e->kind == TK_EVENT_INSTANT || e->kind == TK_EVENT_SAMPLE) e->depth = (uint16_t)(seal_is_timed(e) &&
        w.n < UINT16_MAX ? w.n : 0);
    else if (e->kind != TK_EVENT_COUNTER) place_span(s, &w, i);
  }
  leave_open(s, &w);
}

/* Sets the depth to 0: async events, process instants and counters do not nest. */
static void flatten(struct tk_trace *t, const struct tk_track *k) {
  for (uint32_t i = 0; i < k->count; i++) {
    t->events[k->first + i].depth = 0;
    t->events[k->first + i].flags &= (uint8_t)~TK_FLAG_OVERLAPS;
  }
}

/* ---- all tracks ---- */

/* Marks the end events of all threads (seal_mark_ends). Must run in file order, before ties are sorted. */
static void mark_all_ends(struct sealer *s, uint32_t *stack) {
  const struct tk_trace *t = s->t;
  for (tk_id k = 1; k <= t->n_tracks; k++)
    if (t->tracks[k].kind == TK_TRACK_THREAD) seal_mark_ends(s->t, &t->tracks[k], stack);
}

static tk_time latest_end(const struct tk_trace *t) {
  tk_time end = INT64_MIN;
  for (tk_id k = 1; k <= t->n_tracks; k++)
    for (tk_id i = t->tracks[k].first; i < t->tracks[k].first + t->tracks[k].count; i++) {
      const struct tk_event *e = &t->events[i];
      if (e->kind != KIND_DEAD && seal_is_timed(e) && seal_end_of(e) > end) end = seal_end_of(e);
    }
  return end;
}

/* Extends unfinished spans of threads to the end of the trace. End events that close nothing do not extend the trace. */
static void extend_unfinished(struct tk_trace *t) {
  const tk_time end = latest_end(t);
  for (tk_id k = 1; k <= t->n_tracks; k++)
    for (tk_id i = t->tracks[k].first; t->tracks[k].kind == TK_TRACK_THREAD && i < t->tracks[k].first + t->tracks[k].count; i++) {
      struct tk_event *e = &t->events[i];
      if (e->kind != KIND_DEAD && seal_is_timed(e) && e->flags & TK_FLAG_UNFINISHED) e->dur = seal_dur(e->ts, end);
    }
}

static bool seal_thread(struct sealer *s, const struct tk_track *k, uint32_t *stack) {
  const uint32_t n_overlaps = s->n_overlaps;
  if (!order_ties(s, k)) return false;
  sweep_thread(s, k, stack);
  const uint32_t n_cut = s->n_overlaps != n_overlaps ? seal_cut_frames(s->t, k) : 0;
  if (n_cut == 0) return true;
  s->n_frames += n_cut;
  s->n_overlaps = n_overlaps;
  if (!order_ties(s, k)) return false;
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
  if (ok && s->has_ends) mark_all_ends(s, stack);
  for (tk_id k = 1; ok && k <= t->n_tracks; k++) {
    if (t->tracks[k].kind == TK_TRACK_THREAD) ok = seal_thread(s, &t->tracks[k], stack);
    else if ((ok = order_ties(s, &t->tracks[k]))) flatten(t, &t->tracks[k]);
  }
  if (ok && s->has_unfinished) extend_unfinished(s->t);
  mem_free(&s->t->store->mem, stack);
  release_scratch(s);
  return ok;
}

/* Removes deleted events, such as all end events, from the array; none of them is part of a tie. */
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

/* Updates the event ids of flow points that are fields of an event. */
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

static bool seal_tracks(struct sealer *s, struct flow_sealer *flows) {
  struct tk_trace *t = s->t;
  const tk_id n_old = t->n_events;
  bool ok = survey_all(s) && arrange(s);
  piles_free(&s->piles);
  ok = ok && seal_flows_go_on(flows);
  if (ok) place_lost(s);
  ok = ok && each_track(s);
  if (ok && s->has_ends) compact(s);
  else if (ok) t->n_events = t->tracks[t->n_tracks].first + t->tracks[t->n_tracks].count - (t->n_tracks != 0);
  ok = ok && (!s->order || renumber_points(s, n_old));
  mem_free(&s->t->store->mem, s->order);
  mem_free(&s->t->store->mem, s->latest);
  return ok;
}

static bool has_bound_points(const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_flow_points; i++)
    if (t->flow_points[i].bound) return true;
  return false;
}

/* Flow points are bound last, because bound points take the final time of their event. */
static bool seal_all(struct sealer *s, unsigned threads) {
  const bool bound = has_bound_points(s->t);
  struct flow_sealer flows;
  if (bound) s->order = scratch(s, s->t->n_events, sizeof *s->order);
  seal_flows_begin(&flows, s->t, bound ? 1 : threads);
  const bool ok = seal_tracks(s, &flows) && seal_flows(&flows);
  seal_flows_end(&flows);
  return ok;
}

static void note_counted(struct tk_trace *t, enum tk_note_kind kind, const char *text, uint32_t n) {
  if (n == 0) return;
  trace_note(t, kind, UINT64_MAX, text);
  t->notes[t->n_notes].count = n;
}

bool seal(struct tk_trace *t, unsigned threads, struct tk_err *err) {
  struct sealer s = {.t = t, .start = INT64_MAX, .end = INT64_MIN};
  bool ok;
  if (!mem_check(&t->store->mem, err)) return false;
  ok = seal_all(&s, threads);
  note_counted(t, TK_NOTE_REPAIR, "end events without a begin event: dropped", s.n_unmatched);
  note_counted(t, TK_NOTE_REPAIR, SEAL_CUT, s.n_cut - s.n_late);
  note_counted(t, TK_NOTE_REPAIR, SEAL_LATE, s.n_late);
  note_counted(t, TK_NOTE_REPAIR, "Python frames without a return: ended with their caller", s.n_frames);
  note_counted(t, TK_NOTE_REPAIR, "begins and ends less than 1 ns before the one they follow in the file: moved to its time",
               s.n_noise);
  note_counted(t, TK_NOTE_FACT, "overlapping spans: they end after the span in which they start", s.n_overlaps);
  t->counts.dropped += s.n_unmatched + s.n_late;
  if (!ok) t->store->mem.failed = true;
  else apart_note(t, s.start, s.end);
  if (!mem_check(&t->store->mem, err)) return false;
  t->sealed = true;
  return true;
}
