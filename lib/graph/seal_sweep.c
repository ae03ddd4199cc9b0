/* seal_sweep.c - see seal_sweep.h.
 *
 * Ties at one time follow trace_processor: E first, then X with the longest first, then the rest (including X of zero length) in file
 * order; in a trace without any X, file order alone. Unlike in trace_processor, an E stays after a B of the same time, so B E B E at
 * one time keeps its meaning.
 *
 * An event that starts when a span ends is the span's sibling, unless both start at that time (X of zero length nest in file order). A
 * span that ends more than 1 ns (the tolerance for rounding) after the span in which it starts remains the child of that span, but is
 * flagged and has no children itself. All other depths then equal those of trace_processor. */
#include "seal_sweep.h"

#include <string.h>

#include "piles.h"

/* ---- ties ---- */

/* Returns the sort key of an event among the events of the same time; lower keys come first. */
static int64_t tie_key(const struct sweeper *s, const struct tk_event *e) {
  static const int64_t LOST = INT64_MIN, END = INT64_MIN + 1, LONGEST = INT64_MIN + 2, REST = 0;
  if (!seal_is_timed(e)) return LOST;
  if (!s->has_x) return REST;
  if (e->kind == TK_EVENT_END) return e->depth == SEAL_BRIEF ? REST : END; /* BRIEF: its begin has the same time and comes first */
  if (e->kind != TK_EVENT_SPAN || e->flags & TK_FLAG_PAIRED) return REST;
  return e->dur < INT64_MAX ? -e->dur : LONGEST;
}

static void release_scratch(struct sweeper *s) {
  mem_free(s->range->mem, s->keys);
  mem_free(s->range->mem, s->spare);
  mem_free(s->range->mem, s->in_file);
}

static bool room_for_tie(struct sweeper *s, uint32_t n) {
  if (n <= s->n_scratch && s->in_file) return true;
  release_scratch(s);
  s->n_scratch = n < 64 ? 64 : n;
  s->keys = mem_array(s->range->mem, s->n_scratch, sizeof *s->keys);
  s->spare = mem_array(s->range->mem, s->n_scratch, sizeof *s->spare);
  s->in_file = mem_array(s->range->mem, s->n_scratch, sizeof *s->in_file);
  return s->keys && s->spare && s->in_file;
}

/* Sorts events first .. first+n-1 of a track, which have the same time and are in file order. */
static bool order_tie(struct sweeper *s, const struct tk_track *k, tk_id first, uint32_t n) {
  struct tk_event *e = s->t->events + first;
  if (!room_for_tie(s, n)) return false;
  for (uint32_t i = 0; i < n; i++) s->keys[i] = (struct keyed){tie_key(s, &e[i]), i};
  struct keyed *sorted = keyed_sort(s->keys, s->spare, n);
  for (uint32_t i = 0; i < n; i++) s->in_file[i] = sorted[i].index;
  if (k->kind == TK_TRACK_THREAD && s->has_x && !seal_keep_tie(&s->ties, e, first, s->in_file, n)) return false;
  piles_permute(e, s->order ? s->order + first : NULL, sorted, n);
  return true;
}

static bool order_ties(struct sweeper *s, const struct tk_track *k) {
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
  tk_time cut_ts;  /* time of the last such end event */
  uint32_t cut[CUTS]; /* positions of the last begin events that were closed with the span around them */
  uint32_t n_cuts;
};

/* The rounded end of a span may exceed its parent's end by this much. */
static const tk_time ROUNDING = 1000;

static void overlaps(struct sweeper *s, struct tk_event *e) {
  s->n_overlaps += !(e->flags & TK_FLAG_OVERLAPS);
  e->flags |= TK_FLAG_OVERLAPS;
}

/* Marks the span at this position of the stack if it outlasts the span around it. */
static void compare_with_parent(struct sweeper *s, struct sweep *w, uint32_t at) {
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
static void count_stray_end(struct sweeper *s, struct sweep *w, const struct tk_event *end) {
  for (uint32_t i = w->n_cuts; i > 0; i--) {
    if (!seal_is_end_of(s->t, &w->e[w->cut[i - 1]], end)) continue;
    forget_cut(w, i - 1);
    s->n_late++;
    return;
  }
  s->n_unmatched++;
}

/* Closes the begin events that are still open inside a span that has ended, as trace_processor does. */
static void cut_down(struct sweeper *s, struct sweep *w) {
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

static void pop_ended(struct sweeper *s, struct sweep *w, tk_time ts) {
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
static void close_begin(struct sweeper *s, struct sweep *w, struct tk_event *end) {
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

static void place_span(struct sweeper *s, struct sweep *w, uint32_t at) {
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
static void leave_open(struct sweeper *s, struct sweep *w) {
  if (w->has_cut) cut_down(s, w);
  for (uint32_t i = 0; i < w->n; i++) {
    struct tk_event *e = &w->e[w->stack[i]];
    if (e->kind != TK_EVENT_BEGIN) continue;
    e->kind = TK_EVENT_SPAN;
    e->flags |= TK_FLAG_PAIRED | TK_FLAG_UNFINISHED;
    e->dur = 0;
    s->n_unfinished++;
  }
  w->n = 0;
}

/* Computes depths and matches begin events with end events. Events without a clock come first, and contain no event that has a
 * clock. */
static void sweep_thread(struct sweeper *s, const struct tk_track *k, uint32_t *stack) {
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

/* ---- ranges of tracks ---- */

static bool sweeper_begin(struct sweeper *s) {
  s->stack = mem_array(s->range->mem, (uint64_t)s->range->most + 1, sizeof *s->stack);
  return s->stack != NULL;
}

static void sweeper_end(struct sweeper *s) {
  mem_free(s->range->mem, s->stack);
  release_scratch(s);
  s->stack = s->in_file = NULL;
  s->keys = s->spare = NULL;
}

static bool sweep_track(struct sweeper *s, const struct tk_track *k) {
  if (!order_ties(s, k)) return false;
  if (k->kind == TK_TRACK_THREAD) sweep_thread(s, k, s->stack);
  else flatten(s->t, k);
  return true;
}

void sweep_range(struct seal_job *job) {
  struct sweeper *s = (struct sweeper *)job;
  s->ok = sweeper_begin(s);
  for (tk_id k = s->range->first; s->ok && k <= s->range->last; k++) s->ok = sweep_track(s, &s->t->tracks[k]);
  sweeper_end(s);
}

static uint32_t count_overlaps(const struct tk_trace *t, const struct tk_track *k) {
  uint32_t n = 0;
  for (tk_id i = k->first; i < k->first + k->count; i++) n += (t->events[i].flags & TK_FLAG_OVERLAPS) != 0;
  return n;
}

bool sweep_frames(struct sweeper *s) {
  bool ok = sweeper_begin(s);
  for (tk_id i = s->range->first; ok && i <= s->range->last; i++) {
    const struct tk_track *k = &s->t->tracks[i];
    const uint32_t n = k->kind == TK_TRACK_THREAD ? seal_cut_frames(s->t, k) : 0;
    if (!n) continue;
    s->n_frames += n;
    s->n_overlaps -= count_overlaps(s->t, k);
    ok = sweep_track(s, k);
  }
  sweeper_end(s);
  return ok;
}
