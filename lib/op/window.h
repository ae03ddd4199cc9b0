/* window.h - parses time ranges such as "+2s..+5s", "-1s..", "10%..20%", "2026-11-20T10:37:52Z..", "1500us..3ms".
 *
 *     +2s        2 s after the start of the first event
 *     -1s        1 s before the end of the last event
 *     25%        after a quarter of the time from the start of the first event to the end of the last
 *     1500us     time as the file prints it; a bare number is microseconds
 *     2026-11-20T10:37:52.5Z   UTC, for traces whose clock is known
 *
 * An omitted start or end is that of the trace. The end is exclusive, unless it equals the end of the trace. */
#ifndef OP_WINDOW_H
#define OP_WINDOW_H

#include "graph/steps.h"
#include "graph/trace.h"

struct window {
  tk_time start, end; /* INT64_MIN or INT64_MAX = open */
};

/* Time window that selects events. `narrowed`: true if the user requested a time range or steps; events without a clock are then not
 * selected. */
struct scope {
  struct window window;
  struct window time;         /* the time range without the steps; used for work that belongs to the step of its launch */
  bool narrowed, has_steps;   /* has_steps: true if the user selected steps */
  const struct steps *steps;  /* steps linked to the launches of work (step_launches.h); NULL = work is selected by the time at which it
                               * runs */
};
#define SCOPE_ALL ((struct scope){.window = {INT64_MIN, INT64_MAX}, .time = {INT64_MIN, INT64_MAX}})

/* Reference for relative times: times of one trace, or of several traces on one timeline. */
struct window_frame {
  tk_time start, end; /* start of the first event and end of the last event; ps from origin_ns */
  int64_t origin_ns, zero_ns;
  enum tk_clock clock;
};

struct window_frame window_frame(const struct tk_trace *t);
/* Checks the syntax of a range; returns false with err if it is invalid. Does not check that the end is after the start: this depends
 * on the trace, and window_parse checks it. */
bool window_check(const char *text, struct tk_err *err);
/* Parses a range that does not depend on the trace: each end is a time as the file prints it, or is omitted. *w is in ps from the zero
 * of the file. Returns false for other ranges, and for times past 106 days. */
bool window_plain(const char *text, struct window *w);
bool window_parse(const char *text, const struct window_frame *f, struct window *w, struct tk_err *err);

/* Narrows the scope to the overlap with `to`, a range of time. */
void window_narrow(struct scope *s, struct window to);
/* Narrows the scope to the selected time range and steps, which are given as text or as numbers. Returns false with err on failure; the
 * code is TK_ENOTHING if the trace has none of the steps. */
bool window_select(struct scope *s, const struct tk_trace *t, const struct steps *of, const struct tk_selection *by,
                  struct tk_err *err);
/* Checks the syntax of a range of steps. */
bool window_check_steps(const char *steps, struct tk_err *err);

/* True if the scope selects the event by the start of its launch rather than by its own time. */
static inline bool scope_is_launched(const struct scope *s, const struct tk_event *e) {
  return s->steps && steps_is_launched(s->steps, e);
}

/* Returns the time window that applies to the event itself. */
static inline const struct window *scope_window(const struct scope *s, const struct tk_event *e) {
  return scope_is_launched(s, e) ? &s->time : &s->window;
}

/* True if the event's launch starts in the selected steps. The launch must be known. */
static inline bool scope_holds_launch(const struct scope *s, const struct tk_event *e) {
  const struct tk_event *launch = steps_decider(s->steps, e);
  return launch && launch->ts >= s->window.start && launch->ts < s->window.end;
}

/* True if the event, or a part of it if it is a span, is in the window. */
static inline bool scope_holds(const struct scope *s, const struct tk_event *e) {
  if (!s->narrowed) return true;
  const struct window *w = scope_window(s, e);
  if (e->flags & TK_FLAG_LOST_CLOCK || e->ts >= w->end) return false;
  if (w == &s->time && !scope_holds_launch(s, e)) return false;
  return e->ts >= w->start || (e->kind == TK_EVENT_SPAN && e->ts + e->dur > w->start);
}

#endif
