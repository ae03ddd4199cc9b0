/* write_lanes.c - lanes, and the stack of the one that is being written.
 *
 * A track of Perfetto is one stack, so a span that sticks out of another goes to a lane of its own, under the same name. */
#include "writer.h"

/* ---- which lane is free: a heap by the end of the last span ---- */

static void sift_down(struct lanes *l, uint32_t i) {
  struct lane moved = l->heap[i];
  for (uint32_t c; (c = 2 * i + 1) < l->n; i = c) {
    if (c + 1 < l->n && l->heap[c + 1].end < l->heap[c].end) c++;
    if (l->heap[c].end >= moved.end) break;
    l->heap[i] = l->heap[c];
  }
  l->heap[i] = moved;
}

uint64_t lanes_take(struct lanes *l, tk_time ts, tk_time end) {
  uint64_t uuid;
  if (l->n == 0 || l->heap[0].end > ts) return 0;
  uuid = l->heap[0].uuid;
  l->heap[0].end = end;
  sift_down(l, 0);
  return uuid;
}

void lanes_add(struct lanes *l, uint64_t uuid, tk_time end) {
  uint32_t i = l->n;
  if (!mem_grow(l->mem, (void **)&l->heap, &l->cap, (uint64_t)l->n + 1, sizeof *l->heap)) return;
  for (l->n++; i && l->heap[(i - 1) / 2].end > end; i = (i - 1) / 2) l->heap[i] = l->heap[(i - 1) / 2];
  l->heap[i] = (struct lane){end, uuid};
}

void lanes_free(struct lanes *l) {
  mem_free(l->mem, l->heap);
  *l = (struct lanes){.mem = l->mem};
}

/* ---- the stack ---- */

void slices_close(struct perfetto_sink *s, uint32_t height) {
  while (s->n_stack > height) {
    const struct open_span *o = &s->stack[--s->n_stack];
    if (!o->endless) writer_slice_end(&s->w, o->event, o->end_ns);
  }
}

/* What sticks out by a rounding is clamped. */
void slices_open(struct perfetto_sink *s, tk_id id) {
  const struct tk_event *e = &s->t->events[id];
  struct open_span o = {.event = id, .end_ns = writer_ns(&s->w, e->ts + e->dur), .endless = (e->flags & TK_UNFINISHED) != 0};
  const struct open_span *up = s->n_stack ? &s->stack[s->n_stack - 1] : NULL;
  if (up && !up->endless && o.end_ns > up->end_ns) o.end_ns = up->end_ns;
  writer_slice_begin(&s->w, id);
  if (mem_grow(&s->mem, (void **)&s->stack, &s->cap_stack, (uint64_t)s->n_stack + 1, sizeof o)) s->stack[s->n_stack++] = o;
}
