/* filter.c - keeps the events that an expression, a time window and other options select.
 *
 *     mark     events that match; then related events (--keep): children of these, events linked to both by flows, parents of all these
 *     keep     graph/subset.c extracts the marked events; flows without one of their ends are removed
 *     clip     spans that cross an edge of the window; the last counter sample before the window moves to its start, and instants that
 *              state what was there (graph/state_events.c) do, too
 *     args     args with unwanted keys are removed
 *
 * All decisions are made on the input: depth, self time and steps are computed before anything is removed. */
#include "filter.h"

#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "base/options.h"
#include "format/format.h"
#include "graph/chain.h"
#include "graph/subset.h"
#include "frames.h"
#include "launched.h"
#include "graph/seal.h"
#include "graph/state_events.h"
#include "nothing.h"
#include "strip.h"
#include "graph/args.h"

struct filter {
  struct tk_trace *t;
  const struct tk_filter_options *opt;
  const struct filter_plan *plan;
  struct tk_filter_report *report;
  struct mem *mem;
  struct match match;
  struct subset keep;
  struct scope scope;
};

/* ---- windows ---- */

static bool find_window(struct filter *f, struct tk_err *err) {
  if (f->plan->cut) window_narrow(&f->scope, *f->plan->cut);
  const struct tk_filter_options *o = f->opt;
  const struct tk_selection by = {.time = o->time, .steps = o->steps, .range = o->range, .step_range = o->step_range};
  if (window_select(&f->scope, f->t, &f->match.steps, &by, err)) return match_follow_launches(&f->match, &f->scope, NULL);
  if (err->code != TK_ENOTHING || f->opt->refuse_empty) return false;
  err_clear(err);
  window_narrow(&f->scope, (struct window){INT64_MIN, INT64_MIN}); /* the trace does not have these steps, so nothing is selected */
  return true;
}

static bool in_window(const struct filter *f, const struct tk_event *e) { return scope_holds(&f->scope, e); }

static bool wants_track(const struct filter *f, tk_id track) {
  return !f->plan->part_of || f->plan->part_of[track] == f->plan->part;
}

/* Keeps the last sample of each counter before the window, because it is the counter's value at the start of the window. */
static void keep_left_edge(struct filter *f) {
  for (tk_id k = 1; f->scope.narrowed && k <= f->t->n_tracks; k++) {
    const struct tk_track *track = &f->t->tracks[k];
    tk_id last = 0;
    if (track->kind != TK_TRACK_COUNTERS) continue;
    for (tk_id i = track->first; i < track->first + track->count && f->t->events[i].ts <= f->scope.window.start; i++)
      if (!(f->t->events[i].flags & TK_FLAG_LOST_CLOCK)) last = i;
    if (last) f->keep.events[last] = wants_track(f, k) && match_event(&f->match, last);
  }
}

/* Keeps the instants before the window that describe the state at its start. */
static void keep_state(struct filter *f) {
  const struct tk_trace *t = f->t;
  uint8_t *is = f->scope.narrowed ? state_events_classes(t, f->mem) : NULL;
  for (tk_id i = 1; is && i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (!is[e->cls] || e->kind != TK_EVENT_INSTANT || e->ts >= f->scope.window.start || e->flags & TK_FLAG_LOST_CLOCK) continue;
    f->keep.events[i] = wants_track(f, e->track) && match_event(&f->match, i);
  }
  mem_free(f->mem, is);
}

/* ---- related events ---- */

/* Keeps the spans around kept events. Visits the events of a track in reverse order, so that children come before their parents;
 * wanted[d] is true if a kept event of depth d was seen. */
static void keep_parents(struct filter *f, bool *wanted) {
  struct tk_trace *t = f->t;
  for (tk_id k = 1; k <= t->n_tracks; k++) {
    const struct tk_track *track = &t->tracks[k];
    if (track->kind != TK_TRACK_THREAD || !track->count) continue;
    memset(wanted, 0, UINT16_MAX + 2);
    for (tk_id i = track->first + track->count; i-- > track->first;) {
      struct tk_event *e = &t->events[i];
      if (trace_nests(t, i) && wanted[e->depth + 1]) f->keep.events[i] |= in_window(f, e);
      if (trace_nests(t, i)) wanted[e->depth + 1] = false;
      if (f->keep.events[i]) wanted[e->depth] = true;
    }
  }
}

static void keep_children(struct filter *f) {
  struct tk_trace *t = f->t;
  for (tk_id k = 1; k <= t->n_tracks; k++) {
    uint32_t under = UINT32_MAX; /* depth of the kept span whose children are being visited */
    for (tk_id i = t->tracks[k].first; i < t->tracks[k].first + t->tracks[k].count && t->tracks[k].kind == TK_TRACK_THREAD; i++) {
      const struct tk_event *e = &t->events[i];
      if (e->depth <= under) under = UINT32_MAX;
      if (under != UINT32_MAX) f->keep.events[i] |= in_window(f, e);
      else if (f->keep.events[i] && trace_nests(t, i)) under = e->depth;
    }
  }
}

/* If one event of a flow is kept, keeps all events of the flow. */
static bool keep_whole_flows(struct filter *f) {
  struct tk_trace *t = f->t;
  struct chains chains;
  uint8_t *wanted = mem_zeros(f->mem, (uint64_t)t->n_flow_points + 1, 1);
  tk_id *chain_of = mem_array(f->mem, (uint64_t)t->n_flow_points + 1, sizeof *chain_of);
  bool ok = wanted && chain_of && chains_init(&chains, t, f->mem);
  for (tk_id i = 1; ok && i <= t->n_flow_points; i++) {
    tk_id *chain = chains_of(&chains, &t->flow_points[i]);
    if (!*chain || flow_starts(&t->flow_points[i])) *chain = i;
    chain_of[i] = *chain;
    if (t->flow_points[i].bound && f->keep.events[t->flow_points[i].at]) wanted[*chain] = 1;
  }
  for (tk_id i = 1; ok && i <= t->n_flow_points; i++)
    if (t->flow_points[i].bound && wanted[chain_of[i]])
      f->keep.events[t->flow_points[i].at] |= in_window(f, &t->events[t->flow_points[i].at]);
  if (ok) chains_free(&chains);
  mem_free(f->mem, wanted);
  mem_free(f->mem, chain_of);
  return ok;
}

/* Finds the correlation id. CUPTI, roctracer and XLA give the same id to a launch and to its work; *id also depends on the rank. */
static bool correlation_of(const struct filter *f, const struct tk_event *e, const tk_id *keys, uint64_t *id) {
  struct tk_args it = tk_args_of(f->t, e->args);
  struct tk_arg arg;
  bool has = false;
  for (uint32_t i = 0; it.shape && i < it.shape->n && !has; i++)
    has = it.shape->fields[i].key == keys[0] || it.shape->fields[i].key == keys[1];
  while (has && tk_args_next(&it, &arg)) {
    if (arg.key != keys[0] && arg.key != keys[1]) continue;
    if ((arg.type != TK_ARG_INT && arg.type != TK_ARG_UINT) || arg.i == 0) return false;
    int64_t rank = f->match.origins ? f->match.origins[e->track].rank : 0;
    *id = arg.u ^ (uint64_t)rank << 44;
    return true;
  }
  return false;
}

/* Marks the events with flows in `linked` and sets `shared` to the ids that several calls have (op/launched.h). */
static bool find_shared(struct filter *f, const tk_id *keys, struct map *shared, bool *linked) {
  struct tk_trace *t = f->t;
  struct map last; /* id -> last call */
  uint64_t id;
  map_init(&last, f->mem);
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (!(kinds_of(&f->match.kinds, e) & KIND_RUNTIME) || !correlation_of(f, e, keys, &id)) continue;
    uint32_t *at = map_put(&last, id, i);
    if (at && *at != i && launched_apart(&f->match.kinds, &t->events[*at], e)) map_put(shared, id, 1);
    if (at) *at = i;
  }
  for (tk_id i = 1; i <= t->n_flow_points; i++)
    if (t->flow_points[i].bound) linked[t->flow_points[i].at] = true;
  map_free(&last);
  return !f->mem->failed;
}

/* Keeps the events with the correlation ids of kept events. If several calls have an id, events with flows are left to their flows. */
static bool keep_correlated(struct filter *f) {
  static const char *const NAMES[] = {"correlation", "correlation_id"};
  struct tk_trace *t = f->t;
  struct map wanted;
  tk_id keys[2];
  uint64_t id;
  for (int i = 0; i < 2; i++) keys[i] = trace_text_id(t, NAMES[i]);
  if (!keys[0] && !keys[1]) return true;
  struct map shared;
  bool *linked = mem_zeros(f->mem, (uint64_t)t->n_events + 1, sizeof *linked);
  map_init(&wanted, f->mem);
  map_init(&shared, f->mem);
  const bool ok = linked && find_shared(f, keys, &shared, linked);
  for (tk_id i = 1; ok && i <= t->n_events; i++)
    if (f->keep.events[i] && correlation_of(f, &t->events[i], keys, &id)) map_put(&wanted, id, 1);
  for (tk_id i = 1; ok && i <= t->n_events; i++) {
    if (f->keep.events[i] || !correlation_of(f, &t->events[i], keys, &id) || !map_get(&wanted, id)) continue;
    if (!linked[i] || !map_get(&shared, id)) f->keep.events[i] = in_window(f, &t->events[i]);
  }
  map_free(&wanted);
  map_free(&shared);
  mem_free(f->mem, linked);
  return ok && !f->mem->failed;
}

static bool keep_relatives(struct filter *f) {
  const struct tk_filter_options *o = f->opt;
  if (o->keep_children) keep_children(f);
  if (o->keep_flows && !(keep_whole_flows(f) && keep_correlated(f))) return false;
  if (!o->keep_parents) return true;
  bool *wanted = mem_alloc(f->mem, UINT16_MAX + 2);
  if (!wanted) return false;
  keep_parents(f, wanted);
  mem_free(f->mem, wanted);
  return true;
}

/* ---- marking ---- */

static bool any_dropped(const struct filter *f) { return f->match.root || f->scope.narrowed || f->plan->part_of; }

/* True if the filter selects by time only. */
static bool cuts_only(const struct filter *f) { return !f->match.root && !f->plan->part_of && !f->opt->drop_flows; }

static bool passes(const struct filter *f, tk_id event) {
  const struct tk_event *e = &f->t->events[event];
  return wants_track(f, e->track) && in_window(f, e) && match_event(&f->match, event);
}

/* Drops all flow points if requested. Otherwise drops points that are not bound to an event, if no event on their track can match or if
 * they are outside the window. */
static void mark_points(struct filter *f) {
  struct tk_trace *t = f->t;
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *p = &t->flow_points[i];
    if (f->opt->drop_flows) f->keep.points[i] = 0;
    else if (p->bound) continue;
    else if (!wants_track(f, p->at)) f->keep.points[i] = 0;
    else if (f->scope.narrowed && (p->ts < f->scope.window.start || p->ts >= f->scope.window.end)) f->keep.points[i] = 0;
    else if (f->match.root && match_track(&f->match, p->at) == NO) f->keep.points[i] = 0;
  }
}

/* Drops records by track and time only, because the filter does not interpret their contents. */
static void mark_records(struct filter *f) {
  struct tk_trace *t = f->t;
  for (tk_id i = 1; i <= t->n_records; i++) {
    const struct tk_record *r = &t->records[i];
    if (r->phase == 'M') continue;
    if (r->track && !wants_track(f, r->track)) f->keep.records[i] = 0;
    if (f->scope.narrowed && r->has_ts) f->keep.records[i] = r->ts >= f->scope.window.start && r->ts < f->scope.window.end;
    const bool is_empty = !r->track && !r->size; /* JAX ends its events array with an empty record: {} */
    if (f->match.root && !is_empty && (!r->track || match_track(&f->match, r->track) != YES)) f->keep.records[i] = 0;
  }
}

/* Drops the tracks on which no event can match because of the track's name, process or rank. This matters for tracks without events. */
static void mark_tracks(struct filter *f) {
  for (tk_id i = 1; i <= f->t->n_tracks; i++)
    f->keep.tracks[i] = match_track(&f->match, i) != NO && wants_track(f, i);
}

static bool mark_events(struct filter *f, struct tk_err *err) {
  static const tk_id TICK = 1 << 14;
  const struct tk_progress p = f->opt->progress;
  for (tk_id i = 1; i <= f->t->n_events; i++) {
    f->keep.events[i] = passes(f, i);
    if (i % TICK) continue;
    if (p.tick && !p.tick(p.arg, i, f->t->n_events)) return err_set(err, TK_EINTERRUPTED, "interrupted");
    if (!match_check(&f->match, err)) return false;
  }
  return true;
}

static bool mark_all(struct filter *f, struct tk_err *err) {
  if (any_dropped(f) && !mark_events(f, err)) return false;
  keep_left_edge(f);
  keep_state(f);
  mark_points(f);
  mark_records(f);
  mark_tracks(f);
  return match_check(&f->match, err) && (!any_dropped(f) || keep_relatives(f));
}

/* True if the filter selects by time only and its window contains passthrough data (data that only its original format understands). */
static bool keeps_passthrough(const struct filter *f) {
  const struct format *format = f->t->format ? format_by_name(f->t->format) : NULL;
  const struct trace_cut range = {f->scope.window.start, f->scope.window.end};
  struct trace_cut found;
  return cuts_only(f) && format && format->passthrough_times && format->passthrough_times(f->t, range, &found);
}

static bool is_earlier_state(const struct filter *f, const struct tk_event *e) {
  return f->scope.narrowed && e->kind == TK_EVENT_INSTANT && e->ts < f->scope.window.start;
}

/* Returns true with err set if no event is kept, although the trace has events. Ignores instants that describe the state before
 * the window and, if the window is outside the trace, counter samples that are kept for the start of the window. */
static bool is_refused(struct filter *f, struct tk_err *err) {
  const struct nothing n = {.t = f->t, .match = &f->match, .scope = &f->scope, .where = f->opt->where};
  const struct window_frame all = window_frame(f->t);
  if (!f->opt->refuse_empty || !f->t->n_events) return false;
  bool past = f->scope.narrowed && (f->scope.window.start > all.end || f->scope.window.end < all.start);
  for (tk_id i = 1; i <= f->t->n_events && !past; i++)
    if (f->keep.events[i] && !is_earlier_state(f, &f->t->events[i])) return false;
  if (keeps_passthrough(f)) return false;
  return !nothing_say(&n, err);
}

/* ---- clipping ---- */

static void say_clipped(struct tk_trace *to, struct tk_event *e, const char *edge) {
  struct tk_args it = tk_args_of(to, e->args);
  struct tk_arg arg;
  args_begin(to);
  while (tk_args_next(&it, &arg))
    if (arg.key != KEY_CLIPPED && !strip_is_bare(to, &arg)) args_copy(to, &arg);
    else if (arg.key == KEY_CLIPPED && strcmp(tk_string(to, arg.s, NULL), edge) != 0) edge = "both";
  args_str(to, KEY_CLIPPED, TK_ARG_STR, trace_text(to, edge));
  e->args = args_end(to);
}

static bool clip_event(struct tk_trace *to, struct tk_event *e, struct window w) {
  tk_time end = e->ts + e->dur;
  bool left = e->ts < w.start, right = e->kind == TK_EVENT_SPAN && end > w.end;
  if (!left && !right) return false;
  if (left) e->ts = w.start;
  if (right) end = w.end;
  e->flags |= TK_FLAG_CLIPPED;
  if (e->kind != TK_EVENT_SPAN) return true; /* a counter has no duration, and its args are its series */
  e->dur = end - e->ts;
  say_clipped(to, e, left && right ? "both" : left ? "start" : "end");
  return true;
}

/* Clips each kept event to the window that applies to it. Uses only the ids of the input events, because the rest of the input
 * may have been overwritten. */
static void clip_events(struct filter *f, struct tk_trace *to) {
  const struct scope *s = &f->scope;
  tk_id now = 0;
  for (tk_id i = 1; i <= f->keep.n_events; i++) {
    if (!f->keep.events[i]) continue;
    const bool launched = s->steps && s->steps->decided_by && s->steps->decided_by[i] != i;
    f->report->clipped += clip_event(to, &to->events[++now], launched ? s->time : s->window);
  }
}

/* Clips spans to the window, and flow points to their spans. */
static bool clip(struct filter *f, struct tk_trace *to) {
  bool moved = false;
  clip_events(f, to);
  for (tk_id i = 1; i <= to->n_flow_points; i++) {
    struct tk_flow_point *p = &to->flow_points[i];
    const struct tk_event *e = &to->events[p->bound ? p->at : 0];
    tk_time ts = p->ts;
    if (!p->bound || !(e->flags & TK_FLAG_CLIPPED)) continue;
    if (ts < e->ts) ts = e->ts;
    if (ts > e->ts + e->dur) ts = e->ts + e->dur;
    moved |= ts != p->ts;
    p->ts = ts;
  }
  return !moved || seal_order_flows(to);
}

/* ---- args ---- */

static bool any_glob(const char *const *globs, const char *text) {
  for (; globs && *globs; globs++)
    if (glob_matches(*globs, text)) return true;
  return false;
}

static bool wants_arg(const struct tk_filter_options *o, const char *key) {
  if (key_is_reserved(key)) return true;
  return !any_glob(o->drop_args, key) && (!o->keep_args || any_glob(o->keep_args, key));
}

static bool drop_args(struct tk_trace *to, const struct tk_filter_options *o, struct mem *mem) {
  uint32_t n = to->store->strings.n;
  if (!o->drop_args && !o->keep_args) return true;
  uint8_t *goes = mem_zeros(mem, (uint64_t)n + 1, 1);
  if (!goes) return false;
  for (uint32_t i = 1; i <= to->store->n_shapes; i++)
    for (uint32_t k = 0; k < to->store->shapes[i]->n; k++) {
      tk_id key = to->store->shapes[i]->fields[k].key;
      goes[key] = !wants_arg(o, tk_string(to, key, NULL));
    }
  for (tk_id i = 1; i <= to->n_events; i++)
    if (to->events[i].kind != TK_EVENT_COUNTER && to->events[i].kind != TK_EVENT_SAMPLE) /* the args of a counter are its series */
      to->events[i].args = strip_args(to, to->events[i].args, goes);
  for (tk_id i = 1; i <= to->n_flow_points; i++) to->flow_points[i].args = strip_args(to, to->flow_points[i].args, goes);
  for (tk_id i = 1; i <= to->n_classes; i++) to->classes[i].args = strip_args(to, to->classes[i].args, goes);
  mem_free(mem, goes);
  return true;
}

/* ---- entry points ---- */

static bool filter_trace(struct filter *f, struct tk_trace *to, struct tk_err *err) {
  struct subset_losses kept = {0};
  const uint64_t points = f->t->n_flow_points + f->t->store->early.points;
  const tk_id records = f->t->n_records;
  const uint64_t events = f->t->n_events + f->t->store->early.events;
  const unsigned edits = f->t->edits;
  const tk_id cut = f->t->cut;
  if (!subset_init(&f->keep, f->t, f->mem) || !mark_all(f, err) || is_refused(f, err) ||
      !subset_take(f->t, &f->keep, to, &kept, err)) return false;
  if (f->scope.narrowed && !clip(f, to)) return false;
  if (f->scope.narrowed && !cuts_only(f)) trace_mark_dropped(to); /* passthrough data may describe times outside the window */
  else if (f->scope.narrowed) trace_mark_cut(to, edits, cut, (struct trace_cut){f->scope.window.start, f->scope.window.end});
  if (!drop_args(to, f->opt, f->mem)) return false;
  if (to->edits & TK_EDIT_DROPPED && !frames_prune(to, err)) return false;
  f->report->events_before += events;
  f->report->events += to->n_events;
  f->report->points_before += points;
  f->report->points += to->n_flow_points;
  f->report->records_dropped += records - to->n_records;
  f->report->broken_flows += kept.broken_flows;
  return true;
}

bool op_filter(struct tk_trace *t, struct tk_trace *to, const struct filter_plan *plan, struct tk_filter_report *report,
               struct tk_err *err) {
  struct filter f = {
    .t = t, .opt = plan->opt, .plan = plan, .report = report, .mem = &t->store->mem, .scope = SCOPE_ALL
  };
  if (plan->match) f.match = *plan->match;
  bool ok = plan->match || match_init(&f.match, t, plan->opt->where, plan->origins, f.mem, err);
  ok = ok && find_window(&f, err) && filter_trace(&f, to, err);
  if (f.keep.mem) subset_free(&f.keep);
  if (!plan->match) match_free(&f.match);
  if (ok) return mem_check(f.mem, err);
  return mem_check(f.mem, err) && err_set(err, TK_ELIMIT, "out of memory");
}

bool tk_filter_check(const struct tk_filter_options *opt, struct tk_err *err) {
  struct mem mem = {0};
  uint32_t n_tests = 0;
  struct tk_filter_options options;
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (!TAKE_OPTIONS(&options, opt, err)) return false;
  opt = &options;
  for (const char *const *where = opt->where; where && *where; where++) {
    struct expr *e = expr_parse(*where, &n_tests, &mem, err);
    if (!e) return err_prefix(err, "filter '%.200s'", *where);
    expr_free(e);
  }
  if (opt->time && !window_check(opt->time, err)) return false;
  return !opt->steps || window_check_steps(opt->steps, err);
}
