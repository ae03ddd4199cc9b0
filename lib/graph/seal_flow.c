/* seal_flow.c - sorts flow points by time and binds each to its span.
 *
 * A point binds to the innermost span of its thread that has begun and not ended before it (its end still counts); an end without
 * "bp":"e" binds to the next span that starts.  A point that finds none stays on its track, so that a dangling end survives. */
#include <stdio.h>
#include <string.h>

#include "chain.h"
#include "seal.h"

struct point_key {
  tk_time ts;
  uint32_t flow;
  uint32_t rank;
};

static uint32_t rank_of(const struct tk_flow_point *f) {
  static const uint8_t ranks[] = {[TK_FLOW_START] = 0, [TK_FLOW_OUT] = 0, [TK_FLOW_STEP] = 1,
                                  [TK_FLOW_INOUT] = 1, [TK_FLOW_END] = 2, [TK_FLOW_IN] = 2};
  return ranks[f->role];
}

static bool after(const struct point_key *a, const struct point_key *b) {
  return a->ts != b->ts ? a->ts > b->ts : a->rank > b->rank;
}

/* Bottom-up merge sort that skips what is in order already. */
static struct point_key *sort_points(struct point_key *a, struct point_key *spare, uint32_t n) {
  for (uint64_t width = 1; width < n; width *= 2) {
    for (uint64_t lo = 0; lo < n; lo += 2 * width) {
      uint64_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n, i = lo, j = mid, to = lo;
      if (mid == hi || !after(&a[mid - 1], &a[mid])) {
        memcpy(spare + lo, a + lo, (size_t)(hi - lo) * sizeof *a);
        continue;
      }
      while (i < mid || j < hi) spare[to++] = j >= hi || (i < mid && !after(&a[i], &a[j])) ? a[i++] : a[j++];
    }
    struct point_key *swap = a;
    a = spare;
    spare = swap;
  }
  return a;
}

/* a[i] becomes what a[from[i]] was, cycle by cycle: a second array would be the peak of reading. */
static void permute(struct tk_flow_point *a, uint32_t *from, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    struct tk_flow_point first = a[i];
    uint32_t to = i;
    while (from[to] != i) {
      uint32_t next = from[to];
      a[to] = a[next];
      from[to] = to;
      to = next;
    }
    a[to] = first;
    from[to] = to;
  }
}

/* The order that sorting found becomes the array's. */
static void reorder(struct tk_trace *t, struct point_key *keys, struct point_key *spare) {
  const struct point_key *sorted = sort_points(keys, spare, t->n_flow_points);
  uint32_t *from = (void *)(sorted == keys ? spare : keys); /* closer together: following a cycle waits for each of its steps */
  for (uint32_t i = 0; i < t->n_flow_points; i++) from[i] = sorted[i].flow - 1;
  permute(t->flow_points + 1, from, t->n_flow_points);
}

/* Flow points in time order become the array's order. */
bool seal_order_flows(struct tk_trace *t) {
  struct mem *m = &t->store->mem;
  uint32_t n = t->n_flow_points;
  size_t bytes = ((size_t)n + 1) * sizeof(struct point_key);
  struct point_key *keys = mem_alloc(m, bytes), *spare = mem_alloc(m, bytes);
  bool in_order = true, ok = keys && spare;
  for (uint32_t i = 0; ok && i < n; i++) {
    keys[i] = (struct point_key){t->flow_points[i + 1].ts, i + 1, rank_of(&t->flow_points[i + 1])};
    if (i && after(&keys[i - 1], &keys[i])) in_order = false;
  }
  if (ok && !in_order) reorder(t, keys, spare);
  mem_free(m, keys);
  mem_free(m, spare);
  return ok;
}

/* One track's spans swept along its points, both in time order. */
struct binder {
  struct tk_trace *t;
  const struct tk_track *track;
  tk_id *stack;
  uint32_t n;
  uint32_t next; /* event of the track not swept yet */
};

static void advance(struct binder *b, tk_time ts) {
  for (; b->next < b->track->count; b->next++) {
    tk_id id = b->track->first + b->next;
    const struct tk_event *e = &b->t->events[id];
    if (e->ts > ts) return;
    if (e->kind != TK_SPAN || e->flags & TK_LOST_CLOCK) continue;
    while (b->n && b->t->events[b->stack[b->n - 1]].ts + b->t->events[b->stack[b->n - 1]].dur <= e->ts) b->n--;
    b->stack[b->n++] = id;
  }
}

static tk_id enclosing(struct binder *b, tk_time ts) {
  advance(b, ts);
  for (uint32_t i = b->n; i-- > 0;) {
    const struct tk_event *e = &b->t->events[b->stack[i]];
    if (e->ts + e->dur >= ts) return b->stack[i];
  }
  return 0;
}

static tk_id next_span(struct binder *b, tk_time ts) {
  uint32_t lo = 0, hi = b->track->count;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (b->t->events[b->track->first + mid].ts < ts) lo = mid + 1;
    else hi = mid;
  }
  for (; lo < b->track->count; lo++)
    if (b->t->events[b->track->first + lo].kind == TK_SPAN) return b->track->first + lo;
  return 0;
}

static void bind(struct binder *b, struct tk_flow_point *f) {
  tk_id id = f->role == TK_FLOW_END && !f->enclosing ? next_span(b, f->ts) : enclosing(b, f->ts);
  if (!id) return;
  f->at = id;
  f->bound = true;
}

/* Points by track: a counting sort keeps their time order. */
static bool bind_all(struct tk_trace *t) {
  struct mem *m = &t->store->mem;
  uint32_t n = t->n_flow_points, most = 0, at = 0;
  uint32_t *by_track = mem_array(m, (uint64_t)n + 1, sizeof *by_track);
  for (tk_id k = 1; k <= t->n_tracks; k++) {
    t->tracks[k].n_points = 0;
    if (t->tracks[k].count > most) most = t->tracks[k].count;
  }
  tk_id *stack = mem_array(m, (uint64_t)most + 1, sizeof *stack);
  uint32_t *start = mem_array(m, (uint64_t)t->n_tracks + 2, sizeof *start);
  bool ok = by_track && stack && start;
  for (tk_id i = 1; i <= n; i++) t->tracks[tk_flow_point_track(t, &t->flow_points[i])].n_points += 1;
  for (tk_id k = 0; ok && k <= t->n_tracks; k++) {
    start[k] = at;
    at += t->tracks[k].n_points;
  }
  t->tracks[0].n_points = 0;
  for (tk_id i = 1; ok && i <= n; i++) by_track[start[tk_flow_point_track(t, &t->flow_points[i])]++] = i;
  for (tk_id k = 1; ok && k <= t->n_tracks; k++) {
    struct binder b = {t, &t->tracks[k], stack, 0, 0};
    for (uint32_t i = start[k] - t->tracks[k].n_points; i < start[k]; i++)
      if (!t->flow_points[by_track[i]].bound) bind(&b, &t->flow_points[by_track[i]]);
  }
  mem_free(m, by_track);
  mem_free(m, stack);
  mem_free(m, start);
  return ok;
}

/* A flow that ends before it begins: two clocks that disagree.  Nothing is moved; the reader is told how far they are apart. */
static bool note_backward(struct tk_trace *t) {
  struct chains waiting; /* a chain's start, or the end that no start precedes */
  char text[128], worst[32];
  tk_time most = 0;
  uint64_t n = 0;
  if (!chains_init(&waiting, t, &t->store->mem)) return false;
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    tk_id *met = chains_of(&waiting, f);
    if (*met && flow_starts(f) && !flow_starts(&t->flow_points[*met])) {
      n++;
      if (f->ts - t->flow_points[*met].ts > most) most = f->ts - t->flow_points[*met].ts;
    }
    if (!*met || flow_starts(f)) *met = i;
  }
  chains_free(&waiting);
  if (!n || !most) return !t->store->mem.failed;
  tk_print_duration(most, worst);
  snprintf(text, sizeof text, "flows that end before they begin (clock skew?), by up to %s", worst);
  trace_note(t, TK_NOTE_FACT, UINT64_MAX, text);
  t->notes[t->n_notes].count = n;
  return true;
}

bool seal_flows(struct tk_trace *t) {
  if (t->n_flow_points == 0) return true;
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    struct tk_flow_point *f = &t->flow_points[i];
    if (f->bound) f->ts = t->events[f->at].ts;
  }
  return seal_order_flows(t) && bind_all(t) && note_backward(t);
}
