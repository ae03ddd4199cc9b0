/* cut_times.c - see cut_times.h. */
#include "cut_times.h"

#include "format/perfetto/fields.h"

/* ---- times ---- */

i128 cut_graph_ps(const struct cut *c, int64_t ns) {
  const int64_t since = num_sub(ns, c->base_ns);
  return (i128)(c->warp ? warp_ns(c->warp, since) : since) * 1000;
}

enum side cut_side_of(const struct cut *c, int64_t ns, uint64_t dur_ns) {
  const int64_t dur = dur_ns > INT64_MAX ? INT64_MAX : (int64_t)dur_ns;
  const i128 ps = cut_graph_ps(c, ns), end = dur ? cut_graph_ps(c, num_add(ns, dur)) : ps;
  if (ps >= c->range.end) return AFTER;
  return ps >= c->range.start || end > c->range.start ? INSIDE : BEFORE;
}

struct head_clock cut_bundle_clock(const struct cut *c, const struct packet_head *h) {
  int64_t ns;
  return head_bundle_clock(h, cut_to_trace(c, h->machine, CLOCK_MONOTONIC_RAW, 0, &ns));
}

bool cut_item_time(const struct cut *c, const struct packet_head *h, const struct pb_field *item, struct head_clock clock,
                      int64_t *ns) {
  struct pb in = pb_inside(item);
  struct pb_field f;
  while (pb_next(&in, &f)) {
    if (pb_field_key(&f) != PB_KEY(h->kind->time, PB_VARINT)) continue;
    return cut_to_trace(c, h->machine, clock.id, f.value * h->kind->unit + clock.shift, ns);
  }
  return false;
}

/* ---- sequences ---- */

struct cut_sequence *cut_sequence_of(struct cut *c, const struct packet_head *h) {
  uint32_t *at = map_put(&c->index, (uint64_t)h->machine << 32 | (uint32_t)h->sequence, 0);
  if (!at) return NULL;
  if (*at) return &c->sequences[*at - 1];
  if (!mem_grow(c->mem, (void **)&c->sequences, &c->cap_sequences, (uint64_t)c->n_sequences + 1, sizeof *c->sequences)) return NULL;
  c->sequences[c->n_sequences] = (struct cut_sequence){.state = {.mem = c->mem}};
  *at = ++c->n_sequences;
  return &c->sequences[*at - 1];
}

void cut_follow_state(struct cut_sequence *q, const struct packet_head *h) {
  if (h->flags & SEQUENCE_CLEARED) {
    q->state.len = 0;
    q->default_clock = 0;
  }
  if (h->defaults.p) q->default_clock = (uint32_t)head_number(&h->defaults, DEFAULTS_TIMESTAMP_CLOCK_ID, 0);
}
