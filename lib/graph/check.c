/* check.c - checks the invariants of a sealed graph.
 *
 *      1. Events are grouped by track: track k has events first .. first+count-1; tracks are in order, without gaps.
 *      2. Within a track, times do not decrease (except events without a clock), and depth grows by at most one per event.
 *      3. Only spans, instants, counter samples and stack samples remain; dur >= 0, and 0 unless a span.
 *      4. A span lies within its parent span (up to 1 ns of rounding), unless flagged as overlapping, unfinished or lost.
 *      5. Ids are in range: classes, tracks, strings of classes and args; parents of tracks are processes.
 *      6. Frames, stacks and classes of samples refer to lower ids and to strings; a sample has a class of samples.
 *      7. Flow points are sorted by time; a bound one refers to an event. */
#include <string.h>

#include "stack.h"

static bool fail(struct tk_err *err, const char *what, tk_id id) {
  return err_set(err, TK_ECORRUPT, "invariant broken: %s (%u)", what, id);
}

static bool check_args(const struct tk_trace *t, uint32_t args) {
  struct tk_args it = tk_args_of(t, args);
  struct tk_arg arg;
  if (args >= t->store->pool.len && args) return false;
  while (tk_args_next(&it, &arg)) {
    if (arg.key == 0 || arg.key > t->store->strings.n) return false;
    if (arg.type >= TK_ARG_STR && arg.type <= TK_ARG_REF && (arg.s == 0 || arg.s > t->store->strings.n)) return false;
  }
  return true;
}

static bool check_event(const struct tk_trace *t, tk_id i, tk_id track, struct tk_err *err) {
  const struct tk_event *e = &t->events[i];
  if (e->track != track) return fail(err, "an event belongs to a different track from the group that contains it", i);
  if (e->kind > TK_EVENT_COUNTER && e->kind != TK_EVENT_SAMPLE) return fail(err, "a begin or end event was not joined into a span", i);
  if (e->dur < 0 || (e->dur && e->kind != TK_EVENT_SPAN)) return fail(err, "invalid event duration", i);
  if (e->ts > INT64_MAX - e->dur) return fail(err, "end time of an event is out of range", i);
  if (e->cls == 0 || e->cls > t->n_classes) return fail(err, "invalid event class", i);
  if ((e->kind == TK_EVENT_SAMPLE) != (t->classes[e->cls].unit != 0))
    return fail(err, "the event is a stack sample but its class is not, or vice versa", i);
  if (!check_args(t, e->args)) return fail(err, "invalid event args", i);
  return true;
}

static const uint8_t LOOSE = TK_FLAG_OVERLAPS | TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK;

static bool check_nesting(const struct tk_trace *t, const struct tk_track *k, tk_id *ancestors, struct tk_err *err) {
  tk_time last = INT64_MIN;
  uint32_t depth_before = 0;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->flags & TK_FLAG_LOST_CLOCK) continue;
    if (e->ts < last) return fail(err, "times decrease within a track", i);
    last = e->ts;
    if (k->kind != TK_TRACK_THREAD) {
      if (e->depth) return fail(err, "depth is only allowed on threads", i);
      continue;
    }
    if (last != INT64_MIN && e->depth > depth_before + 1) return fail(err, "the depth increases by more than 1", i);
    if (e->depth && !(e->flags & LOOSE)) {
      const struct tk_event *up = &t->events[ancestors[e->depth - 1]];
      if (!(up->flags & LOOSE) && e->ts + e->dur - (up->ts + up->dur) > 1000) return fail(err, "span exceeds its parent", i);
    }
    if (trace_nests(t, i)) ancestors[e->depth] = i;
    depth_before = e->depth;
  }
  return true;
}

static bool check_tracks(const struct tk_trace *t, tk_id *ancestors, struct tk_err *err) {
  tk_id at = 1;
  for (tk_id k = 1; k <= t->n_tracks; k++) {
    const struct tk_track *track = &t->tracks[k];
    if (track->first != at) return fail(err, "the events of a track do not follow those of the previous track directly", k);
    if (track->kind != TK_TRACK_PROCESS && t->tracks[track->parent].kind != TK_TRACK_PROCESS) return fail(err,
        "invalid parent track", k);
    for (tk_id i = at; i < at + track->count; i++)
      if (!check_event(t, i, k, err)) return false;
    if (!check_nesting(t, track, ancestors, err)) return false;
    at += track->count;
  }
  return at == t->n_events + 1 || fail(err, "events outside of tracks", at);
}

static bool check_flows(const struct tk_trace *t, struct tk_err *err) {
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    if (i > 1 && f->ts < t->flow_points[i - 1].ts) return fail(err, "flow points out of order", i);
    if (f->at == 0 || f->at > (f->bound ? t->n_events : t->n_tracks)) return fail(err, "invalid flow point event or track", i);
    if (f->id_kind == TK_FLOW_ID_STR && (f->id <= 0 || f->id > t->store->strings.n)) return fail(err, "invalid flow point id", i);
    if (f->cls == 0 || f->cls > t->n_classes) return fail(err, "invalid flow point class", i);
    if (!check_args(t, f->args)) return fail(err, "invalid flow point args", i);
  }
  return true;
}

bool tk_check(const struct tk_trace *t, struct tk_err *err) {
  static const uint32_t DEPTHS = UINT16_MAX + 2;
  struct mem mem = {0};
  tk_id *ancestors;
  bool ok;
  if (!t->sealed) return fail(err, "not sealed", 0);
  for (tk_id i = 1; i <= t->n_classes; i++)
    if (t->classes[i].name > t->store->strings.n || t->classes[i].cat > t->store->strings.n) return fail(err, "class", i);
  tk_id id;
  const char *fault = stack_fault(t, &id);
  if (fault) return fail(err, fault, id);
  ancestors = mem_zeros(&mem, DEPTHS, sizeof *ancestors);
  if (!ancestors) return mem_refuse(&mem, err);
  ok = check_tracks(t, ancestors, err) && check_flows(t, err);
  mem_free(&mem, ancestors);
  return ok;
}
