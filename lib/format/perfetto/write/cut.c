/* cut.c - chooses the packets of a trace that was only cut in time.
 *
 * A packet has a time, a sequence and content of one kind (kinds.c). If the content is out of the range, the packet may still change
 * the state of its sequence: interned data, defaults, resets of the incremental state. These changes are stored until a later packet of
 * the sequence is kept, and are discarded if the state is reset first. So the kept packets have the same state as in the input, and no
 * other state is written.
 *
 * Events before the range are kept if they apply inside it: begin events whose spans end after the start of the range, Binder calls
 * that have not ended, the last sample of each counter, and the last switch of each CPU (cut_state.c).
 *
 * Single items of a bundle are removed, also those in columns (cut_sched.c). The first bundle of each CPU is kept even if it becomes
 * empty, because importers drop ftrace events before the end of the previous bundle. */
#include "cut.h"

#include <string.h>

#include "cut_lists.h"
#include "cut_sched.h"
#include "cut_state.h"
#include "cut_times.h"
#include "format/pb_out.h"
#include "format/perfetto/fields.h"

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

static void extend_by_deltas(const struct cut *c, const struct packet_head *h, const struct pb_field *deltas,
                             struct head_clock clock, struct extent *e) {
  uint64_t time = clock.shift, delta;
  int64_t ns;
  for (struct pb in = pb_inside(deltas); in.p < in.end && pb_varint(&in, &delta);) {
    time += delta;
    if (cut_to_trace(c, h->machine, clock.id, time, &ns)) extend(e, ns);
  }
}

static struct extent bundle_extent(const struct cut *c, const struct packet_head *h, struct head_clock clock) {
  struct extent e = {.any = false};
  struct pb in = pb_inside(&h->content);
  struct pb_field f, g;
  int64_t ns;
  while (pb_next(&in, &f)) {
    if (f.number == h->kind->items && cut_item_time(c, h, &f, clock, &ns)) extend(&e, ns);
    if (f.number != FTRACE_COMPACT || h->content.number != PACKET_FTRACE) continue;
    for (struct pb columns = pb_inside(&f); pb_next(&columns, &g);)
      if (g.number == COMPACT_SWITCH_TIME || g.number == COMPACT_WAKING_TIME) extend_by_deltas(c, h, &g, clock, &e);
  }
  return e;
}

static bool is_inside(const struct cut *c, struct extent e) {
  return cut_side_of(c, e.first, (uint64_t)e.last - (uint64_t)e.first + 1) == INSIDE;
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
  if (!cut_to_trace(b->c, b->machine, b->clock.id, time + b->clock.shift, &ns)) return CUT_INSIDE;
  const enum side side = cut_side_of(b->c, ns, 0);
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
    const bool goes = is_item && cut_item_time(c, h, &f, clock, &ns) && cut_side_of(c, ns, 0) != INSIDE && !is_open(c, &f);
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
  const enum verdict v = cut_items(c, h, cut_bundle_clock(c, h), cpu);
  if (v != GOES || !is_ftrace) return v;
  return leave_shell(c, h) || is_first ? PART : GOES;
}

/* ---- packets ---- */

static enum verdict judge_time(struct cut *c, const struct packet_head *h, const struct cut_sequence *q) {
  const uint32_t duration = h->kind ? h->kind->duration : 0;
  int64_t ns;
  if (!cut_packet_time(c, q, h, &ns)) return STAYS;
  const enum side side = cut_side_of(c, ns, duration ? head_number(&h->content, duration, 0) : 0);
  if (side == INSIDE || (side == BEFORE && h->kind && h->kind->rule == KIND_LAST)) return STAYS;
  return is_open(c, &h->content) || (h->kind && head_has(&h->content, h->kind->state)) ? STAYS : GOES;
}

static enum verdict judge(struct cut *c, const struct packet_head *h, const struct cut_sequence *q) {
  if (!h->content.number) return GOES; /* the packet only changes the state */
  if (h->kind && h->kind->rule == KIND_STATE) return STAYS;
  if (h->kind && h->kind->rule == KIND_ITEMS) return judge_bundle(c, h);
  return cut_lists_is(h) ? cut_lists(c, q, h) : judge_time(c, h, q);
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

const struct buf *cut_packet(struct cut *c, const struct pb_field *packet) {
  struct packet_head h = {.kind = NULL};
  c->out.len = 0;
  if (packet->number != TRACE_PACKET || packet->wire != PB_BYTES) {
    pb_field(&c->out, packet);
    return &c->out;
  }
  head_read(packet, &h);
  struct cut_sequence *q = cut_sequence_of(c, &h);
  if (!q) return &c->out;
  cut_follow_state(q, &h);
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

/* ---- the whole ---- */

int64_t cut_later(const struct tk_trace *t) {
  struct clock_readings head;
  const bool has_moved = t->edits & TK_EDIT_MOVED;
  return trace_cut_of(t) && !has_moved && passthrough_readings_of(t, &head) ? head.later_ns : 0;
}

/* Returns the first ns on the packets' clock that is not before a time of the graph. */
static int64_t first_ns(const struct clock_readings *head, tk_time ps) { return num_add(head->base_ns, ps / 1000 + (ps % 1000 > 0)); }

void cut_put_part(const struct tk_trace *t, struct buf *to) {
  const struct trace_cut *range = trace_cut_of(t);
  struct clock_readings head;
  if (!range || t->edits & (TK_EDIT_MOVED | TK_EDIT_STRETCHED) || !passthrough_readings_of(t, &head)) return;
  if (range->start != INT64_MIN) pb_i64(to, PART_START, first_ns(&head, range->start));
  if (range->end != INT64_MAX) pb_i64(to, PART_END, first_ns(&head, range->end));
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
  cut_state_find(c, t);
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

static void extend_by(void *extent, int64_t ns) { extend(extent, ns); }

/* Returns the times of a packet; an empty range if it has no time, or if a cut does not depend on its time. */
static struct extent extent_of(struct cut *c, const struct pb_field *packet) {
  struct packet_head h = {.kind = NULL};
  struct extent e = {.any = false};
  int64_t ns;
  head_read(packet, &h);
  struct cut_sequence *q = cut_sequence_of(c, &h);
  if (!q) return e;
  cut_follow_state(q, &h);
  if (!h.content.number || (h.kind && h.kind->rule == KIND_STATE)) return e;
  if (h.kind && h.kind->rule == KIND_ITEMS) return bundle_extent(c, &h, cut_bundle_clock(c, &h));
  if (h.kind && head_has(&h.content, h.kind->state)) return e;
  if (cut_lists_is(&h)) cut_lists_times(c, q, &h, extend_by, &e);
  else if (cut_packet_time(c, q, &h, &ns)) extend(&e, ns);
  return e;
}

static tk_time graph_time(const struct cut *c, int64_t ns) {
  const i128 ps = cut_graph_ps(c, ns);
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
