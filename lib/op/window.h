/* window.h - a time range as people write it: "+2s..+5s", "-1s..", "10%..20%", "2026-11-20T10:37:52Z..", "1500us..3ms".
 *
 *     +2s       after the first event            -1s      before the last one's end
 *     25%       of the way between the two       1500us   as the file prints its times; a bare number is microseconds
 *     2026-11-20T10:37:52.5Z                     UTC, for traces whose clock is known
 *
 * An omitted side is open. The end is exclusive, unless it is the trace's own end. */
#ifndef OP_WINDOW_H
#define OP_WINDOW_H

#include "graph/steps.h"
#include "graph/trace.h"

struct window {
  tk_time start, end; /* INT64_MIN, INT64_MAX = open */
};

/* A window, and whether one was requested: if so, events that lost their clock are outside of it. */
struct scope {
  struct window window;
  bool narrowed;
};
#define SCOPE_ALL ((struct scope){.window = {INT64_MIN, INT64_MAX}})

/* Frame of reference for times: a trace, or several on one timeline. */
struct window_frame {
  tk_time start, end; /* start of the first event, end of the last one; ps from origin_ns */
  int64_t origin_ns, zero_ns;
  enum tk_clock clock;
};

struct window_frame window_frame(const struct tk_trace *t);
/* Checks the syntax of a range. Whether it ends after it starts depends on the trace, and is checked by window_parse. */
bool window_check(const char *text, struct tk_err *err);
bool window_parse(const char *text, const struct window_frame *f, struct window *w, struct tk_err *err);

/* Narrows the scope to its overlap with `to`. */
void window_narrow(struct scope *s, struct window to);
/* Narrows the scope to the selected time range and steps, given as text or as numbers. Fails with TK_ENOTHING if the trace has
 * none of the steps. */
bool window_select(struct scope *s, const struct tk_trace *t, const struct steps *of, const struct tk_selection *by,
                  struct tk_err *err);
/* Checks the syntax of a range of steps. */
bool window_check_steps(const char *steps, struct tk_err *err);

/* True if the event, or a part of the span, is in the window. */
static inline bool scope_holds(const struct scope *s, const struct tk_event *e) {
  if (!s->narrowed) return true;
  if (e->flags & TK_LOST_CLOCK || e->ts >= s->window.end) return false;
  return e->ts >= s->window.start || (e->kind == TK_SPAN && e->ts + e->dur > s->window.start);
}

#endif
