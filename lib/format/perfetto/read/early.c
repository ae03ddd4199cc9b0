/* early.c - leaves out packets that a later cut in time removes anyway.
 *
 * If the caller announces a cut (tk_sources_load_cut), a packet that this cut removes need not be stored. The cut itself (write/cut.c)
 * sees the whole trace and all clocks, and makes the final choice. This file removes only packets that the cut would remove in any
 * case, so the result is the same, byte for byte. A packet is kept in case of doubt:
 *
 *     its time is on a clock other than the trace clock, or on a default clock of its sequence
 *     it changes the state of its sequence: then only its content is left out
 *     it is before the range and may apply there: text of programs, Binder calls, begin and end events, samples, descriptions
 *     it is a sample of a GPU counter after the range, which may contain the value of the sample before
 *     it is the first ftrace bundle of its CPU
 *     it is the last switch in the columns of a bundle before the range, which states what runs at the start
 *
 * One second near the start of 360 MB of ftrace, a fifth of whose events are text of programs: 436 MB of memory without this file, 97
 * MB with it; near the end 457 MB and 156 MB. */
#include "early.h"

#include <string.h>

#include "format/perfetto/compact.h"
#include "format/perfetto/head.h"
#include "format/perfetto/pairs.h"
#include "format/pb_out.h"

enum { MARGIN = 1000000 }; /* ps; times this close to the range stay, whatever rounding the cut applies */

enum early_place early_place_of(const struct perfetto *r, int64_t ns) {
  const struct trace_early *e = &r->t->store->early;
  const i128 ps = ((i128)ns - r->later_ns) * 1000;
  if (e->start != INT64_MIN && ps < (i128)e->start - MARGIN) return EARLY_BEFORE;
  return e->end != INT64_MAX && ps > (i128)e->end + MARGIN ? EARLY_AFTER : EARLY_NEAR; /* times may exceed 64 bits */
}

static bool early_left_out(const struct trace_early *e) { return e->n || e->events; }

void early_note_clock(struct perfetto *r) {
  const struct trace_early *e = &r->t->store->early;
  if (!early_left_out(e)) r->early_clock = r->trace_clock, r->early_later_ns = r->later_ns;
}

bool early_is_trace_clock(const struct perfetto *r, const struct packet_head *h, uint32_t clock) {
  return clock == r->trace_clock && h->machine == 0;
}

/* ---- ftrace bundles ---- */

bool early_event_ns(const struct pb_field *event, int64_t *ns) {
  struct pb in = pb_inside(event);
  struct pb_field f;
  while (pb_next(&in, &f)) {
    if (pb_field_key(&f) != PB_KEY(FTRACE_EVENT_TIME, PB_VARINT)) continue;
    *ns = (int64_t)f.value;
    return true;
  }
  return false;
}

/* Ways in which an event before the range may apply in it: as one of a pair, a sample of a counter or a part of a call; as a switch, if
 * it is the last one of its CPU. */
enum effect { NO_EFFECT, MAY_LAST, MAY_RUN };

static enum effect effect_of(const struct pb_field *item) {
  enum effect effect = NO_EFFECT;
  struct pb in = pb_inside(item);
  struct pb_field f;
  while (effect != MAY_LAST && pb_next(&in, &f)) {
    if (f.number == FTRACE_SWITCH) effect = MAY_RUN;
    if (pair_lasting(f.number) != LASTING_NOT) effect = MAY_LAST;
  }
  return effect;
}

/* Returns the place of an event, and its time; EARLY_NEAR if it has none. */
static enum early_place place_of_event(const struct perfetto *r, const struct pb_field *event, int64_t *ns) {
  *ns = 0;
  return early_event_ns(event, ns) ? early_place_of(r, *ns) : EARLY_NEAR;
}

/* Adds the times of a column of compact_sched to the first and last time of the bundle. */
static void add_column(const struct pb_field *deltas, int64_t *first, int64_t *last) {
  uint64_t time = 0, delta;
  for (struct pb in = pb_inside(deltas); in.p < in.end && pb_varint(&in, &delta);) {
    time += delta;
    if ((int64_t)time < *first) *first = (int64_t)time;
    if ((int64_t)time > *last) *last = (int64_t)time;
  }
}

/* True if a bundle with compact_sched has no part in the range. */
static bool is_outside(const struct perfetto *r, const struct pb_field *bundle) {
  int64_t first = INT64_MAX, last = INT64_MIN, ns;
  struct pb in = pb_inside(bundle);
  struct pb_field f, g;
  while (pb_next(&in, &f)) {
    if (f.number == FTRACE_EVENT && early_event_ns(&f, &ns)) {
      if (ns < first) first = ns;
      if (ns > last) last = ns;
    }
    for (struct pb columns = pb_inside(&f); f.number == FTRACE_COMPACT && pb_next(&columns, &g);)
      if (g.number == COMPACT_SWITCH_TIME || g.number == COMPACT_WAKING_TIME) add_column(&g, &first, &last);
  }
  return first <= last && (early_place_of(r, first) == EARLY_AFTER || early_place_of(r, last) == EARLY_BEFORE);
}

/* Appends columns with only the last switch, which states what runs on the CPU at the start of the range. Returns false if there is no
 * switch before the range. */
static bool keep_last_switch(const struct perfetto *r, const struct pb_field *columns, struct buf *to) {
  struct compact c;
  struct compact_out out;
  struct compact_item item, last = {.time = 0};
  struct buf content = {.mem = to->mem};
  struct pb_field name;
  bool any = false;
  compact_read(&c, columns);
  while (compact_next(&c, COMPACT_SWITCHES, &item)) last = item, any = true;
  if (!any || early_place_of(r, (int64_t)last.time) != EARLY_BEFORE) return false;
  if (compact_name(columns, last.value[COMPACT_NEXT_NAME], &name)) pb_field(&content, &name);
  last.value[COMPACT_NEXT_NAME] = 0;
  compact_begin(&out, to->mem);
  compact_put(&out, &last);
  compact_append(&out, &content);
  pb_message(to, FTRACE_COMPACT, &content);
  compact_end(&out);
  buf_free(&content);
  return true;
}

static void insert_bytes(struct buf *b, size_t at, const uint8_t *p, size_t n) {
  if (!n || !buf_reserve(b, n)) return;
  memmove(b->data + at + n, b->data + at, b->len - at);
  memcpy(b->data + at, p, n);
  b->len += n;
}

/* Copies the parts of the bundle that the cut may keep to r->packets. Returns the number of dropped parts, and sets *left to the number
 * of copied parts that have events. */
static uint64_t reduce(struct perfetto *r, const struct pb_field *bundle, uint64_t *left) {
  struct pb in = pb_inside(bundle);
  struct pb_field f;
  uint64_t gone = 0;
  /* The last switch before the range, and where to insert it. */
  struct { const uint8_t *p; size_t n, at; int64_t ns; } last = {NULL, 0, 0, 0};
  int64_t ns = 0;
  r->packets.len = *left = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    const size_t n = (size_t)(in.p - from);
    const bool is_item = f.number == FTRACE_EVENT && f.wire == PB_BYTES;
    const enum early_place place = is_item ? place_of_event(r, &f, &ns) : EARLY_NEAR;
    const enum effect effect = place == EARLY_BEFORE ? effect_of(&f) : NO_EFFECT;
    const bool goes = f.number == FTRACE_COMPACT || (place != EARLY_NEAR && effect != MAY_LAST);
    if (effect == MAY_RUN && (!last.p || ns >= last.ns)) last.p = from, last.n = n, last.at = r->packets.len, last.ns = ns;
    *left += is_item && !goes;
    if (f.number == FTRACE_COMPACT) *left += keep_last_switch(r, &f, &r->packets);
    gone += goes;
    if (!goes) buf_append(&r->packets, from, n);
  }
  insert_bytes(&r->packets, last.at, last.p, last.n);
  *left += last.p != NULL;
  return gone - (last.p != NULL);
}

enum outcome { STAYS, SHRINKS, GOES };

static enum outcome judge_bundle(struct perfetto *r, const struct packet_head *h) {
  const struct head_clock clock = head_bundle_clock(h, true);
  uint64_t left;
  const uint64_t cpu = (uint64_t)h->machine << 32 | (uint32_t)head_number(&h->content, FTRACE_CPU, 0);
  uint32_t *seen = map_put(&r->early_cpus, cpu, 0);
  const bool is_first = !seen || !*seen, describes = head_has(&h->content, h->kind->state);
  const bool is_compact = head_has(&h->content, FTRACE_COMPACT);
  if (seen) *seen = 1;
  if (!early_is_trace_clock(r, h, clock.id) || clock.shift || (is_compact && (describes || !is_outside(r, &h->content)))) return STAYS;
  if (!reduce(r, &h->content, &left)) return STAYS;
  return left || is_first || describes ? SHRINKS : GOES;
}

/* ---- other packets ---- */

/* True if a packet out of the range may still apply in it. */
static bool may_apply(const struct packet_head *h, enum early_place place) {
  const uint32_t number = h->content.number;
  if (place == EARLY_AFTER) return number == PACKET_GPU_COUNTER;
  return head_has_samples(number) || pair_is_packet(number) || (h->kind && h->kind->rule == KIND_LAST);
}

bool early_is_direct(const struct perfetto *r, const struct sequence *q, const struct packet_head *h) {
  return h->has_clock && h->clock ? early_is_trace_clock(r, h, h->clock) : h->has_clock || !q->had_defaults;
}

static enum outcome judge_time(const struct perfetto *r, const struct sequence *q, const struct packet_head *h) {
  const bool is_span = h->kind && h->kind->duration;
  if (!h->has_timestamp || !early_is_direct(r, q, h) || is_span || (h->kind && head_has(&h->content, h->kind->state))) return STAYS;
  const enum early_place place = early_place_of(r, (int64_t)h->timestamp);
  return place == EARLY_NEAR || may_apply(h, place) ? STAYS : GOES;
}

static enum outcome outcome_of(struct perfetto *r, const struct sequence *q, const struct packet_head *h) {
  if (!h->content.number || (h->kind && h->kind->rule == KIND_STATE)) return STAYS;
  if (h->content.number == PACKET_FTRACE) return judge_bundle(r, h);
  return h->kind && (h->kind->rule == KIND_ITEMS || h->kind->rule == KIND_LISTS) ? STAYS : judge_time(r, q, h);
}

void early_copy_packet(const struct pb_field *packet, const struct packet_head *h, const struct buf *content, struct buf *to) {
  struct pb in = pb_inside(packet);
  struct pb_field f;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    if (head_is_state(f.number) || head_is_transport(f.number)) buf_append(to, from, (size_t)(in.p - from));
    else if (content && f.p == h->content.p) pb_message(to, f.number, content);
  }
}

/* Removes the content from r->copy, or replaces it with the bundle in r->packets. */
static void replace_content(struct perfetto *r, const struct pb_field *packet, const struct packet_head *h, bool shrinks) {
  const struct buf whole = r->copy;
  r->copy = r->early_copy;
  r->copy.len = 0;
  early_copy_packet(packet, h, shrinks ? &r->packets : NULL, &r->copy);
  r->early_copy = whole;
}

bool early_packet(struct perfetto *r, const struct sequence *q) {
  const struct pb_field packet = {TRACE_PACKET, PB_BYTES, r->copy.len, r->copy.data};
  struct trace_early *e = &r->t->store->early;
  struct packet_head h = {.kind = NULL};
  early_note_clock(r);
  head_read(&packet, &h);
  const enum outcome outcome = outcome_of(r, q, &h);
  if (outcome == STAYS) return true;
  e->n++;
  if (outcome == SHRINKS || h.has_state) replace_content(r, &packet, &h, outcome == SHRINKS);
  return outcome == SHRINKS || h.has_state;
}

void early_check(struct perfetto *r) {
  struct trace_early *e = &r->t->store->early;
  if (early_left_out(e) && (r->early_clock != r->trace_clock || r->early_later_ns != r->later_ns)) e->failed = true;
}
