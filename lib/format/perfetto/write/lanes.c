/* lanes.c - assigns lanes, and keeps the stack of the current lane.
 *
 * On a Perfetto track, all spans nest, so a span that ends later than its parent is written on a separate lane with the same
 * name. */
#include "lanes.h"
#include "writer.h"
#include "event.h"

uint64_t lanes_take(struct heap *lanes, tk_time ts, tk_time end) {
  uint64_t uuid;
  if (lanes->n == 0 || lanes->items[0].time > ts) return 0;
  uuid = lanes->items[0].value;
  heap_replace_top(lanes, (struct heap_item){.time = end, .value = uuid});
  return uuid;
}

void lanes_add(struct heap *lanes, uint64_t uuid, tk_time end) {
  heap_push(lanes, (struct heap_item){.time = end, .value = uuid});
}

/* ---- the stack ---- */

void lanes_close_slices(struct event_writer *w, struct open_spans *stack, uint32_t height) {
  while (stack->n > height) {
    const struct open_span *o = &stack->v[--stack->n];
    if (!o->endless) event_slice_end(w, o->event, o->end_ns);
  }
}

void lanes_push(const struct event_writer *w, struct open_spans *stack, tk_id id) {
  const struct tk_event *e = &w->t->events[id];
  struct open_span o = {.event = id, .end_ns = writer_ns(w, e->ts + e->dur), .endless = (e->flags & TK_FLAG_UNFINISHED) != 0};
  const struct open_span *up = stack->n ? &stack->v[stack->n - 1] : NULL;
  if (up && !up->endless && o.end_ns > up->end_ns) o.end_ns = up->end_ns;
  if (mem_grow(w->mem, (void **)&stack->v, &stack->cap, (uint64_t)stack->n + 1, sizeof o)) stack->v[stack->n++] = o;
}

void lanes_open_slices(struct event_writer *w, struct open_spans *stack, tk_id id) {
  event_slice_begin(w, id);
  lanes_push(w, stack, id);
}
