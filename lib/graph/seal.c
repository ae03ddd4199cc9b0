/* seal.c - turns the events that a reader added into a sealed graph (seal.h).
 *
 *     file order, B and E apart  --piles-->  by track and time  --ties-->  by (ts, rank, longest)  --sweep-->  preorder + depth */
#include "seal.h"

#include <stddef.h>
#include <string.h>

#include "apart.h"
#include "base/jobs.h"
#include "piles.h"
#include "seal_sweep.h"

struct sealer {
  struct tk_trace *t;
  const struct seal_threads *threads;
  bool has_x;          /* true if some span was a complete event (X) */
  bool has_ends;       /* true if some end event (E) is left to match */
  bool has_async;      /* true if some begin or end event is matched by identity, on any thread */
  bool has_lost;       /* true if some event has no clock */
  bool grouped;        /* true if the events were added track by track */
  tk_time start, end;  /* times of the trace's first and last event */
  tk_time *latest;     /* by track: time of its last begin or end event in file order; INT64_MIN = none */
  uint32_t *order;     /* [1..n]: old event ids in new order; NULL if unused */
  struct piles piles;  /* one group per track */
  uint32_t n_unmatched, n_late, n_overlaps, n_cut, n_unfinished, n_frames, n_noise;
};

static void *scratch(struct sealer *s, uint64_t n, size_t elem) { return mem_array(&s->t->store->mem, (uint64_t)n + 1, elem); }

/* ---- by track and time ---- */

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

/* Puts all events on piles and sets the flags above. Events without a clock sort before all others of their track;
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

/* ---- all tracks ---- */

/* Marks the end events of all threads (seal_mark_ends). Must run in file order, before ties are sorted. */
static bool mark_all_ends(struct sealer *s, uint32_t most) {
  const struct tk_trace *t = s->t;
  uint32_t *stack = scratch(s, most, sizeof *stack);
  for (tk_id k = 1; stack && k <= t->n_tracks; k++)
    if (t->tracks[k].kind == TK_TRACK_THREAD) seal_mark_ends(s->t, &t->tracks[k], stack);
  mem_free(&s->t->store->mem, stack);
  return stack != NULL;
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

/* Adds the results of a sweep. */
static bool take_sweep(struct sealer *s, struct sweeper *w) {
  s->n_unmatched += w->n_unmatched;
  s->n_late += w->n_late;
  s->n_overlaps += w->n_overlaps;
  s->n_cut += w->n_cut;
  s->n_unfinished += w->n_unfinished;
  s->n_frames += w->n_frames;
  const bool ok = seal_add_ties(s->t, &w->ties) && w->ok;
  return seal_range_end(s->t, w->range) && ok;
}

/* Sweeps over all ranges, while another thread continues with the flows. */
static bool sweep_ranges(struct sealer *s, struct sweeper *sweepers, unsigned n, struct flow_sealer *flows) {
  struct jobs *jobs = s->threads->jobs;
  for (unsigned i = 0; i < n && jobs; i++) jobs_give(jobs, &sweepers[i]);
  seal_flows_go_on(flows);
  for (unsigned i = 0; i < n; i++)
    if (jobs) jobs_take(jobs);
    else sweep_range(&sweepers[i].job);
  bool ok = true;
  for (unsigned i = 0; i < n; i++) ok = take_sweep(s, &sweepers[i]) && ok;
  return ok;
}

/* Shortens the Python frames that outlast their caller. Runs on this thread, because it changes args that all tracks share. */
static bool cut_frames(struct sealer *s) {
  struct tk_trace *t = s->t;
  struct seal_range all[SEAL_RANGES];
  if (!s->n_overlaps || !seal_ranges(t, s->threads, true, 0, all)) return true;
  struct sweeper w = {.t = t, .range = all, .order = s->order, .has_x = s->has_x, .ties = {.mem = all->mem}};
  w.ok = sweep_frames(&w);
  return take_sweep(s, &w);
}

static bool each_track(struct sealer *s, struct flow_sealer *flows) {
  enum { BYTES = 128 }; /* maximum number of bytes that a sweep allocates per event, if all events have the same time */
  struct seal_range ranges[SEAL_RANGES];
  struct sweeper sweepers[SEAL_RANGES];
  const unsigned n = seal_ranges(s->t, s->threads, s->has_ends, BYTES, ranges);
  for (unsigned i = 0; i < n; i++)
    sweepers[i] = (struct sweeper){.job = {sweep_range}, .t = s->t, .range = &ranges[i], .order = s->order, .has_x = s->has_x,
                                   .ties = {.mem = ranges[i].mem}};
  if (s->has_ends && n && !mark_all_ends(s, ranges[0].most)) return false;
  if (!sweep_ranges(s, sweepers, n, flows) || !cut_frames(s)) return false;
  if (s->n_unfinished) trace_notes(s->t, TK_NOTE_FACT, UINT64_MAX, SEAL_UNFINISHED, s->n_unfinished);
  if (s->n_unfinished) extend_unfinished(s->t);
  return true;
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
  if (ok) place_lost(s);
  ok = ok && each_track(s, flows);
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
static bool seal_all(struct sealer *s) {
  const bool bound = has_bound_points(s->t);
  struct flow_sealer flows;
  if (bound) s->order = scratch(s, s->t->n_events, sizeof *s->order);
  seal_flows_begin(&flows, s->t, s->threads, bound);
  return seal_tracks(s, &flows) && seal_flows(&flows);
}

static void note_counted(struct tk_trace *t, enum tk_note_kind kind, const char *text, uint32_t n) {
  if (n == 0) return;
  trace_note(t, kind, UINT64_MAX, text);
  t->notes[t->n_notes].count = n;
}

bool seal(struct tk_trace *t, unsigned threads, struct tk_err *err) {
  if (!mem_check(&t->store->mem, err)) return false;
  struct seal_threads several = seal_threads_start(t, threads);
  struct sealer s = {.t = t, .threads = &several, .start = INT64_MAX, .end = INT64_MIN};
  const bool ok = seal_all(&s);
  seal_threads_stop(&several);
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
