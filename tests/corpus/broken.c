/* broken.c - a reader with one deliberate bug, to check that the tests notice.
 *
 * Replaces tk_sources_load in a library whose original is renamed real_tk_sources_load (by tests/support/build.sh), so that every
 * loaded trace has the fault $TEST_FAULT: drop_event, one_ns, lost_flow, swapped_track, lost_arg, or one_path (one_ns, but on the
 * predicted path only). The fault is silent: no note, no changed count. A trace without a place for the fault, or without $TEST_FAULT,
 * is loaded unchanged. */
#include <stdlib.h>
#include <string.h>

#define TRACEKIT_INSIDE /* modifies data that is const to other users */
#include "tracekit.h"

struct tk_trace *real_tk_sources_load(struct tk_sources *s, size_t i, const struct tk_load_options *opt, struct tk_err *err);
struct tk_trace *real_tk_load(const char *source, const struct tk_load_options *opt, struct tk_err *err);

static bool has_flow(const struct tk_trace *t, tk_id event) {
  for (tk_id i = 1; i <= t->n_flow_points; i++)
    if (t->flow_points[i].bound && t->flow_points[i].at == event) return true;
  return false;
}

/* Returns the first span without children in the second half of the trace. */
static tk_id a_leaf(const struct tk_trace *t) {
  for (tk_id i = t->n_events / 2 + 1; i < t->n_events; i++) {
    const struct tk_event *e = &t->events[i], *next = e + 1;
    bool parent = next->track == e->track && next->depth > e->depth;
    if (e->kind == TK_EVENT_SPAN && !parent && !has_flow(t, i)) return i;
  }
  return 0;
}

static void drop_event(struct tk_trace *t) {
  tk_id gone = a_leaf(t);
  if (!gone) return;
  t->tracks[t->events[gone].track].count--;
  memmove(&t->events[gone], &t->events[gone + 1], (t->n_events - gone) * sizeof *t->events);
  t->n_events--;
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].first > gone) t->tracks[i].first--;
  for (tk_id i = 1; i <= t->n_flow_points; i++)
    if (t->flow_points[i].bound && t->flow_points[i].at > gone) t->flow_points[i].at--;
}

static void one_ns(struct tk_trace *t) {
  tk_id i = a_leaf(t);
  if (i) t->events[i].dur += 1000;
}

/* Removes the first point that has a partner and is bound: a flow that a viewer draws. */
static void lost_flow(struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    if (f->role != TK_FLOW_START || !f->bound) continue;
    if (f->at) t->tracks[tk_flow_point_track(t, f)].n_points--;
    memmove(&t->flow_points[i], &t->flow_points[i + 1], (t->n_flow_points - i) * sizeof *t->flow_points);
    t->n_flow_points--;
    return;
  }
}

static void give(struct tk_trace *t, tk_id track, tk_id first, tk_id count) {
  for (tk_id i = first; i < first + count; i++) t->events[i].track = track;
  t->tracks[track].first = first;
  t->tracks[track].count = count;
}

/* Swaps the events of two threads. */
static void swapped_track(struct tk_trace *t) {
  tk_id one = 0;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    if (t->tracks[i].kind != TK_TRACK_THREAD || !t->tracks[i].count) continue;
    if (one) {
      struct tk_track a = t->tracks[one], b = t->tracks[i];
      give(t, one, b.first, b.count);
      give(t, i, a.first, a.count);
      return;
    }
    one = i;
  }
}

static void lost_arg(struct tk_trace *t) {
  for (tk_id i = t->n_events / 2 + 1; i <= t->n_events; i++) {
    if (!t->events[i].args || t->events[i].kind != TK_EVENT_SPAN) continue;
    t->events[i].args = 0;
    return;
  }
}

static struct tk_trace *broken(struct tk_trace *t, const struct tk_load_options *opt) {
  const char *fault = getenv("TEST_FAULT");
  if (!t || !fault) return t;
  if (strcmp(fault, "drop_event") == 0) drop_event(t);
  else if (strcmp(fault, "one_ns") == 0 || (strcmp(fault, "one_path") == 0 && !(opt && opt->no_templates))) one_ns(t);
  else if (strcmp(fault, "lost_flow") == 0) lost_flow(t);
  else if (strcmp(fault, "swapped_track") == 0) swapped_track(t);
  else if (strcmp(fault, "lost_arg") == 0) lost_arg(t);
  return t;
}

struct tk_trace *tk_sources_load(struct tk_sources *s, size_t i, const struct tk_load_options *opt, struct tk_err *err) {
  return broken(real_tk_sources_load(s, i, opt, err), opt);
}

/* Inside the library, tk_load() calls the original tk_sources_load(), because both are in the same file. So tk_load() is replaced as
 * well. */
struct tk_trace *tk_load(const char *source, const struct tk_load_options *opt, struct tk_err *err) {
  return broken(real_tk_load(source, opt, err), opt);
}
