/* seal_flow.c - sorts flow points by time and binds each to its span.
 *
 * A point binds to the innermost span of its thread that contains its time (including the span's end). Exception: a flow end
 * without "bp":"e" binds to the next span that starts. A point without a span keeps its track, so that it can still be
 * written. */
#include <stddef.h>
#include <stdio.h>

#include "base/jobs.h"
#include "chain.h"
#include "piles.h"
#include "seal.h"

static uint32_t seal_rank_of(const struct tk_flow_point *f) {
  static const uint8_t ranks[] = {[TK_FLOW_START] = 0, [TK_FLOW_OUT] = 0, [TK_FLOW_STEP] = 1,
                                  [TK_FLOW_INOUT] = 1, [TK_FLOW_END] = 2, [TK_FLOW_IN] = 2};
  return ranks[f->role];
}

/* Sorts n points of the same time: starts, then steps, then ends; otherwise in file order. */
static bool order_tie(struct mem *m, struct tk_flow_point *f, uint32_t n) {
  struct keyed *keys = mem_array(m, n, sizeof *keys), *spare = mem_array(m, n, sizeof *spare);
  const bool ok = keys && spare;
  for (uint32_t i = 0; ok && i < n; i++) keys[i] = (struct keyed){seal_rank_of(&f[i]), i};
  if (ok) piles_permute(f, NULL, keyed_sort(keys, spare, n), n);
  mem_free(m, keys);
  mem_free(m, spare);
  return ok;
}

static bool order_ties(struct tk_trace *t, struct mem *m) {
  struct tk_flow_point *f = t->flow_points + 1;
  bool ok = true;
  for (uint32_t i = 1; ok && i < t->n_flow_points; i++) {
    uint32_t a = i - 1, b = i + 1;
    if (f[i].ts != f[i - 1].ts || seal_rank_of(&f[i - 1]) <= seal_rank_of(&f[i])) continue;
    while (a > 0 && f[a - 1].ts == f[i].ts) a--;
    while (b < t->n_flow_points && f[b].ts == f[i].ts) b++;
    ok = order_tie(m, f + a, b - a);
    i = b;
  }
  return ok;
}

static bool order_points(struct tk_trace *t, struct mem *m) {
  struct piles piles;
  const struct pile_array points = {.items = t->flow_points, .n = t->n_flow_points, .grouped = true};
  _Static_assert(sizeof *t->flow_points == PILE_ELEM && offsetof(struct tk_flow_point, ts) == 0, "what piles are made for");
  bool ok = piles_init(&piles, m, 1, t->n_flow_points);
  for (tk_id i = 1; ok && i <= t->n_flow_points; i++) piles_put(&piles, i, 0, t->flow_points[i].ts);
  ok = ok && piles_settle(&piles, &points);
  piles_free(&piles);
  return ok && order_ties(t, m);
}

bool seal_order_flows(struct tk_trace *t) { return order_points(t, &t->store->mem); }

/* Goes through the spans and the points of a track together; both are sorted by time. */
struct binder {
  struct tk_trace *t;
  const struct tk_track *track;
  tk_id *stack;
  uint32_t n;
  uint32_t next;  /* index of the track's next event */
  uint32_t ahead; /* index of the span that next_span found last */
};

static void advance(struct binder *b, tk_time ts) {
  for (; b->next < b->track->count; b->next++) {
    tk_id id = b->track->first + b->next;
    const struct tk_event *e = &b->t->events[id];
    if (e->ts > ts) return;
    if (e->kind != TK_EVENT_SPAN || e->flags & TK_FLAG_LOST_CLOCK) continue;
    while (b->n && seal_end_of(&b->t->events[b->stack[b->n - 1]]) <= e->ts) b->n--;
    b->stack[b->n++] = id;
  }
}

/* Returns the innermost open span at ts; 0 = none. Pops spans that ended before ts, because all later points come after them,
 * too. */
static tk_id enclosing(struct binder *b, tk_time ts) {
  advance(b, ts);
  while (b->n && seal_end_of(&b->t->events[b->stack[b->n - 1]]) < ts) b->n--;
  return b->n ? b->stack[b->n - 1] : 0;
}

static tk_id next_span(struct binder *b, tk_time ts) {
  uint32_t lo = 0, hi = b->track->count;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (b->t->events[b->track->first + mid].ts < ts) lo = mid + 1;
    else hi = mid;
  }
  if (lo < b->ahead) lo = b->ahead;
  while (lo < b->track->count && b->t->events[b->track->first + lo].kind != TK_EVENT_SPAN) lo++;
  b->ahead = lo;
  return lo < b->track->count ? b->track->first + lo : 0;
}

static void bind(struct binder *b, struct tk_flow_point *f) {
  tk_id id = f->role == TK_FLOW_END && !f->enclosing ? next_span(b, f->ts) : enclosing(b, f->ts);
  if (!id) return;
  f->at = id;
  f->bound = true;
}

/* Lists the points by track with a counting sort, which keeps their time order. The points of track k end at end[k]. */
static void list_points(struct tk_trace *t, uint32_t *by_track, uint32_t *end) {
  uint32_t at = 0;
  for (tk_id k = 1; k <= t->n_tracks; k++) t->tracks[k].n_points = 0;
  for (tk_id i = 1; i <= t->n_flow_points; i++) t->tracks[tk_flow_point_track(t, &t->flow_points[i])].n_points += 1;
  for (tk_id k = 0; k <= t->n_tracks; k++) {
    end[k] = at;
    at += t->tracks[k].n_points;
  }
  t->tracks[0].n_points = 0;
  for (tk_id i = 1; i <= t->n_flow_points; i++) by_track[end[tk_flow_point_track(t, &t->flow_points[i])]++] = i;
}

/* Binding of the points of a range of tracks. */
struct binding {
  struct seal_job job;
  struct tk_trace *t;
  struct seal_range *range;
  const uint32_t *by_track, *end; /* results of list_points */
  bool ok;
};

static void bind_range(struct seal_job *job) {
  struct binding *w = (struct binding *)job;
  struct tk_trace *t = w->t;
  tk_id *stack = mem_array(w->range->mem, (uint64_t)w->range->most + 1, sizeof *stack);
  w->ok = stack != NULL;
  for (tk_id k = w->range->first; stack && k <= w->range->last; k++) {
    struct binder b = {.t = t, .track = &t->tracks[k], .stack = stack};
    for (uint32_t i = w->end[k] - t->tracks[k].n_points; i < w->end[k]; i++)
      if (!t->flow_points[w->by_track[i]].bound) bind(&b, &t->flow_points[w->by_track[i]]);
  }
  mem_free(w->range->mem, stack);
}

static bool bind_ranges(struct flow_sealer *s, const uint32_t *by_track, const uint32_t *end) {
  struct seal_range ranges[SEAL_RANGES];
  struct binding bindings[SEAL_RANGES];
  struct jobs *jobs = s->threads->jobs;
  const unsigned n = seal_ranges(s->t, s->threads, false, sizeof(tk_id), ranges);
  bool ok = true;
  for (unsigned i = 0; i < n; i++) {
    bindings[i] = (struct binding){{bind_range}, s->t, &ranges[i], by_track, end, false};
    if (jobs) jobs_give(jobs, &bindings[i]);
  }
  for (unsigned i = 0; i < n; i++)
    if (jobs) jobs_take(jobs);
    else bind_range(&bindings[i].job);
  for (unsigned i = 0; i < n; i++) ok = seal_range_end(s->t, &ranges[i]) && bindings[i].ok && ok;
  return ok;
}

static bool bind_all(struct flow_sealer *s) {
  struct tk_trace *t = s->t;
  struct mem *m = &t->store->mem;
  uint32_t *by_track = mem_array(m, (uint64_t)t->n_flow_points + 1, sizeof *by_track);
  uint32_t *end = mem_array(m, (uint64_t)t->n_tracks + 2, sizeof *end);
  bool ok = by_track && end;
  if (ok) list_points(t, by_track, end);
  ok = ok && bind_ranges(s, by_track, end);
  mem_free(m, by_track);
  mem_free(m, end);
  return ok;
}

/* Counts flows that end before they start, a sign of two clocks that disagree. Moves no point; a note reports the largest
 * difference.
 */
static bool find_backward(struct flow_sealer *s) {
  const struct tk_trace *t = s->t;
  struct chains waiting; /* by flow: its last start, or an end without a preceding start */
  if (!chains_init(&waiting, t, &s->mem)) return false;
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    tk_id *met = chains_of(&waiting, f);
    if (*met && flow_starts(f) && !flow_starts(&t->flow_points[*met])) {
      s->n_backward++;
      if (f->ts - t->flow_points[*met].ts > s->worst) s->worst = f->ts - t->flow_points[*met].ts;
    }
    if (!*met || flow_starts(f)) *met = i;
  }
  chains_free(&waiting);
  return true;
}

static void note_backward(const struct flow_sealer *s) {
  struct tk_trace *t = s->t;
  char text[128], worst[32];
  if (!s->worst) return;
  tk_print_duration(s->worst, worst);
  snprintf(text, sizeof text, "flows that end before they start (clock skew?), by up to %s", worst);
  trace_note(t, TK_NOTE_FACT, UINT64_MAX, text);
  t->notes[t->n_notes].count = s->n_backward;
}

/* Runs the next step that does not need the tracks. There are two steps because the second allocates memory, which would add to
 * the peak while the tracks are sorted. */
static void do_step(struct seal_job *job) {
  struct flow_sealer *s = (struct flow_sealer *)job;
  s->ok = s->ordered ? find_backward(s) : order_points(s->t, &s->mem);
}

void seal_flows_begin(struct flow_sealer *s, struct tk_trace *t, const struct seal_threads *threads, bool bound) {
  enum { WORTH = 5000, SHARE = 8 };
  const struct mem *m = &t->store->mem;
  const uint64_t left = m->limit > m->used ? m->limit - m->used : 0;
  *s = (struct flow_sealer){.job = {do_step}, .t = t, .threads = threads, .mem = {.limit = left / SHARE}};
  s->apart = threads->jobs && !bound && t->n_flow_points >= WORTH &&
             (!m->limit || s->mem.limit >= (uint64_t)t->n_flow_points * 2 * PILE_ELEM);
  if (s->apart) jobs_give(threads->jobs, s);
}

void seal_flows_go_on(struct flow_sealer *s) {
  if (!s->apart) return;
  jobs_take(s->threads->jobs);
  s->ordered = s->ok;
  if (s->ok) jobs_give(s->threads->jobs, s);
}

/* Finishes the steps: on this thread unless they run as jobs. */
static bool finish_steps(struct flow_sealer *s) {
  struct mem *m = &s->t->store->mem;
  if (s->apart) {
    jobs_take(s->threads->jobs);
    if (m->used + s->mem.peak > m->peak) m->peak = m->used + s->mem.peak;
    return s->ok;
  }
  s->mem = *m;
  do_step(&s->job);
  s->ordered = true;
  if (s->ok) do_step(&s->job);
  *m = s->mem;
  return s->ok;
}

bool seal_flows(struct flow_sealer *s) {
  struct tk_trace *t = s->t;
  if (t->n_flow_points == 0) return true;
  for (tk_id i = 1; i <= t->n_flow_points && !s->apart; i++) { /* the steps are jobs only if no point is bound */
    struct tk_flow_point *f = &t->flow_points[i];
    if (f->bound) f->ts = t->events[f->at].ts;
  }
  if (!finish_steps(s) || !bind_all(s)) return false;
  note_backward(s);
  return !t->store->mem.failed;
}
