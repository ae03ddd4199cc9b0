/* nest.c - see nest.h. */
#include "nest.h"

#include "event.h"
#include "lanes.h"

/* trace_processor ignores a begin event beyond this depth, so the end event would close another span. */
enum { STACK_MOST = 512 };

/* True if none of the spans on the stack has an end packet that would close this event: each end packet contains another name, or the
 * span never ends. */
static bool ends_pass_over(const struct nest *n, const struct tk_event *e) {
  const struct tk_trace *t = n->w->t;
  tk_id name = t->classes[e->cls].name;
  for (uint32_t i = 0; i < n->stack->n; i++) {
    const struct tk_event *up = &t->events[n->stack->v[i].event];
    tk_id of = t->classes[up->cls].name;
    if (!n->stack->v[i].endless && (!(up->flags & TK_FLAG_END_NAMED) || !of || !name || of == name)) return false;
  }
  return true;
}

/* True if a span cannot be on the stack above the innermost span there. There are two cases. First, the span never ends but the
 * other one does: the end packet of the outer span would then end the inner span, unless the packet names the outer one.
 * Second, the span ends later than its parent, by more than the nanosecond that rounding may cause. */
static bool sticks_out(const struct nest *n, const struct tk_event *e) {
  const struct open_span *up = n->stack->n ? &n->stack->v[n->stack->n - 1] : NULL;
  if (e->flags & TK_FLAG_UNFINISHED) return up && !ends_pass_over(n, e);
  return up && !up->endless && num_sub(writer_ns(n->w, e->ts + e->dur), 1) > up->end_ns;
}

static bool is_deep(const struct nest *n, const struct tk_event *e) {
  return e->kind == TK_EVENT_SPAN && (n->stack->n >= STACK_MOST || sticks_out(n, e));
}

static void close_to(struct nest *n, uint32_t height) {
  if (!n->quiet) lanes_close_slices(n->w, n->stack, height);
  else if (n->stack->n > height) n->stack->n = height;
}

enum nest_result nest_event(struct nest *n, tk_id id) {
  const struct tk_event *e = &n->w->t->events[id];
  if (e->depth > n->skip_below || e->kind == TK_EVENT_SAMPLE) return NEST_DONE;
  n->skip_below = UINT32_MAX;
  close_to(n, e->depth > n->depth ? e->depth - n->depth : 0);
  const bool is_aside = id != n->root && e->flags & NEST_ASIDE, deep = id != n->root && !is_aside && is_deep(n, e);
  if (is_aside || deep) n->skip_below = e->depth;
  else if (e->kind == TK_EVENT_SPAN && n->quiet) lanes_push(n->w, n->stack, id);
  else if (e->kind == TK_EVENT_SPAN) lanes_open_slices(n->w, n->stack, id);
  else if (!n->quiet) event_instant(n->w, id);
  return deep ? NEST_DEEP : NEST_DONE;
}
