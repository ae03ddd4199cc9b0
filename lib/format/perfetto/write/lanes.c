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

void lanes_close_slices(struct perfetto_sink *s, uint32_t height) {
  while (s->n_stack > height) {
    const struct open_span *o = &s->stack[--s->n_stack];
    if (!o->endless) event_slice_end(&s->w, o->event, o->end_ns);
  }
}

/* Pushes a span. If it ends later than its parent because of rounding, its end is set to the parent's end. */
void lanes_open_slices(struct perfetto_sink *s, tk_id id) {
  const struct tk_event *e = &s->t->events[id];
  struct open_span o = {.event = id, .end_ns = writer_ns(&s->w, e->ts + e->dur), .endless = (e->flags & TK_FLAG_UNFINISHED) != 0};
  const struct open_span *up = s->n_stack ? &s->stack[s->n_stack - 1] : NULL;
  if (up && !up->endless && o.end_ns > up->end_ns) o.end_ns = up->end_ns;
  event_slice_begin(&s->w, id);
  if (mem_grow(&s->mem, (void **)&s->stack, &s->cap_stack, (uint64_t)s->n_stack + 1, sizeof o)) s->stack[s->n_stack++] = o;
}
