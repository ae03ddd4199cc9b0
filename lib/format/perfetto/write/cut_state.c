/* cut_state.c - finds the events outside of the range that a cut needs (see cut_state.h).
 *
 * An event before the range is needed if it applies at the start: it begins a span that ends later, or states a value. Such events are
 * text of programs (atrace), events in the table of pairs.c, calls of Binder (cut_binder.c), samples, and switches of CPUs.
 *
 * The value of a GPU counter applies to the time before its sample. Importers therefore show it from the time of the sample before, and
 * show the last sample as 0. So the first sample after the range is needed, too. */
#include "cut_state.h"

#include "base/hash.h"
#include "base/keyed.h"
#include "cut_binder.h"
#include "cut_times.h"
#include "format/perfetto/compact.h"
#include "format/perfetto/fields.h"
#include "format/perfetto/marks.h"
#include "format/perfetto/passthrough.h"

/* A sample of a GPU counter. */
struct gpu_sample {
  uint64_t key; /* key of the counter */
  const uint8_t *at; /* content of the packet */
};

struct search {
  struct marks marks; /* before the range */
  struct cut_binder binder;
  struct map gpu_counters; /* counters with samples before the end of the range */
  struct gpu_sample *after; /* samples of GPU counters after the range */
  struct keyed *after_times;
  uint32_t n_after, cap_after, cap_after_times;
};

static void add_mark(struct cut *c, struct search *s, struct mark mark, int64_t ns) {
  const bool is_end = mark.kind == MARK_END; /* an end event exactly at the start of the range counts as before the range */
  if (cut_graph_ps(c, ns) < (i128)c->range.start + is_end) marks_add(&s->marks, mark, ns);
}

static void add_event(struct cut *c, struct search *s, const struct packet_head *h, const struct mark_event *event, int64_t ns) {
  struct mark mark;
  switch (pair_lasting(event->content.number)) {
  case LASTING_NOT: return;
  case LASTING_TEXT:
  case LASTING_PAIR:
    if (mark_of_event(h, event, &mark)) add_mark(c, s, mark, ns);
    return;
  case LASTING_CALL:
    if (cut_graph_ps(c, ns) < (i128)c->range.start) cut_binder_add(&s->binder, event->at, &event->content, h->machine, event->tid, ns);
  }
}

/* The last switch of a bundle before the range: what its CPU runs until the next one. */
struct last_switch {
  const uint8_t *at; /* the event, or the columns that contain it; NULL = none */
  int64_t ns;
};

static void take_switch(const struct cut *c, struct last_switch *last, const uint8_t *at, int64_t ns) {
  if (cut_graph_ps(c, ns) < (i128)c->range.start && (!last->at || ns >= last->ns)) *last = (struct last_switch){at, ns};
}

static void take_columns(const struct cut *c, uint32_t machine, struct head_clock clock, const struct pb_field *columns,
                         struct last_switch *last) {
  struct compact items;
  struct compact_item item;
  int64_t ns;
  compact_read(&items, columns);
  while (compact_next(&items, COMPACT_SWITCHES, &item))
    if (cut_to_trace(c, machine, clock.id, item.time + clock.shift, &ns)) take_switch(c, last, columns->p, ns);
}

/* Adds the events of an ftrace bundle that may apply in the range. A switch in columns is kept by cut_sched.c, so its mark only says
 * that earlier events no longer apply. */
static void add_bundle(struct cut *c, struct search *s, const struct packet_head *h, struct head_clock clock) {
  const uint64_t cpu = head_number(&h->content, FTRACE_CPU, 0);
  struct last_switch last = {.at = NULL};
  struct pb_field f;
  int64_t ns;
  for (struct pb in = pb_inside(&h->content); pb_next(&in, &f);) {
    if (pb_field_key(&f) == PB_KEY(FTRACE_COMPACT, PB_BYTES)) take_columns(c, h->machine, clock, &f, &last);
    if (pb_field_key(&f) != PB_KEY(FTRACE_EVENT, PB_BYTES) || !cut_item_time(c, h, &f, clock, &ns)) continue;
    const struct mark_event event = mark_event(&f, cpu);
    if (event.content.number == FTRACE_SWITCH) take_switch(c, &last, event.at, ns);
    add_event(c, s, h, &event, ns);
  }
  if (last.at) add_mark(c, s, mark_of_switch(h, last.at, cpu), last.ns);
}

/* ---- the sample after the range ---- */

static void add_gpu_sample(struct cut *c, struct search *s, uint64_t key, const uint8_t *at, int64_t ns) {
  if (cut_graph_ps(c, ns) < (i128)c->range.end) {
    map_put(&s->gpu_counters, key, 1);
    return;
  }
  if (!mem_grow(c->mem, (void **)&s->after, &s->cap_after, (uint64_t)s->n_after + 1, sizeof *s->after) ||
      !mem_grow(c->mem, (void **)&s->after_times, &s->cap_after_times, (uint64_t)s->n_after + 1, sizeof *s->after_times)) return;
  s->after_times[s->n_after] = (struct keyed){ns, s->n_after};
  s->after[s->n_after++] = (struct gpu_sample){key, at};
}

/* Adds the samples of a packet. Unless the packet refers to an interned description, importers treat the id of a counter as valid in
 * the trace, and the reader as valid in its sequence. */
static void add_gpu_samples(struct cut *c, struct search *s, const struct packet_head *h, int64_t ns) {
  const uint64_t iid = head_number(&h->content, GPU_COUNTER_IID, 0);
  struct pb in = pb_inside(&h->content);
  struct pb_field f;
  while (pb_next(&in, &f)) {
    if (pb_field_key(&f) != PB_KEY(GPU_COUNTER_SAMPLE, PB_BYTES)) continue;
    const uint64_t key = hash_pair(hash_pair(h->machine, iid), head_number(&f, GPU_SAMPLE_ID, 0));
    add_gpu_sample(c, s, hash_pair(key, h->sequence), h->content.p, ns);
    if (!iid) add_gpu_sample(c, s, key, h->content.p, ns);
  }
}

/* Adds the first sample of each counter after the range to c->open, if the counter has earlier samples. */
static void find_after(struct cut *c, struct search *s) {
  struct keyed *spare = s->n_after ? mem_array(c->mem, s->n_after, sizeof *spare) : NULL;
  const struct keyed *sorted = spare ? keyed_sort(s->after_times, spare, s->n_after) : NULL;
  for (uint32_t i = 0; sorted && i < s->n_after; i++) {
    const struct gpu_sample *sample = &s->after[sorted[i].index];
    uint32_t *waits = map_get(&s->gpu_counters, sample->key);
    if (waits && *waits) map_put(&c->open, (uint64_t)(uintptr_t)sample->at, 1);
    if (waits) *waits = 0;
  }
  mem_free(c->mem, spare);
}

/* ---- all packets ---- */

static void add_packet(struct cut *c, struct search *s, const struct packet_head *h, int64_t ns) {
  struct mark marks[PACKET_MARKS];
  for (uint32_t i = 0, n = marks_of_packet(h, marks); i < n; i++) add_mark(c, s, marks[i], ns);
  if (h->content.number == PACKET_GPU_COUNTER) add_gpu_samples(c, s, h, ns);
}

static void add_marks(struct cut *c, struct search *s, const struct pb_field *packet) {
  struct packet_head h = {.kind = NULL};
  int64_t ns;
  head_read(packet, &h);
  struct cut_sequence *q = cut_sequence_of(c, &h);
  if (!q) return;
  cut_follow_state(q, &h);
  if (h.content.number == PACKET_FTRACE) add_bundle(c, s, &h, cut_bundle_clock(c, &h));
  else if (cut_packet_time(c, q, &h, &ns)) add_packet(c, s, &h, ns);
}

static void scan(struct cut *c, struct search *s, const struct tk_trace *t) {
  struct pb_field packet;
  for (tk_id i = 1; i <= t->n_metas; i++) {
    if (!passthrough_is(t, &t->metas[i], PASSTHROUGH_PACKETS)) continue;
    struct pb in = pb_over(trace_raw(t, t->metas[i].at), (size_t)t->metas[i].size);
    while (pb_next(&in, &packet)) add_marks(c, s, &packet);
  }
}

static void keep_open(struct cut *c, struct marks *m) {
  if (!marks_pair(m)) return;
  for (uint32_t i = 0; i < m->n; i++)
    if (m->of[i].is_open) map_put(&c->open, (uint64_t)(uintptr_t)m->of[i].at, 1);
}

void cut_state_find(struct cut *c, const struct tk_trace *t) {
  struct search s = {.binder.mem = c->mem, .marks.mem = c->mem};
  map_init(&s.gpu_counters, c->mem);
  scan(c, &s, t);
  keep_open(c, &s.marks);
  cut_binder_find(&s.binder, &c->open);
  find_after(c, &s);
  for (uint32_t i = 0; i < c->n_sequences; i++) c->sequences[i].default_clock = 0;
  marks_free(&s.marks);
  mem_free(c->mem, s.after);
  mem_free(c->mem, s.after_times);
  map_free(&s.gpu_counters);
}
