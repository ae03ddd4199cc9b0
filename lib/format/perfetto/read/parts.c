/* parts.c - joins the parts of a trace that was cut in time (split), when they are read one after the other.
 *
 * Each part repeats what importers need at its start: begin events, samples and switches before its range, and packets that describe
 * the trace (write/cut.c). In a file that consists of several parts, importers would count these twice. So each part states its range;
 * if it begins where the part before it ended, all of its packets and items before the range are copies, and so are packets that
 * always stay and occur in the part before. Copies are removed here, before packets are read. A packet on another clock than the
 * trace clock is not judged by its time.
 *
 * Samples of GPU counters after the range are copies of samples of the next parts. They are recognised by their bytes. */
#include "parts.h"

#include "clock.h"
#include "early.h"
#include "sequence.h"
#include "format/pb_out.h"
#include "format/perfetto/compact.h"
#include "format/perfetto/fields.h"
#include "format/perfetto/head.h"

/* Notes where the part begins. No events are dropped while joined parts are read, because pieces of spans may be joined. */
static void note_edge(struct perfetto *r) {
  struct part_reader *s = &r->parts;
  if (!mem_grow(&r->t->store->mem, (void **)&s->edges, &s->cap_edges, (uint64_t)s->n_edges + 1, sizeof *s->edges)) return;
  s->edges[s->n_edges++] = (struct part_edge){s->start, r->t->n_events, s->joins};
  s->n_joined += s->joins;
  if (!s->joins) return;
  r->prune.next = UINT32_MAX;
  r->packet_prune.next = UINT64_MAX;
  if (r->t->store->early.guessed) r->t->store->early.failed = true;
}

void parts_begin(struct perfetto *r, const struct pb_field *range) {
  struct part_reader *s = &r->parts;
  const bool is_next = s->is_part && s->has_end && pb_find(range, PART_START).wire == PB_VARINT;
  const int64_t start = (int64_t)head_number(range, PART_START, 0);
  s->joins = is_next && start == s->end;
  s->start = start;
  s->end = (int64_t)head_number(range, PART_END, 0);
  s->has_end = pb_find(range, PART_END).wire == PB_VARINT;
  s->is_part = true;
  note_edge(r);
}

void parts_end(struct perfetto *r) { r->parts.is_part = r->parts.joins = false; }

/* ---- bundles of ftrace ---- */

static bool is_before(const struct perfetto *r, uint64_t time, uint64_t shift) { return (int64_t)(time + shift) < r->parts.start; }

/* Copies the switches and wakings in the range. Returns their number. */
static uint64_t put_columns(struct perfetto *r, const struct pb_field *columns, uint64_t shift) {
  struct part_reader *s = &r->parts;
  struct compact c;
  struct compact_out out;
  struct compact_item item;
  struct pb in = pb_inside(columns);
  struct pb_field f;
  s->columns.len = 0;
  compact_read(&c, columns);
  compact_begin(&out, s->columns.mem);
  for (int kind = 0; kind < COMPACT_KINDS; kind++)
    while (compact_next(&c, (enum compact_kind)kind, &item))
      if (!is_before(r, item.time, shift)) compact_put(&out, &item);
  const uint64_t n = out.n;
  for (const uint8_t *from = in.p; n && pb_next(&in, &f); from = in.p)
    if (f.number == COMPACT_NAMES || f.number >= COMPACT_COLUMNS) buf_append(&s->columns, from, (size_t)(in.p - from));
  compact_append(&out, &s->columns);
  if (n) pb_message(&s->content, FTRACE_COMPACT, &s->columns);
  compact_end(&out);
  return n;
}

/* Copies a bundle without the events before the range to parts.content. Returns the number of events left. */
static uint64_t put_bundle(struct perfetto *r, const struct pb_field *bundle, uint64_t shift) {
  struct part_reader *s = &r->parts;
  struct pb in = pb_inside(bundle);
  struct pb_field f;
  uint64_t n = 0;
  s->content.len = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    const bool is_event = pb_field_key(&f) == PB_KEY(FTRACE_EVENT, PB_BYTES);
    if (pb_field_key(&f) == PB_KEY(FTRACE_COMPACT, PB_BYTES)) n += put_columns(r, &f, shift);
    else if (is_event && is_before(r, head_number(&f, FTRACE_EVENT_TIME, INT64_MAX), shift)) continue;
    else buf_append(&s->content, from, (size_t)(in.p - from));
    n += is_event;
  }
  return n;
}

/* ---- packets ---- */

/* What is left of a packet. */
enum rest { ALL, SOME, NONE };

static enum rest rest_of_bundle(struct perfetto *r, const struct packet_head *h) {
  const struct head_clock clock = head_bundle_clock(h, true);
  if (clock.id != r->trace_clock || h->machine) return ALL;
  return put_bundle(r, &h->content, clock.shift) ? SOME : NONE;
}

/* True for a snapshot with a clock that is local to its sequence, which restarts there. Each part has its own ones, even if they are
 * equal. */
static bool restarts_clock(const struct packet_head *h) {
  struct pb in = pb_inside(&h->content);
  struct pb_field f;
  while (h->content.number == PACKET_CLOCK_SNAPSHOT && pb_next(&in, &f))
    if (f.number == SNAPSHOT_CLOCKS && clock_is_local(head_number(&f, CLOCK_ID, 0))) return true;
  return false;
}

/* True if a cut keeps the packet whatever its time is, so each part contains a copy. */
static bool stays_always(const struct packet_head *h) {
  const bool is_state = h->kind && h->kind->rule == KIND_STATE, has_items = h->kind && h->kind->rule == KIND_ITEMS;
  if (h->has_state || has_items || restarts_clock(h)) return false;
  if (h->content.number == PACKET_TRACEKIT || h->content.number == PACKET_TRACK_EVENT) return false;
  return is_state || !h->has_timestamp || (h->kind && head_has(&h->content, h->kind->state));
}

/* True if the packet occurred in an earlier part. A packet that this part repeats occurs equally often in the part before. */
static bool is_repeated(struct perfetto *r, const uint8_t *p, size_t n) {
  if (r->parts.joins) return intern_id(&r->parts.seen, p, n) != 0;
  intern(&r->parts.seen, p, n);
  return false;
}

/* True if an earlier part contains this sample of a GPU counter because it is the first one after the range of that part. */
static bool is_known_sample(struct perfetto *r, const struct packet_head *h, const uint8_t *p, size_t n) {
  struct part_reader *s = &r->parts;
  if (h->content.number != PACKET_GPU_COUNTER) return false;
  if (s->joins && intern_id(&s->seen, p, n)) return true;
  if (s->has_end && (int64_t)h->timestamp >= s->end) intern(&s->seen, p, n);
  return false;
}

/* True if a cut judges the items of the packet, not the packet. So each item is in one part. */
static bool has_own_times(const struct packet_head *h) {
  const enum kind_rule rule = h->kind ? h->kind->rule : KIND_TIMED;
  return rule == KIND_ITEMS || (rule == KIND_LISTS && head_has(&h->content, h->kind->time));
}

static enum rest rest_of(struct perfetto *r, const struct packet_head *h, const uint8_t *p, size_t n) {
  if (!h->content.number) return ALL;
  if (stays_always(h)) return is_repeated(r, p, n) ? NONE : ALL;
  const struct sequence *q = perfetto_sequence(r, h->machine, h->sequence);
  if (h->content.number == PACKET_FTRACE) return r->parts.joins ? rest_of_bundle(r, h) : ALL;
  if (!q || !h->has_timestamp || has_own_times(h) || !early_is_direct(r, q, h)) return ALL;
  if (h->kind && h->kind->rule == KIND_STATE) return ALL;
  return (r->parts.joins && (int64_t)h->timestamp < r->parts.start) || is_known_sample(r, h, p, n) ? NONE : ALL;
}

/* Copies the packet without its content, or with the content in parts.content. */
static void put_rest(struct perfetto *r, const struct packet_head *h, enum rest rest, const uint8_t *p, size_t n) {
  struct part_reader *s = &r->parts;
  struct pb in = pb_over(p, n);
  struct pb_field f;
  s->packet.len = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    if (head_is_state(f.number) || head_is_transport(f.number)) buf_append(&s->packet, from, (size_t)(in.p - from));
    else if (rest == SOME && f.p == h->content.p) pb_message(&s->packet, f.number, &s->content);
  }
}

bool parts_packet(struct perfetto *r, const uint8_t **p, size_t *n) {
  const struct pb_field packet = {TRACE_PACKET, PB_BYTES, *n, *p};
  struct packet_head h = {.kind = NULL};
  if (!r->parts.is_part) return true;
  head_read(&packet, &h);
  const enum rest rest = rest_of(r, &h, *p, *n);
  if (rest == ALL) return true;
  if (rest == NONE && !h.has_state) return false;
  put_rest(r, &h, rest, *p, *n);
  *p = r->parts.packet.data;
  *n = r->parts.packet.len;
  return true;
}
