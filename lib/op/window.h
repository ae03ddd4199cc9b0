/* window.h - a range of time as people write it: "+2s..+5s", "-1s..", "10%..20%", "2026-11-20T10:37:52Z..", "1500us..3ms".
 *
 *     +2s       after the first event            -1s      before the last one's end
 *     25%       of the way between the two       1500us   as the file prints its times; a bare number is microseconds
 *     2026-11-20T10:37:52.5Z                     UTC, for traces whose clock is known
 *
 * A side that is left out is open.  The end itself does not belong to the range, unless it is the trace's own end. */
#ifndef OP_WINDOW_H
#define OP_WINDOW_H

#include "graph/steps.h"
#include "graph/trace.h"

struct window {
  tk_time start, end; /* INT64_MIN, INT64_MAX: open */
};

/* A window, and whether anybody asked for one: in any that was asked for, what has lost its clock is not. */
struct scope {
  struct window window;
  bool narrowed;
};
#define SCOPE_ALL ((struct scope){.window = {INT64_MIN, INT64_MAX}})

/* What such times are of: a trace, or several on one timeline. */
struct window_frame {
  tk_time start, end; /* of the first event, of the last one's end; ps from: */
  int64_t origin_ns, zero_ns;
  enum tk_clock clock;
};

struct window_frame window_frame(const struct tk_trace *t);
/* Is it one, of whatever trace?  Whether it ends after it starts only the trace can tell. */
bool window_check(const char *text, struct tk_err *err);
bool window_parse(const char *text, const struct window_frame *f, struct window *w, struct tk_err *err);

/* Narrows it to what both of them hold. */
void scope_narrow(struct scope *s, struct window to);
/* Narrows it to a range of time and to the time of a range of steps, as they are asked for, in words or in numbers.  Steps that the
 * trace has none of are TK_ENOTHING. */
bool scope_select(struct scope *s, const struct tk_trace *t, const struct steps *of, const struct tk_selection *by,
                  struct tk_err *err);
/* Is it a range of steps, of whatever trace? */
bool window_check_steps(const char *steps, struct tk_err *err);

/* Does the event lie in the window, or a part of the span? */
static inline bool scope_holds(const struct scope *s, const struct tk_event *e) {
  if (!s->narrowed) return true;
  if (e->flags & TK_LOST_CLOCK || e->ts >= s->window.end) return false;
  return e->ts >= s->window.start || (e->kind == TK_SPAN && e->ts + e->dur > s->window.start);
}

#endif
