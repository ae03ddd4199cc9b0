/* cut_state.c - finds the events outside of the range that a cut needs (see cut_state.h).
 *
 * An event before the range is needed if it applies at the start: it begins a span that ends later, or states a value. Such events are
 * text of programs (atrace), events in the table of pairs.c, calls of Binder (cut_binder.c), samples, and switches of CPUs.
 *
 * The value of a GPU counter applies to the time before its sample. Importers therefore show it from the time of the sample before, and
 * show the last sample as 0. So the first sample after the range is needed, too. */
#include "cut_state.h"

#include <string.h>

#include "base/hash.h"
#include "base/keyed.h"
#include "cut_binder.h"
#include "cut_times.h"
#include "format/perfetto/atrace_text.h"
#include "format/perfetto/compact.h"
#include "format/perfetto/fields.h"
#include "format/perfetto/pairs.h"
#include "format/perfetto/passthrough.h"

/* Kinds of events before the range. Begin and end of a span have the same key, and so do all samples of a counter. */
enum mark_kind { MARK_BEGIN, MARK_BEGIN_ONCE, MARK_END, MARK_SAMPLE };
struct mark {
  uint64_t key;
  const uint8_t *at; /* content of the event or of the packet */
  uint32_t below;    /* 1 + index of the next open begin */
  enum mark_kind kind;
};

/* A sample of a GPU counter. */
struct gpu_sample {
  uint64_t key; /* key of the counter */
  const uint8_t *at; /* content of the packet */
};

struct marks {
  struct cut_binder binder;
  struct mark *of;
  struct keyed *times, *spare;
  struct map gpu_counters; /* counters with samples before the end of the range */
  struct gpu_sample *after; /* samples of GPU counters after the range */
  struct keyed *after_times;
  uint32_t n, cap, cap_times, n_after, cap_after, cap_after_times;
};

static void add_mark(struct cut *c, struct marks *m, struct mark mark, int64_t ns) {
  const bool is_end = mark.kind == MARK_END; /* an end event exactly at the start of the range counts as before the range */
  if (cut_graph_ps(c, ns) >= (i128)c->range.start + is_end) return;
  if (!mem_grow(c->mem, (void **)&m->of, &m->cap, (uint64_t)m->n + 1, sizeof *m->of) ||
      !mem_grow(c->mem, (void **)&m->times, &m->cap_times, (uint64_t)m->n + 1, sizeof *m->times)) return;
  m->times[m->n] = (struct keyed){ns, m->n};
  m->of[m->n++] = mark;
}

/* Returns the key of an event. For spans of a thread it is the number of the thread; for other spans it is the name or track,
 * and their other identifiers. */
static uint64_t key_of_text(const struct packet_head *h, const struct atrace_text *text, uint64_t tid) {
  const bool on_track = text->track.p != NULL, is_counter = text->phase == 'C';
  const struct atrace_part name = on_track ? text->track : text->name;
  if (text->phase == 'B' || text->phase == 'E') return hash_pair(h->machine, tid);
  const uint64_t process = hash_pair(h->machine, (uint64_t)text->pid << 2 | (uint64_t)is_counter << 1 | on_track);
  return hash_pair(hash_pair(hash_bytes(name.p, name.n), is_counter ? 0 : (uint64_t)text->value), process);
}

static bool mark_of_text(const struct packet_head *h, const struct atrace_text *text, uint64_t tid, struct mark *mark) {
  if (text->phase == 'I' || text->phase == 'N') return false;
  mark->key = key_of_text(h, text, tid);
  mark->kind = text->phase == 'C' ? MARK_SAMPLE
               : text->phase == 'S' ? MARK_BEGIN_ONCE
               : strchr("BG", text->phase) ? MARK_BEGIN : MARK_END;
  return true;
}

/* Reads an atrace mark: the text that a program wrote to trace_marker (an ftrace print event), or an event of a driver. */
static bool atrace_of(const struct pb_field *content, struct atrace_text *text) {
  struct pb c = pb_inside(content);
  struct pb_field f;
  if (content->number != FTRACE_PRINT) return atrace_mark(text, content);
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(PRINT_TEXT, PB_BYTES) && atrace_text(text, f.p, (size_t)f.value)) return true;
  return false;
}

/* An ftrace event. */
struct item {
  const uint8_t *at;
  struct pb_field content;
  uint64_t tid, cpu;
};

static struct item read_item(const struct pb_field *event, uint64_t cpu) {
  struct item item = {.at = event->p, .cpu = cpu};
  struct pb c = pb_inside(event);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(FTRACE_EVENT_TID, PB_VARINT)) item.tid = f.value;
    else if (f.wire == PB_BYTES) item.content = f;
  }
  return item;
}

static struct mark mark_of_pair(uint32_t machine, const struct pair *pair, const uint8_t *at) {
  static const enum mark_kind KIND[] = {[PAIR_BEGIN] = MARK_BEGIN, [PAIR_LATEST] = MARK_SAMPLE, [PAIR_END] = MARK_END};
  return (struct mark){.key = hash_pair(machine, pair->key), .at = at, .kind = KIND[pair->role]};
}

static bool mark_of_item(const struct packet_head *h, const struct item *item, struct mark *mark) {
  struct atrace_text text;
  struct pair pair;
  *mark = (struct mark){.at = item->at};
  if (pair_lasting(item->content.number) == LASTING_TEXT)
    return atrace_of(&item->content, &text) && mark_of_text(h, &text, item->tid, mark);
  if (!pair_of_ftrace(&item->content, item->tid, item->cpu, &pair)) return false;
  *mark = mark_of_pair(h->machine, &pair, item->at);
  return true;
}

static void add_item(struct cut *c, struct marks *m, const struct packet_head *h, const struct item *item, int64_t ns) {
  struct mark mark;
  switch (pair_lasting(item->content.number)) {
  case LASTING_NOT: return;
  case LASTING_TEXT:
  case LASTING_PAIR:
    if (mark_of_item(h, item, &mark)) add_mark(c, m, mark, ns);
    return;
  case LASTING_CALL:
    if (cut_graph_ps(c, ns) < (i128)c->range.start) cut_binder_add(&m->binder, item->at, &item->content, h->machine, item->tid, ns);
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
static void add_bundle(struct cut *c, struct marks *m, const struct packet_head *h, struct head_clock clock) {
  const uint64_t cpu = head_number(&h->content, FTRACE_CPU, 0);
  struct last_switch last = {.at = NULL};
  struct pb_field f;
  int64_t ns;
  for (struct pb in = pb_inside(&h->content); pb_next(&in, &f);) {
    if (pb_field_key(&f) == PB_KEY(FTRACE_COMPACT, PB_BYTES)) take_columns(c, h->machine, clock, &f, &last);
    if (pb_field_key(&f) != PB_KEY(FTRACE_EVENT, PB_BYTES) || !cut_item_time(c, h, &f, clock, &ns)) continue;
    const struct item item = read_item(&f, cpu);
    if (item.content.number == FTRACE_SWITCH) take_switch(c, &last, item.at, ns);
    add_item(c, m, h, &item, ns);
  }
  if (!last.at) return;
  add_mark(c, m, (struct mark){hash_pair(hash_pair(h->machine, FTRACE_SWITCH), cpu), last.at, 0, MARK_SAMPLE}, last.ns);
}

/* Returns the key of a packet with samples. Packets whose samples have the same fields, or the same counter ids of one description,
 * have the same key. */
static uint64_t key_of_packet(const struct packet_head *h) {
  struct pb c = pb_inside(&h->content);
  uint64_t key = hash_pair((uint64_t)h->machine << 32 | (uint32_t)h->sequence, h->content.number);
  const bool is_memory = h->content.number == PACKET_GPU_MEMORY, is_counter = h->content.number == PACKET_GPU_COUNTER;
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (is_memory && f.number == GPU_MEMORY_SIZE) continue;
    key = hash_pair(key, f.number);
    if (f.wire == PB_BYTES) key = hash_pair(key, head_number(&f, GPU_SAMPLE_ID, 0));
    else if (is_memory || (is_counter && f.number == GPU_COUNTER_IID)) key = hash_pair(key, f.value);
  }
  return key;
}

/* ---- the sample after the range ---- */

static void add_gpu_sample(struct cut *c, struct marks *m, uint64_t key, const uint8_t *at, int64_t ns) {
  if (cut_graph_ps(c, ns) < (i128)c->range.end) {
    map_put(&m->gpu_counters, key, 1);
    return;
  }
  if (!mem_grow(c->mem, (void **)&m->after, &m->cap_after, (uint64_t)m->n_after + 1, sizeof *m->after) ||
      !mem_grow(c->mem, (void **)&m->after_times, &m->cap_after_times, (uint64_t)m->n_after + 1, sizeof *m->after_times)) return;
  m->after_times[m->n_after] = (struct keyed){ns, m->n_after};
  m->after[m->n_after++] = (struct gpu_sample){key, at};
}

/* Adds the samples of a packet. Unless the packet refers to an interned description, importers treat the id of a counter as valid in
 * the trace, and the reader as valid in its sequence. */
static void add_gpu_samples(struct cut *c, struct marks *m, const struct packet_head *h, int64_t ns) {
  const uint64_t iid = head_number(&h->content, GPU_COUNTER_IID, 0);
  struct pb in = pb_inside(&h->content);
  struct pb_field f;
  while (pb_next(&in, &f)) {
    if (pb_field_key(&f) != PB_KEY(GPU_COUNTER_SAMPLE, PB_BYTES)) continue;
    const uint64_t key = hash_pair(hash_pair(h->machine, iid), head_number(&f, GPU_SAMPLE_ID, 0));
    add_gpu_sample(c, m, hash_pair(key, h->sequence), h->content.p, ns);
    if (!iid) add_gpu_sample(c, m, key, h->content.p, ns);
  }
}

/* Adds the first sample of each counter after the range to c->open, if the counter has earlier samples. */
static void find_after(struct cut *c, struct marks *m) {
  struct keyed *spare = m->n_after ? mem_array(c->mem, m->n_after, sizeof *spare) : NULL;
  const struct keyed *sorted = spare ? keyed_sort(m->after_times, spare, m->n_after) : NULL;
  for (uint32_t i = 0; sorted && i < m->n_after; i++) {
    const struct gpu_sample *sample = &m->after[sorted[i].index];
    uint32_t *waits = map_get(&m->gpu_counters, sample->key);
    if (waits && *waits) map_put(&c->open, (uint64_t)(uintptr_t)sample->at, 1);
    if (waits) *waits = 0;
  }
  mem_free(c->mem, spare);
}

/* ---- all packets ---- */

static void add_pairs(struct cut *c, struct marks *m, const struct packet_head *h, int64_t ns) {
  struct pair pairs[PAIR_KEYS];
  for (uint32_t i = 0, n = pairs_of_packet(&h->content, pairs); i < n; i++)
    add_mark(c, m, mark_of_pair(h->machine, &pairs[i], h->content.p), ns);
}

static void add_packet(struct cut *c, struct marks *m, const struct packet_head *h, int64_t ns) {
  if (pair_is_packet(h->content.number)) add_pairs(c, m, h, ns);
  if (!head_has_samples(h->content.number)) return;
  add_mark(c, m, (struct mark){key_of_packet(h), h->content.p, 0, MARK_SAMPLE}, ns);
  if (h->content.number == PACKET_GPU_COUNTER) add_gpu_samples(c, m, h, ns);
}

static void add_marks(struct cut *c, struct marks *m, const struct pb_field *packet) {
  struct packet_head h = {.kind = NULL};
  int64_t ns;
  head_read(packet, &h);
  struct cut_sequence *q = cut_sequence_of(c, &h);
  if (!q) return;
  cut_follow_state(q, &h);
  if (h.content.number == PACKET_FTRACE) add_bundle(c, m, &h, cut_bundle_clock(c, &h));
  else if (cut_packet_time(c, q, &h, &ns)) add_packet(c, m, &h, ns);
}

/* Fills c->open with the begin events whose end event is not before the range, and with the last samples. */
static void pair_marks(struct cut *c, struct marks *m, const struct keyed *sorted) {
  struct map tops;
  map_init(&tops, c->mem);
  for (uint32_t i = 0; i < m->n; i++) {
    struct mark *mark = &m->of[sorted[i].index];
    uint32_t *top = map_put(&tops, mark->key, 0);
    if (!top || (mark->kind == MARK_BEGIN_ONCE && *top) || (mark->kind == MARK_END && !*top)) continue;
    if (mark->kind == MARK_BEGIN) mark->below = *top;
    *top = mark->kind == MARK_END ? m->of[*top - 1].below : sorted[i].index + 1;
  }
  for (uint32_t i = 0; i < m->n; i++) {
    uint32_t *top = map_get(&tops, m->of[i].key);
    for (; top && *top; *top = m->of[*top - 1].below) map_put(&c->open, (uint64_t)(uintptr_t)m->of[*top - 1].at, 1);
  }
  map_free(&tops);
}

static void scan(struct cut *c, struct marks *m, const struct tk_trace *t) {
  struct pb_field packet;
  for (tk_id i = 1; i <= t->n_metas; i++) {
    if (!passthrough_is(t, &t->metas[i], PASSTHROUGH_PACKETS)) continue;
    struct pb in = pb_over(trace_raw(t, t->metas[i].at), (size_t)t->metas[i].size);
    while (pb_next(&in, &packet)) add_marks(c, m, &packet);
  }
}

void cut_state_find(struct cut *c, const struct tk_trace *t) {
  struct marks m = {.binder.mem = c->mem};
  map_init(&m.gpu_counters, c->mem);
  scan(c, &m, t);
  m.spare = m.n ? mem_array(c->mem, m.n, sizeof *m.spare) : NULL;
  if (m.spare) pair_marks(c, &m, keyed_sort(m.times, m.spare, m.n));
  cut_binder_find(&m.binder, &c->open);
  find_after(c, &m);
  for (uint32_t i = 0; i < c->n_sequences; i++) c->sequences[i].default_clock = 0;
  void *const all[] = {m.of, m.times, m.spare, m.after, m.after_times};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) mem_free(c->mem, all[i]);
  map_free(&m.gpu_counters);
}
