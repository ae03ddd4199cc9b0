/* perfetto_lanes.c - what Perfetto's tracks cannot hold as it stands: spans that overlap, flows with several ends.
 *
 * A track of Perfetto is one stack, so a span that sticks out of another goes to a lane of its own, under the same name.  A flow of
 * Perfetto is a chain, so every arrow gets an id of its own: from a start (or the last step) to each end. */
#include "perfetto_write.h"

/* ---- lanes: a heap by the end of the last span ---- */

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
  mem_resize(l->mem, l->heap, (size_t)l->cap * sizeof *l->heap, 0);
  *l = (struct lanes){.mem = l->mem};
}

/* ---- arrows ---- */

static void add_arrow(struct event_writer *w, struct arrow a) {
  if (!mem_grow(w->mem, (void **)&w->arrows, &w->cap_arrows, (uint64_t)w->n_arrows + 1, sizeof a)) return;
  w->arrows[w->n_arrows++] = a;
}

/* The arrow leaves where its span begins.  If the target has begun by then, the arrow arrives at the target's end. */
static void arrow(struct event_writer *w, tk_id from, tk_id to, uint64_t id) {
  const struct tk_event *a = &w->t->events[from], *b = &w->t->events[to];
  add_arrow(w, (struct arrow){from, false, false, id});
  add_arrow(w, (struct arrow){to, b->ts < a->ts, true, id});
}

static int by_event(const void *a, const void *b) {
  const struct arrow *x = a, *y = b;
  if (x->event != y->event) return x->event < y->event ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

/* Merge sort by hand is not worth it here: arrows come nearly in order and are few. */
#include <stdlib.h>

uint64_t writer_arrows(struct event_writer *w, uint64_t *next_id) {
  const struct tk_trace *t = w->t;
  struct map sources; /* identity -> event that the next arrow leaves from */
  uint64_t lost = 0;
  map_init(&sources, w->mem);
  for (tk_id i = 1; i <= t->n_flows; i++) {
    const struct tk_flow *f = &t->flows[i];
    uint64_t identity = ((uint64_t)f->id << 1 | f->id_is_str) * 0x9e3779b97f4a7c15u + f->cls;
    bool start = f->role == TK_FLOW_START || f->role == TK_FLOW_OUT;
    uint32_t *source = map_put(&sources, identity, 0);
    if (!source) break;
    if (!f->bound || (!start && !*source)) {
      lost++;
      continue;
    }
    if (!start && *source != f->at) arrow(w, *source, f->at, (*next_id)++);
    if (start || f->role == TK_FLOW_STEP || f->role == TK_FLOW_INOUT) *source = f->at;
  }
  map_free(&sources);
  if (w->n_arrows) qsort(w->arrows, w->n_arrows, sizeof *w->arrows, by_event);
  return lost;
}
