/* prune_packets.c - drops parts of passthrough packets, while reading, that no longer apply at the start of a later cut.
 *
 * early.c keeps the events before the range that may apply in it. Most of them no longer do as the reader reads on: their span ends,
 * or their counter or CPU gets a later value. Those are dropped, so that the cut (write/cut_state.c) finds the same events open:
 *
 *     samples      all but the last one of their key
 *     spans        begin and end together, and ends without a begin
 *     columns      the switches of a bundle, if a later bundle of the CPU has some as well
 *
 * Events of different CPUs are not in order of time. A late event between the begin and the end of a span changes what the end event
 * belongs to. So spans are dropped only if they end before the latest time that the previous pass saw, by twice as much as any event
 * so far was late. If an even later event follows, the file is read again without this file.
 *
 * Events on another clock than the trace clock stay, as do Binder calls and spans of packets other than ftrace.
 * Anonymous memory for 10 s near the end of 200 MB of ftrace and perf samples: 102 MB without this file, 79 MB with it; the samples
 * are on another clock and stay. */
#include "prune_packets.h"

#include <string.h>

#include "base/hash.h"
#include "early.h"
#include "format/pb_out.h"
#include "format/perfetto/compact.h"
#include "format/perfetto/marks.h"
#include "sequence.h"

/* MOST, LEAST: bytes between two passes. A small file has fewer, as in prune.c. */
enum { MOST = 8 << 20, LEAST = 256, SHARE = 64 };

/* The columns of a CPU's last bundle before the range. */
struct columns {
  const uint8_t *at; /* NULL = none */
  int64_t last;      /* time of the last switch in them */
  bool is_inside;    /* columns in the range came before, so that those before the range have no effect */
};

struct pass {
  struct perfetto *r;
  struct marks marks;
  struct map gone;   /* addresses of events, columns and contents of packets */
  struct map cpus;   /* CPU -> 1 + index in of_cpus */
  struct columns *of_cpus;
  uint32_t n_cpus, cap_cpus;
  struct map firsts; /* CPUs of the bundles so far */
  struct buf content;
  const uint8_t *fresh; /* the data after this address was added since the previous pass */
};

/* ---- the order of events ---- */

static int64_t *dropped_until(struct perfetto *r, uint64_t key) { return &r->packet_prune.dropped_until[key % PRUNE_BUCKETS]; }

/* Notes how late the event is, and whether it comes after dropped spans of its key in the file but not in time. */
static void note_time(struct pass *p, const struct mark *mark, int64_t ns) {
  struct packet_prune *s = &p->r->packet_prune;
  if (mark->at < p->fresh) return;
  if (ns < *dropped_until(p->r, mark->key)) s->is_late = true;
  if (ns > s->newest) s->newest = ns;
  else if (num_sub(s->newest, ns) > s->lateness) s->lateness = num_sub(s->newest, ns);
}

/* Returns the time before which spans have ended for good. */
static int64_t settled_ns(const struct perfetto *r) {
  const struct packet_prune *s = &r->packet_prune;
  return s->settled != INT64_MIN && !s->is_mixed ? num_sub(s->settled, num_add(s->lateness, s->lateness)) : INT64_MIN;
}

/* ---- marks ---- */

static void add_mark(struct pass *p, struct mark mark, int64_t ns) {
  note_time(p, &mark, ns);
  marks_add(&p->marks, mark, ns);
}

static uint64_t cpu_of(const struct packet_head *h) {
  return (uint64_t)h->machine << 32 | (uint32_t)head_number(&h->content, FTRACE_CPU, 0);
}

static struct columns *columns_of(struct pass *p, const struct packet_head *h) {
  struct mem *mem = &p->r->t->store->mem;
  uint32_t *at = map_put(&p->cpus, cpu_of(h), 0);
  if (!at || (!*at && !mem_grow(mem, (void **)&p->of_cpus, &p->cap_cpus, (uint64_t)p->n_cpus + 1, sizeof *p->of_cpus))) return NULL;
  if (!*at) {
    p->of_cpus[p->n_cpus] = (struct columns){.at = NULL};
    *at = ++p->n_cpus;
  }
  return &p->of_cpus[*at - 1];
}

static void drop(struct pass *p, const uint8_t *at) { map_put(&p->gone, (uint64_t)(uintptr_t)at, 1); }

/* Drops the columns of the CPU's previous bundle if these columns replace them: the cut uses the last ones in the file, and the last
 * switch in time. */
static void add_columns(struct pass *p, const struct packet_head *h, const struct pb_field *field) {
  struct compact c;
  struct compact_item item;
  struct columns *before = columns_of(p, h), now = {.at = NULL};
  if (!before) return;
  compact_read(&c, field);
  for (int kind = 0; kind < COMPACT_KINDS; kind++) {
    while (compact_next(&c, (enum compact_kind)kind, &item)) {
      if (early_place_of(p->r, (int64_t)item.time) != EARLY_BEFORE) before->is_inside = true;
      if (kind == COMPACT_SWITCHES) now = (struct columns){.at = field->p, .last = (int64_t)item.time};
    }
  }
  if (before->is_inside || !now.at) return;
  if (before->at && now.last >= before->last) drop(p, before->at);
  *before = now;
}

static void add_event(struct pass *p, const struct packet_head *h, const struct pb_field *f) {
  struct mark mark;
  int64_t ns;
  if (!early_event_ns(f, &ns) || early_place_of(p->r, ns) != EARLY_BEFORE) return;
  const struct mark_event event = mark_event(f, cpu_of(h));
  const enum lasting lasting = pair_lasting(event.content.number);
  if (event.content.number == FTRACE_SWITCH) add_mark(p, mark_of_switch(h, event.at, event.cpu), ns);
  else if ((lasting == LASTING_TEXT || lasting == LASTING_PAIR) && mark_of_event(h, &event, &mark)) add_mark(p, mark, ns);
}

static void add_bundle(struct pass *p, const struct packet_head *h) {
  const struct head_clock clock = head_bundle_clock(h, true);
  struct pb_field f;
  if (clock.shift || !early_is_trace_clock(p->r, h, clock.id)) {
    p->r->packet_prune.is_mixed = p->r->packet_prune.is_mixed || h->machine == 0;
    return;
  }
  for (struct pb in = pb_inside(&h->content); pb_next(&in, &f);) {
    if (pb_field_key(&f) == PB_KEY(FTRACE_EVENT, PB_BYTES)) add_event(p, h, &f);
    if (pb_field_key(&f) == PB_KEY(FTRACE_COMPACT, PB_BYTES) && !head_has(&h->content, h->kind->state)) add_columns(p, h, &f);
  }
}

static void add_packet(struct pass *p, const struct packet_head *h) {
  struct mark marks[PACKET_MARKS];
  if (h->content.number == PACKET_FTRACE) {
    add_bundle(p, h);
    return;
  }
  if (!head_has_samples(h->content.number) || !h->has_timestamp) return;
  const struct sequence *q = perfetto_sequence(p->r, h->machine, h->sequence);
  if (!q || !early_is_direct(p->r, q, h)) return;
  if (early_place_of(p->r, (int64_t)h->timestamp) != EARLY_BEFORE || marks_of_packet(h, marks) != 1) return;
  add_mark(p, marks[0], (int64_t)h->timestamp);
}

/* ---- choice ---- */

/* Drops an end event, with its begin event if it has one, or a begin event without effect. */
static void drop_span(struct pass *p, struct mark *mark, int64_t ns) {
  int64_t *until = dropped_until(p->r, mark->key);
  if (ns > *until) *until = ns;
  drop(p, mark->at);
  if (mark->kind == MARK_END && mark->other) drop(p, p->marks.of[mark->other - 1].at);
  p->r->t->store->early.guessed = p->r->packet_prune.has_dropped = true;
}

static void judge_marks(struct pass *p) {
  const int64_t settled = settled_ns(p->r);
  if (!marks_pair(&p->marks)) return;
  for (uint32_t i = 0; i < p->marks.n; i++) {
    struct mark *mark = &p->marks.of[p->marks.sorted[i].index];
    const int64_t ns = p->marks.sorted[i].key;
    if (mark->is_open) continue;
    if (mark->kind == MARK_SAMPLE && !mark->other) drop(p, mark->at);
    if ((mark->kind == MARK_END || (mark->kind == MARK_BEGIN_ONCE && !mark->other)) && ns < settled) drop_span(p, mark, ns);
  }
}

/* ---- removal ---- */

static bool is_gone(const struct pass *p, const struct pb_field *f) { return map_get(&p->gone, (uint64_t)(uintptr_t)f->p) != NULL; }

/* Copies what stays of a bundle to p->content. Returns the number of dropped fields, and sets *left to the number of copied fields
 * that have events. */
static uint64_t reduce(struct pass *p, const struct packet_head *h, uint64_t *left) {
  struct pb in = pb_inside(&h->content);
  struct pb_field f;
  uint64_t n = 0;
  p->content.len = *left = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    const bool has_events = f.number == FTRACE_EVENT || f.number == FTRACE_COMPACT;
    const bool goes = has_events && is_gone(p, &f);
    n += goes;
    *left += has_events && !goes;
    if (!goes) buf_append(&p->content, from, (size_t)(in.p - from));
  }
  return n;
}

/* True for the first bundle of its CPU, which stays even if it becomes empty (write/cut.c). */
static bool is_first_bundle(struct pass *p, const struct packet_head *h) {
  uint32_t *seen = map_put(&p->firsts, cpu_of(h), 0);
  const bool is_first = seen && !*seen;
  if (seen) *seen = 1;
  return is_first;
}

/* Returns false if the packet stays as it is. Otherwise copies what is left of it to r->packets. */
static bool shrink_packet(struct pass *p, const struct pb_field *packet, const struct packet_head *h) {
  struct perfetto *r = p->r;
  uint64_t left = 0;
  const bool is_bundle = h->content.number == PACKET_FTRACE;
  const bool is_first = is_bundle && is_first_bundle(p, h);
  if (is_bundle ? !reduce(p, h, &left) : !is_gone(p, &h->content)) return false;
  const bool has_content = is_bundle && (left || is_first || head_has(&h->content, h->kind->state));
  r->copy.len = r->packets.len = 0;
  early_copy_packet(packet, h, has_content ? &p->content : NULL, &r->copy);
  if (has_content || h->has_state) pb_message(&r->packets, TRACE_PACKET, &r->copy);
  r->t->store->early.n++;
  return true;
}

/* Moves the packets of a meta that stay to `to`. None is longer than before, so the data that is still to be read is not overwritten.
 * Returns the end of the packets. */
static uint8_t *move_packets(struct pass *p, const struct tk_meta *m, uint8_t *to) {
  struct pb in = pb_over(trace_raw(p->r->t, m->at), (size_t)m->size);
  struct pb_field packet;
  for (const uint8_t *from = in.p; pb_next(&in, &packet); from = in.p) {
    struct packet_head h = {.kind = NULL};
    head_read(&packet, &h);
    const bool is_changed = h.content.p && shrink_packet(p, &packet, &h);
    const size_t n = is_changed ? p->r->packets.len : (size_t)(in.p - from);
    if (n) memmove(to, is_changed ? p->r->packets.data : from, n);
    to += n;
  }
  return to;
}

static bool is_packets(const struct tk_trace *t, tk_id meta) { return passthrough_is(t, &t->metas[meta], PASSTHROUGH_PACKETS); }

/* Moves raw data from `at` up to `end` to `to`, and updates the records in it, of which *record is the first. Returns the end of the
 * moved data. */
static uint8_t *move_others(struct tk_trace *t, uint64_t at, uint64_t end, uint8_t *to, tk_id *record) {
  uint8_t *data = t->store->raw.data;
  for (; *record <= t->n_records && t->records[*record].at < end; ++*record) t->records[*record].at -= at - (uint64_t)(to - data);
  memmove(to, data + at, (size_t)(end - at));
  return to + (end - at);
}

/* Removes what is gone. Metas and records are in the order of their raw data. */
static void remove_gone(struct pass *p) {
  struct tk_trace *t = p->r->t;
  struct buf *raw = &t->store->raw;
  uint8_t *to = raw->data;
  uint64_t at = 0; /* end of the data that was moved */
  tk_id record = 1;
  for (tk_id i = 1; i <= t->n_metas; i++) {
    struct tk_meta *m = &t->metas[i];
    if (!is_packets(t, i)) {
      m->at -= at - (uint64_t)(to - raw->data);
      continue;
    }
    to = move_others(t, at, m->at, to, &record);
    at = m->at + m->size;
    const uint64_t start = (uint64_t)(to - raw->data);
    to = move_packets(p, m, to);
    m->at = start;
    m->size = (uint64_t)(to - raw->data) - start;
  }
  raw->len = (size_t)(move_others(t, at, raw->len, to, &record) - raw->data);
}

/* ---- a pass ---- */

static void find_marks(struct pass *p) {
  const struct tk_trace *t = p->r->t;
  struct pb_field packet;
  p->fresh = t->store->raw.data + p->r->packet_prune.checked;
  for (tk_id i = 1; i <= t->n_metas; i++) {
    if (!is_packets(t, i)) continue;
    for (struct pb in = pb_over(trace_raw(t, t->metas[i].at), (size_t)t->metas[i].size); pb_next(&in, &packet);) {
      struct packet_head h = {.kind = NULL};
      head_read(&packet, &h);
      add_packet(p, &h);
    }
  }
}

static void run(struct perfetto *r) {
  struct mem *mem = &r->t->store->mem;
  struct pass p = {.r = r, .marks.mem = mem, .content.mem = mem};
  map_init(&p.gone, mem);
  map_init(&p.cpus, mem);
  map_init(&p.firsts, mem);
  find_marks(&p);
  judge_marks(&p);
  if (p.gone.n && !mem->failed) {
    early_note_clock(r);
    remove_gone(&p);
  }
  marks_free(&p.marks);
  map_free(&p.gone);
  map_free(&p.cpus);
  mem_free(mem, p.of_cpus);
  map_free(&p.firsts);
  buf_free(&p.content);
}

/* True if spans were dropped that should have been kept. */
static bool has_failed(const struct perfetto *r) {
  const struct packet_prune *s = &r->packet_prune;
  return s->has_dropped && (s->is_late || s->is_mixed);
}

void prune_packets_start(struct perfetto *r) {
  const struct trace_early *e = &r->t->store->early;
  const uint64_t size = in_raw_total(r->in), batch = size / SHARE;
  struct packet_prune *s = &r->packet_prune;
  *s = (struct packet_prune){.next = UINT64_MAX, .newest = INT64_MIN, .settled = INT64_MIN};
  if (!e->asked || e->is_certain) return;
  s->batch = size == 0 || batch > MOST ? MOST : batch < LEAST ? LEAST : batch;
  s->next = s->batch;
}

/* Allocates the array of times. Returns false if memory runs out. */
static bool begin_times(struct perfetto *r) {
  struct packet_prune *s = &r->packet_prune;
  if (s->dropped_until) return true;
  s->dropped_until = mem_array(&r->t->store->mem, PRUNE_BUCKETS, sizeof *s->dropped_until);
  for (size_t i = 0; s->dropped_until && i < PRUNE_BUCKETS; i++) s->dropped_until[i] = INT64_MIN;
  return s->dropped_until != NULL;
}

void prune_packets(struct perfetto *r) {
  struct packet_prune *s = &r->packet_prune;
  struct buf *raw = &r->t->store->raw;
  if (!begin_times(r)) return;
  run(r);
  if (has_failed(r)) r->t->store->early.failed = true;
  s->settled = s->newest;
  s->checked = raw->len;
  s->next = s->checked + (s->checked > s->batch ? s->checked : s->batch);
}

void prune_packets_check(struct perfetto *r) {
  if (r->packet_prune.has_dropped) prune_packets(r);
}

