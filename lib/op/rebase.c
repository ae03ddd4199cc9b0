/* rebase.c - moves a trace in time: changes the zero of its printed times, or the times themselves.
 *
 * If a trace has a real-time clock, changing the zero keeps absolute times, because baseTimeNanoseconds changes as well. A shift, a
 * scale, and any change on another clock move the events. The zero and the origin are whole nanoseconds: they take the whole
 * nanoseconds of a move, and only the remaining picoseconds are added to the times of events. So moving a trace and moving it back is
 * exact to the picosecond. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/options.h"
#include "base/glob.h"
#include "base/order.h"
#include "graph/seal.h"
#include "window.h"

static bool beyond(struct tk_err *err) { return err_set(err, TK_EUSAGE, "the shift exceeds the range of 64-bit times"); }

/* ---- moving ---- */

static bool shift_ts(tk_time *ts, tk_time dur, tk_time by) {
  i128 moved = (i128)*ts + by;
  if (moved > INT64_MAX - dur || moved < INT64_MIN) return false;
  *ts = (tk_time)moved;
  return true;
}

/* Adds `by` to the times of all events, flow points and records; usually less than a nanosecond. */
static bool shift_events(struct tk_trace *t, tk_time by, struct tk_err *err) {
  bool ok = true;
  for (tk_id i = 1; by && i <= t->n_events; i++) ok &= shift_ts(&t->events[i].ts, t->events[i].dur, by);
  for (tk_id i = 1; by && i <= t->n_flow_points; i++) ok &= shift_ts(&t->flow_points[i].ts, 0, by);
  for (tk_id i = 1; by && i <= t->n_records; i++)
    if (t->records[i].has_ts) ok &= shift_ts(&t->records[i].ts, 0, by);
  return ok || beyond(err);
}

static bool add_ns(int64_t *ns, i128 by, struct tk_err *err) {
  i128 sum = *ns + by;
  if (sum > INT64_MAX || sum < INT64_MIN) return beyond(err);
  *ns = (int64_t)sum;
  return true;
}

static bool move_events(struct tk_trace *t, i128 by, struct tk_err *err) {
  return add_ns(&t->origin_ns, by / 1000, err) && shift_events(t, (tk_time)(by % 1000), err);
}

/* ---- zero of printed times ---- */

/* Increases printed times by `by` ps. */
static bool print_later(struct tk_trace *t, i128 by, struct tk_err *err) {
  if (t->clock != TK_CLOCK_REALTIME) return move_events(t, by, err);
  t->has_zero = true;
  return add_ns(&t->zero_ns, -(by / 1000), err) && shift_events(t, (tk_time)(by % 1000), err);
}

static i128 printed(const struct tk_trace *t, tk_time ts) { return ((i128)t->origin_ns - t->zero_ns) * 1000 + ts; }

/* ---- options ---- */

/* Finds the start of the nth event, in order of time, whose name matches the glob `name`. */
static bool find_event(const struct tk_trace *t, const char *name, uint32_t nth, tk_time *ts, struct tk_err *err) {
  struct mem mem = {0};
  tk_time *starts = NULL;
  uint32_t n = 0, cap = 0;
  bool ok = true;
  for (tk_id i = 1; ok && i <= t->n_events; i++) {
    const char *own = tk_string(t, t->classes[t->events[i].cls].name, NULL);
    if (t->events[i].flags & TK_FLAG_LOST_CLOCK || (strcmp(own, name) != 0 && !glob_matches(name, own))) continue;
    ok = mem_grow(&mem, (void **)&starts, &cap, (uint64_t)n + 1, sizeof *starts);
    if (ok) starts[n++] = t->events[i].ts;
  }
  if (!ok) mem_check(&mem, err);
  else if (n == 0) ok = err_set(err, TK_ENOTHING, "nothing matched: no event has the name '%s'", name);
  else if (nth > n) ok = err_set(err, TK_ENOTHING, "nothing matched: only %u events have the name '%s'", n, name);
  if (ok) {
    qsort(starts, n, sizeof *starts, order_int64);
    *ts = starts[nth ? nth - 1 : 0];
  }
  mem_free(&mem, starts);
  return ok;
}

static bool parse_texts(struct tk_rebase_options *o, struct tk_total *to, struct tk_err *err) {
  if (o->to && !tk_parse_time(o->to, to))
    return err_set(err, TK_EUSAGE, "invalid time '%s'; expected microseconds, or a number with a unit", o->to);
  if (o->to) o->to_time = to;
  return !o->scale || tk_parse_scale(o->scale, &o->scale_factor) ||
         err_set(err, TK_EUSAGE, "invalid scale '%s'; expected a scale such as 0.99998 or -20ppm", o->scale);
}

static i128 stretched(tk_time ts, tk_time about, i128 factor) {
  i128 p = ((i128)ts - about) * factor, half = 500000000000;
  return about + (p + (p < 0 ? -half : half)) / 1000000000000;
}

/* Multiplies all times, relative to the start of the first event, by factor / 10^12. Rounds the start and end of each span, rather than
 * its duration, so that nesting is preserved. */
static bool scale_events(struct tk_trace *t, i128 factor, struct tk_err *err) {
  i128 last = 0;
  tk_time start, end;
  trace_extent(t, &start, &end);
  last = stretched(end, start, factor);
  if (last > INT64_MAX) return beyond(err);
  for (tk_id i = 1; i <= t->n_events; i++) {
    struct tk_event *e = &t->events[i];
    if (e->flags & TK_FLAG_LOST_CLOCK) continue;
    i128 from = stretched(e->ts, start, factor), to = stretched(e->ts + e->dur, start, factor);
    e->ts = (tk_time)from;
    e->dur = (tk_time)(to - from);
  }
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    i128 ts = stretched(t->flow_points[i].ts, start, factor);
    if (ts > INT64_MAX || ts < INT64_MIN) return beyond(err);
    t->flow_points[i].ts = (tk_time)ts;
  }
  for (tk_id i = 1; i <= t->n_records; i++) {
    i128 ts = stretched(t->records[i].ts, start, factor);
    if (!t->records[i].has_ts) continue;
    if (ts > INT64_MAX || ts < INT64_MIN) return beyond(err);
    t->records[i].ts = (tk_time)ts;
  }
  return true;
}

static bool to_base(struct tk_trace *t, int64_t base_ns, struct tk_err *err) {
  if (t->clock != TK_CLOCK_REALTIME) return add_ns(&t->origin_ns, -(i128)base_ns, err);
  t->has_zero = true;
  t->zero_ns = base_ns;
  return true;
}

static bool to_epoch(struct tk_trace *t, struct tk_err *err) {
  if (t->clock != TK_CLOCK_REALTIME) return err_set(err, TK_EUSAGE, "the trace does not record absolute time");
  t->has_zero = false;
  t->zero_ns = 0;
  return true;
}

static bool check_rebase(const struct tk_rebase_options *o, struct tk_err *err) {
  const int64_t one = 1000000000000;
  int places = o->to_zero + (o->to || o->to_time) + (o->at != NULL) + o->absolute + o->has_base;
  if (places > 1 || (o->to && o->to_time)) return err_set(err, TK_EUSAGE, "more than one target given");
  if (o->scale && o->scale_factor) return err_set(err, TK_EUSAGE, "more than one scale given");
  if (o->nth && !o->at) return err_set(err, TK_EUSAGE, "selecting the Nth event needs the name of the event");
  if (o->scale_factor && (o->scale_factor < one / 1000000 || o->scale_factor > one * 1000000))
    return err_set(err, TK_EUSAGE, "the scale must be between 0.000001 and 1000000");
  if (places || o->shift || o->scale || o->scale_factor) return true;
  return err_set(err, TK_EUSAGE, "nothing to do: no target, shift or scale given");
}

/* Copies the options, and parses the ones given as text. Stores the time of to_time in *to. */
static bool take_rebase(struct tk_rebase_options *o, struct tk_total *to, const struct tk_rebase_options *given, struct tk_err *err) {
  return options_take(o, sizeof *o, offsetof(struct tk_rebase_options, to_time), given, err) && check_rebase(o, err) &&
         parse_texts(o, to, err);
}

bool tk_rebase_check(const struct tk_rebase_options *opt, struct tk_err *err) {
  struct tk_rebase_options o;
  struct tk_total to;
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  return take_rebase(&o, &to, opt, err);
}

bool tk_rebase(struct tk_trace *t, const struct tk_rebase_options *opt, struct tk_err *err) {
  struct tk_rebase_options options, *const o = &options;
  struct tk_total to;
  struct tk_err own;
  tk_time start, end;
  if (!err) err = &own;
  err_clear(err);
  if (!trace_is_sealed(t, err) || !take_rebase(o, &to, opt, err)) return false;
  t->edits |= TK_EDIT_MOVED;
  if (o->scale_factor) trace_mark_stretched(t, NULL);
  if (o->scale_factor && !scale_events(t, o->scale_factor, err)) return false;
  if (o->shift && !move_events(t, o->shift, err)) return false;
  if (o->absolute) return to_epoch(t, err);
  if (o->has_base) return to_base(t, o->base_ns, err);
  if (!o->to_zero && !o->to_time && !o->at) return true;
  trace_extent(t, &start, &end);
  if (o->at && !find_event(t, o->at, o->nth, &start, err)) return false;
  const i128 at = o->to_time ? (i128)o->to_time->s * 1000000000000 + o->to_time->ps : 0;
  return print_later(t, at - printed(t, start), err);
}
