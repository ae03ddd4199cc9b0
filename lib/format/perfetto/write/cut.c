/* cut.c - chooses the packets of a trace that was only cut in time.
 *
 * A packet has a time, a sequence and content of one kind (kinds.c). If the content is out of the range, the packet may still change
 * the state of its sequence: interned data, defaults, resets of the incremental state. These changes are stored until a later packet of
 * the sequence is kept, and are discarded if the state is reset first. So the kept packets have the same state as in the input, and no
 * other state is written.
 *
 * Four kinds of events before the range are kept because they apply inside it: begin events in ftrace text whose spans end after the
 * start of the range, Binder calls that have not ended (cut_binder.c), the last sample of each counter, and the last switch of each
 * CPU.
 *
 * Single items of a bundle are removed, also those in columns (cut_sched.c). The first bundle of each CPU is kept even if it becomes
 * empty, because importers drop ftrace events before the end of the previous bundle. */
#include "cut.h"

#include <string.h>

#include "format/pb_out.h"
#include "base/keyed.h"
#include "format/perfetto/atrace_text.h"
#include "format/perfetto/fields.h"
#include "format/perfetto/head.h"
#include "cut_binder.h"
#include "cut_sched.h"

struct cut_sequence {
  struct buf state; /* stored frames with changes of the state */
  uint32_t default_clock;
};

enum verdict { STAYS, GOES, PART };
enum side { BEFORE, INSIDE, AFTER, UNKNOWN };

/* ---- times ---- */

static bool to_trace(const struct cut *c, uint32_t machine, uint32_t clock, uint64_t time, int64_t *ns) {
  return readings_to_trace(&c->readings, machine, clock, time, ns);
}

/* Converts a time on the trace clock to the graph's time in ps. */
static i128 graph_ps(const struct cut *c, int64_t ns) {
  const int64_t since = num_sub(ns, c->base_ns);
  return (i128)(c->warp ? warp_ns(c->warp, since) : since) * 1000;
}

/* Returns where a time is relative to the range. A span is inside if a part of it is inside, as in the graph. */
static enum side side_of(const struct cut *c, int64_t ns, uint64_t dur_ns) {
  const i128 ps = graph_ps(c, ns), end = dur_ns ? graph_ps(c, num_add(ns, dur_ns > INT64_MAX ? INT64_MAX : (int64_t)dur_ns)) : ps;
  if (ps >= c->range.end) return AFTER;
  return ps >= c->range.start || end > c->range.start ? INSIDE : BEFORE;
}

/* ---- bundles ---- */

/* Range of times in a bundle. */
struct extent {
  int64_t first, last;
  bool any;
};

static void extend(struct extent *e, int64_t ns) {
  if (!e->any || ns < e->first) e->first = ns;
  if (!e->any || ns > e->last) e->last = ns;
  e->any = true;
}

/* Returns the clock of a bundle, as the reader chooses it. */
static struct head_clock bundle_clock(const struct cut *c, const struct packet_head *h) {
  int64_t ns;
  return head_bundle_clock(h, to_trace(c, h->machine, CLOCK_MONOTONIC_RAW, 0, &ns));
}

static bool item_time(const struct cut *c, const struct packet_head *h, const struct pb_field *item, struct head_clock clock,
                      int64_t *ns) {
  struct pb in = pb_inside(item);
  struct pb_field f;
  while (pb_next(&in, &f)) {
    if (pb_field_key(&f) != PB_KEY(h->kind->time, PB_VARINT)) continue;
    return to_trace(c, h->machine, clock.id, f.value * h->kind->unit + clock.shift, ns);
  }
  return false;
}

static void extend_by_deltas(const struct cut *c, const struct packet_head *h, const struct pb_field *deltas,
                             struct head_clock clock, struct extent *e) {
  uint64_t time = clock.shift, delta;
  int64_t ns;
  for (struct pb in = pb_inside(deltas); in.p < in.end && pb_varint(&in, &delta);) {
    time += delta;
    if (to_trace(c, h->machine, clock.id, time, &ns)) extend(e, ns);
  }
}

static struct extent bundle_extent(const struct cut *c, const struct packet_head *h, struct head_clock clock) {
  struct extent e = {.any = false};
  struct pb in = pb_inside(&h->content);
  struct pb_field f, g;
  int64_t ns;
  while (pb_next(&in, &f)) {
    if (f.number == h->kind->items && item_time(c, h, &f, clock, &ns)) extend(&e, ns);
    if (f.number != FTRACE_COMPACT || h->content.number != PACKET_FTRACE) continue;
    for (struct pb columns = pb_inside(&f); pb_next(&columns, &g);)
      if (g.number == COMPACT_SWITCH_TIME || g.number == COMPACT_WAKING_TIME) extend_by_deltas(c, h, &g, clock, &e);
  }
  return e;
}

static bool is_inside(const struct cut *c, struct extent e) {
  return side_of(c, e.first, (uint64_t)e.last - (uint64_t)e.first + 1) == INSIDE;
}

/* True for an event or content before the range that applies at its start: the begin event of a span that is open there, or the last
 * sample of a counter. */
static bool is_open(const struct cut *c, const struct pb_field *item) {
  return c->open.n && map_get(&c->open, (uint64_t)(uintptr_t)item->p);
}

/* The clock of a bundle whose items are cut. */
struct cut_bundle {
  const struct cut *c;
  uint32_t machine;
  struct head_clock clock;
};

static enum cut_side side_in_bundle(void *arg, uint64_t time) {
  const struct cut_bundle *b = arg;
  int64_t ns;
  if (!to_trace(b->c, b->machine, b->clock.id, time + b->clock.shift, &ns)) return CUT_INSIDE;
  const enum side side = side_of(b->c, ns, 0);
  return side == BEFORE ? CUT_BEFORE : side == AFTER ? CUT_AFTER : CUT_INSIDE;
}

/* Copies a switch before the range, which states what its CPU runs until the next one, without the thread that ran before it: that
 * thread may have run on another CPU since. */
static void put_switch(struct cut *c, const struct pb_field *event) {
  struct pb in = pb_inside(event), fields;
  struct pb_field f, g;
  c->item.len = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    if (pb_field_key(&f) != PB_KEY(FTRACE_SWITCH, PB_BYTES)) {
      buf_append(&c->item, from, (size_t)(in.p - from));
      continue;
    }
    c->inner.len = 0;
    fields = pb_inside(&f);
    for (const uint8_t *at = fields.p; pb_next(&fields, &g); at = fields.p)
      if (g.number >= SWITCH_NEXT_NAME) buf_append(&c->inner, at, (size_t)(fields.p - at));
    pb_message(&c->item, FTRACE_SWITCH, &c->inner);
  }
  pb_message(&c->content, event->number, &c->item);
}

/* Copies an item of a bundle, which is at `from`. Returns true if the copy differs from it. */
static bool put_item(struct cut *c, const struct packet_head *h, const struct pb_field *item, const uint8_t *from) {
  const size_t n = (size_t)(item->p + item->value - from);
  const bool is_switch = h->content.number == PACKET_FTRACE && is_open(c, item) && head_has(item, FTRACE_SWITCH);
  if (is_switch) put_switch(c, item);
  else buf_append(&c->content, from, n);
  return is_switch;
}

/* Copies the bundle without those items that are out of the range. `cpu`: state of the bundle's CPU, for an ftrace bundle. */
static enum verdict cut_items(struct cut *c, const struct packet_head *h, struct head_clock clock, struct cut_cpu *cpu) {
  struct pb in = pb_inside(&h->content);
  struct cut_bundle bundle = {c, h->machine, clock};
  struct cut_counts counts = {.n = 0};
  struct pb_field f;
  int64_t ns;
  c->content.len = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    const bool is_item = f.number == h->kind->items && f.wire == PB_BYTES;
    const bool goes = is_item && item_time(c, h, &f, clock, &ns) && side_of(c, ns, 0) != INSIDE && !is_open(c, &f);
    const bool has_columns = cpu && pb_field_key(&f) == PB_KEY(FTRACE_COMPACT, PB_BYTES);
    counts.n += is_item;
    counts.gone += goes;
    if (has_columns) cut_sched_append(cpu, &f, &(struct cut_range){side_in_bundle, &bundle, clock.id}, &counts, &c->content);
    else if (is_item && !goes) counts.is_changed |= put_item(c, h, &f, from);
    else if (!goes) buf_append(&c->content, from, (size_t)(in.p - from));
  }
  if (counts.gone == 0 && !counts.is_changed) return STAYS;
  return counts.gone < counts.n || head_has(&h->content, h->kind->state) ? PART : GOES;
}

static struct cut_cpu *cpu_of_bundle(struct cut *c, const struct packet_head *h, bool *is_first) {
  const uint64_t cpu = (uint64_t)h->machine << 32 | (uint32_t)head_number(&h->content, FTRACE_CPU, 0);
  uint32_t *at = map_put(&c->cpus, cpu, 0);
  *is_first = at && !*at;
  if (!at) return NULL;
  if (*at) return &c->of_cpus[*at - 1];
  if (!mem_grow(c->mem, (void **)&c->of_cpus, &c->cap_cpus, (uint64_t)c->n_cpus + 1, sizeof *c->of_cpus)) return NULL;
  c->of_cpus[c->n_cpus] = (struct cut_cpu){.is_before = false};
  *at = ++c->n_cpus;
  return &c->of_cpus[*at - 1];
}

/* Copies the description of an ftrace bundle and the begin events of open spans. Returns true if there are such events. */
static bool leave_shell(struct cut *c, const struct packet_head *h) {
  struct pb in = pb_inside(&h->content);
  struct pb_field f;
  bool any = false;
  c->content.len = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    const bool is_item = f.number == h->kind->items, open = is_item && is_open(c, &f);
    any = any || open;
    if (open) put_item(c, h, &f, from);
    else if (!is_item && f.number != FTRACE_COMPACT) buf_append(&c->content, from, (size_t)(in.p - from));
  }
  return any;
}

static enum verdict judge_bundle(struct cut *c, const struct packet_head *h) {
  const bool is_ftrace = h->content.number == PACKET_FTRACE;
  bool is_first = false;
  struct cut_cpu *cpu = is_ftrace ? cpu_of_bundle(c, h, &is_first) : NULL;
  const enum verdict v = cut_items(c, h, bundle_clock(c, h), cpu);
  if (v != GOES || !is_ftrace) return v;
  return leave_shell(c, h) || is_first ? PART : GOES;
}

/* ---- packets ---- */

static enum verdict judge_time(struct cut *c, const struct packet_head *h, uint32_t clock) {
  const uint32_t duration = h->kind ? h->kind->duration : 0;
  int64_t ns;
  if (!h->has_timestamp || !to_trace(c, h->machine, clock, h->timestamp, &ns)) return STAYS;
  const enum side side = side_of(c, ns, duration ? head_number(&h->content, duration, 0) : 0);
  if (side == INSIDE || (side == BEFORE && h->kind && h->kind->rule == KIND_LAST)) return STAYS;
  return is_open(c, &h->content) || (h->kind && head_has(&h->content, h->kind->state)) ? STAYS : GOES;
}

static enum verdict judge(struct cut *c, const struct packet_head *h, const struct cut_sequence *q) {
  if (!h->content.number) return GOES; /* the packet only changes the state */
  if (h->kind && h->kind->rule == KIND_STATE) return STAYS;
  if (h->kind && h->kind->rule == KIND_ITEMS) return judge_bundle(c, h);
  return judge_time(c, h, h->has_clock ? h->clock : q->default_clock);
}

/* Copies the fields of the packet to c->packet, changing the content according to `v`. */
static void copy_packet(struct cut *c, const struct pb_field *packet, const struct packet_head *h, enum verdict v) {
  struct pb in = pb_inside(packet);
  struct pb_field f;
  c->packet.len = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    const bool is_content = !head_is_state(f.number) && !head_is_transport(f.number);
    if (!is_content || v == STAYS) buf_append(&c->packet, from, (size_t)(in.p - from));
    else if (v == PART && f.p == h->content.p) pb_message(&c->packet, f.number, &c->content);
  }
}

static struct cut_sequence *sequence_of(struct cut *c, const struct packet_head *h) {
  uint32_t *at = map_put(&c->index, (uint64_t)h->machine << 32 | (uint32_t)h->sequence, 0);
  if (!at) return NULL;
  if (*at) return &c->sequences[*at - 1];
  if (!mem_grow(c->mem, (void **)&c->sequences, &c->cap_sequences, (uint64_t)c->n_sequences + 1, sizeof *c->sequences)) return NULL;
  c->sequences[c->n_sequences] = (struct cut_sequence){.state = {.mem = c->mem}};
  *at = ++c->n_sequences;
  return &c->sequences[*at - 1];
}

static void follow_state(struct cut_sequence *q, const struct packet_head *h) {
  if (h->flags & SEQUENCE_CLEARED) {
    q->state.len = 0;
    q->default_clock = 0;
  }
  if (h->defaults.p) q->default_clock = (uint32_t)head_number(&h->defaults, DEFAULTS_TIMESTAMP_CLOCK_ID, 0);
}

const struct buf *cut_packet(struct cut *c, const struct pb_field *packet) {
  struct packet_head h = {.kind = NULL};
  c->out.len = 0;
  if (packet->number != TRACE_PACKET || packet->wire != PB_BYTES) {
    pb_field(&c->out, packet);
    return &c->out;
  }
  head_read(packet, &h);
  struct cut_sequence *q = sequence_of(c, &h);
  if (!q) return &c->out;
  follow_state(q, &h);
  const enum verdict v = judge(c, &h, q);
  if (v == GOES && !h.has_state) return &c->out;
  copy_packet(c, packet, &h, v);
  if (v == GOES) {
    pb_message(&q->state, TRACE_PACKET, &c->packet);
    return &c->out;
  }
  buf_append(&c->out, q->state.data, q->state.len);
  q->state.len = 0;
  pb_message(&c->out, TRACE_PACKET, &c->packet);
  return &c->out;
}

/* ---- state at the start of the range ---- */

/* Kinds of events before the range. Begin and end of a span have the same key, and so do all samples of a counter. */
enum mark_kind { MARK_BEGIN, MARK_BEGIN_ONCE, MARK_END, MARK_SAMPLE };
struct mark {
  uint64_t key;
  const uint8_t *at; /* content of the event or of the packet */
  uint32_t below;    /* 1 + index of the next open begin */
  enum mark_kind kind;
};

struct marks {
  struct cut_binder binder;
  struct mark *of;
  struct keyed *times, *spare;
  uint32_t n, cap, cap_times;
};

static void add_mark(struct cut *c, struct marks *m, struct mark mark, int64_t ns) {
  const bool is_end = mark.kind == MARK_END; /* an end event exactly at the start of the range counts as before the range */
  if (graph_ps(c, ns) >= (i128)c->range.start + is_end) return;
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
  uint64_t tid;
};

static struct item read_item(const struct pb_field *event) {
  struct item item = {.at = event->p};
  struct pb c = pb_inside(event);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(FTRACE_EVENT_TID, PB_VARINT)) item.tid = f.value;
    else if (f.wire == PB_BYTES) item.content = f;
  }
  return item;
}

static bool mark_of_item(const struct packet_head *h, const struct item *item, struct mark *mark) {
  struct atrace_text text;
  *mark = (struct mark){.at = item->at, .kind = MARK_SAMPLE};
  if (head_lasting(item->content.number) == LASTING_TEXT)
    return atrace_of(&item->content, &text) && mark_of_text(h, &text, item->tid, mark);
  mark->key = hash_pair(hash_pair(h->machine, item->content.number), head_number(&item->content, CPU_ID, 0));
  return true;
}

static void add_item(struct cut *c, struct marks *m, const struct packet_head *h, const struct item *item, int64_t ns) {
  struct mark mark;
  switch (head_lasting(item->content.number)) {
  case LASTING_NOT: return;
  case LASTING_TEXT:
  case LASTING_SAMPLE:
    if (mark_of_item(h, item, &mark)) add_mark(c, m, mark, ns);
    return;
  case LASTING_CALL:
    if (graph_ps(c, ns) < (i128)c->range.start) cut_binder_add(&m->binder, item->at, &item->content, h->machine, item->tid, ns);
  }
}

/* The last switch of a bundle before the range: what its CPU runs until the next one. */
struct last_switch {
  const uint8_t *at; /* the event, or the columns that contain it; NULL = none */
  int64_t ns;
};

static void take_switch(const struct cut *c, struct last_switch *last, const uint8_t *at, int64_t ns) {
  if (graph_ps(c, ns) < (i128)c->range.start && (!last->at || ns >= last->ns)) *last = (struct last_switch){at, ns};
}

static void take_columns(const struct cut *c, uint32_t machine, struct head_clock clock, const struct pb_field *columns,
                         struct last_switch *last) {
  struct compact items;
  struct compact_item item;
  int64_t ns;
  compact_read(&items, columns);
  while (compact_next(&items, COMPACT_SWITCHES, &item))
    if (to_trace(c, machine, clock.id, item.time + clock.shift, &ns)) take_switch(c, last, columns->p, ns);
}

/* Adds the events of an ftrace bundle that may apply in the range. A switch in columns is kept by cut_sched.c, so its mark only says
 * that earlier events no longer apply. */
static void add_bundle(struct cut *c, struct marks *m, const struct packet_head *h, struct head_clock clock) {
  struct last_switch last = {.at = NULL};
  struct pb_field f;
  int64_t ns;
  for (struct pb in = pb_inside(&h->content); pb_next(&in, &f);) {
    if (pb_field_key(&f) == PB_KEY(FTRACE_COMPACT, PB_BYTES)) take_columns(c, h->machine, clock, &f, &last);
    if (pb_field_key(&f) != PB_KEY(FTRACE_EVENT, PB_BYTES) || !item_time(c, h, &f, clock, &ns)) continue;
    const struct item item = read_item(&f);
    if (item.content.number == FTRACE_SWITCH) take_switch(c, &last, item.at, ns);
    add_item(c, m, h, &item, ns);
  }
  if (!last.at) return;
  const uint64_t cpu = head_number(&h->content, FTRACE_CPU, 0);
  add_mark(c, m, (struct mark){hash_pair(hash_pair(h->machine, FTRACE_SWITCH), cpu), last.at, 0, MARK_SAMPLE}, last.ns);
}

/* Returns the key of a packet with samples. Packets whose samples have the same fields or the same counter ids have the same
 * key. */
static uint64_t key_of_packet(const struct packet_head *h) {
  struct pb c = pb_inside(&h->content);
  uint64_t key = hash_pair((uint64_t)h->machine << 32 | (uint32_t)h->sequence, h->content.number);
  const bool is_memory = h->content.number == PACKET_GPU_MEMORY;
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (is_memory && f.number == GPU_MEMORY_SIZE) continue;
    key = hash_pair(key, f.number);
    if (f.wire == PB_BYTES) key = hash_pair(key, head_number(&f, GPU_SAMPLE_ID, 0));
    else if (is_memory) key = hash_pair(key, f.value);
  }
  return key;
}

static void add_marks(struct cut *c, struct marks *m, const struct pb_field *packet) {
  struct packet_head h = {.kind = NULL};
  uint32_t clock;
  int64_t ns;
  head_read(packet, &h);
  struct cut_sequence *q = sequence_of(c, &h);
  if (!q) return;
  follow_state(q, &h);
  if (h.content.number == PACKET_FTRACE) {
    add_bundle(c, m, &h, bundle_clock(c, &h));
    return;
  }
  const bool has_samples =
    h.content.number == PACKET_SYS_STATS || h.content.number == PACKET_GPU_COUNTER || h.content.number == PACKET_GPU_MEMORY;
  clock = h.has_clock ? h.clock : q->default_clock;
  if (!has_samples || !h.has_timestamp || !to_trace(c, h.machine, clock, h.timestamp, &ns)) return;
  add_mark(c, m, (struct mark){key_of_packet(&h), h.content.p, 0, MARK_SAMPLE}, ns);
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

static void find_open(struct cut *c, const struct tk_trace *t) {
  struct marks m = {.binder.mem = c->mem};
  struct pb_field packet;
  for (tk_id i = 1; i <= t->n_metas; i++) {
    if (!passthrough_is(t, &t->metas[i], PASSTHROUGH_PACKETS)) continue;
    struct pb in = pb_over(trace_raw(t, t->metas[i].at), (size_t)t->metas[i].size);
    while (pb_next(&in, &packet)) add_marks(c, &m, &packet);
  }
  m.spare = m.n ? mem_array(c->mem, m.n, sizeof *m.spare) : NULL;
  if (m.spare) pair_marks(c, &m, keyed_sort(m.times, m.spare, m.n));
  cut_binder_find(&m.binder, &c->open);
  for (uint32_t i = 0; i < c->n_sequences; i++) c->sequences[i].default_clock = 0;
  mem_free(c->mem, m.of);
  mem_free(c->mem, m.times);
  mem_free(c->mem, m.spare);
}

/* ---- the whole ---- */

int64_t cut_later(const struct tk_trace *t) {
  struct clock_readings head;
  const bool has_moved = t->edits & TK_EDIT_MOVED;
  return trace_cut_of(t) && !has_moved && passthrough_readings_of(t, &head) ? head.later_ns : 0;
}

static void begin(struct cut *c, const struct tk_trace *t, struct trace_cut range, struct mem *mem) {
  *c = (struct cut){.mem = mem, .range = range, .content.mem = mem, .packet.mem = mem, .out.mem = mem};
  c->item.mem = c->inner.mem = mem;
  map_init(&c->index, mem);
  map_init(&c->cpus, mem);
  map_init(&c->open, mem);
  readings_begin(&c->readings, t, mem);
  c->warp = trace_warp_of(t);
  c->base_ns = c->readings.head.base_ns;
}

bool cut_begin(struct cut *c, const struct tk_trace *t, struct mem *mem) {
  const struct trace_cut *range = trace_cut_of(t);
  if (!range) return false;
  begin(c, t, *range, mem);
  find_open(c, t);
  return true;
}

void cut_end(struct cut *c) {
  for (uint32_t i = 0; i < c->n_sequences; i++) buf_free(&c->sequences[i].state);
  mem_free(c->mem, c->sequences);
  mem_free(c->mem, c->of_cpus);
  readings_end(&c->readings);
  map_free(&c->index);
  map_free(&c->cpus);
  map_free(&c->open);
  buf_free(&c->content);
  buf_free(&c->item);
  buf_free(&c->inner);
  buf_free(&c->packet);
  buf_free(&c->out);
}

/* ---- times of all packets ---- */

/* Returns the times of a packet; an empty range if it has no time, or if a cut does not depend on its time. */
static struct extent extent_of(struct cut *c, const struct pb_field *packet) {
  struct packet_head h = {.kind = NULL};
  struct extent e = {.any = false};
  uint32_t clock;
  int64_t ns;
  head_read(packet, &h);
  struct cut_sequence *q = sequence_of(c, &h);
  if (!q) return e;
  follow_state(q, &h);
  if (!h.content.number || (h.kind && h.kind->rule == KIND_STATE)) return e;
  if (h.kind && h.kind->rule == KIND_ITEMS) return bundle_extent(c, &h, bundle_clock(c, &h));
  if (h.kind && head_has(&h.content, h.kind->state)) return e;
  clock = h.has_clock ? h.clock : q->default_clock;
  if (h.has_timestamp && to_trace(c, h.machine, clock, h.timestamp, &ns)) extend(&e, ns);
  return e;
}

static tk_time graph_time(const struct cut *c, int64_t ns) {
  const i128 ps = graph_ps(c, ns);
  return ps > INT64_MAX ? INT64_MAX : ps < INT64_MIN ? INT64_MIN : (tk_time)ps;
}

bool cut_times(const struct tk_trace *t, struct trace_cut range, struct trace_cut *found) {
  struct mem mem = {0};
  struct extent all = {.any = false};
  struct pb_field packet;
  struct cut c;
  begin(&c, t, range, &mem);
  for (tk_id i = 1; i <= t->n_metas; i++) {
    if (!passthrough_is(t, &t->metas[i], PASSTHROUGH_PACKETS)) continue;
    for (struct pb in = pb_over(trace_raw(t, t->metas[i].at), (size_t)t->metas[i].size); pb_next(&in, &packet);) {
      const struct extent e = extent_of(&c, &packet);
      if (!e.any || !is_inside(&c, e)) continue;
      extend(&all, e.first);
      extend(&all, e.last);
    }
  }
  *found = (struct trace_cut){graph_time(&c, all.first), graph_time(&c, all.last)};
  cut_end(&c);
  return all.any && !mem.failed;
}
