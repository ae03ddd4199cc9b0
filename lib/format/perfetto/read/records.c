/* records.c - reads private packets without an event: records, events that viewers do not show, flow points without an event.
 *
 * While the file is read, a record's track is a site (see reader.h), and its time is in ns on the trace clock. */
#include "records.h"
#include "samples.h"
#include "parts.h"
#include "reader.h"
#include "track.h"
#include "flow_points.h"
#include "counters.h"
#include "clock.h"
#include "args.h"

static bool of_thread(uint8_t kind) { return kind == TK_RECORD_THREAD_NAME || kind == TK_RECORD_THREAD_SORT; }

/* Stores the text between the braces of an object, which must be compact, strict JSON. Returns false if it is not. */
static bool take_text(struct perfetto *r, const struct pb_field *f, struct tk_record *rec) {
  struct buf *raw = &r->t->store->raw;
  if (!perfetto_is_json(r, f) || *r->json.data != '{') return false;
  rec->at = raw->len;
  rec->size = (uint32_t)r->json.len - 2;
  if (!buf_append(raw, r->json.data + 1, rec->size)) return false;
  trace_end_raw(r->t);
  return true;
}

static void add_record(struct perfetto *r, struct sequence *q, uint32_t machine, const struct pb_field *f) {
  struct tk_record rec = {.kind = TK_RECORD_OTHER};
  struct pb_field g, text = {0};
  uint64_t uuid = 0, kind = 0;
  for (struct pb c = pb_inside(f); pb_next(&c, &g);) {
    switch (pb_field_key(&g)) {
    case PB_KEY(RECORD_KIND, PB_VARINT): kind = g.value; break;
    case PB_KEY(RECORD_PHASE, PB_VARINT): rec.phase = g.value < 128 ? (char)g.value : 0; break;
    case PB_KEY(RECORD_TRACK, PB_VARINT): uuid = g.value; break;
    case PB_KEY(RECORD_STRONG, PB_VARINT): rec.strong = g.value != 0; break;
    case PB_KEY(RECORD_SAMPLED, PB_VARINT): rec.sampled = g.value != 0; break;
    case PB_KEY(RECORD_TIME, PB_VARINT): rec.ts = (int64_t)g.value, rec.has_ts = true; break;
    case PB_KEY(RECORD_TEXT, PB_BYTES): text = g; break;
    default: break;
    }
  }
  if (kind > TK_RECORD_THREAD_SORT || !text.p || !take_text(r, &text, &rec)) {
    perfetto_note(r, TK_NOTE_REPAIR, "damaged record: dropped");
    return;
  }
  rec.kind = (uint8_t)kind;
  uint32_t node = rec.strong ? track_node_of_uuid(r, q, machine, uuid) : 0;
  if (node) rec.track = node * ASPECTS + (of_thread(rec.kind) ? ON_TRACK : ON_PROCESS);
  *trace_add_record(r->t) = rec;
  r->t->counts.read++;
  r->t->counts.by_phase[(unsigned char)rec.phase]++;
}

/* If the record's time is out of range, moves it to the record's text. */
static void put_time(struct perfetto *r, struct tk_record *rec) {
  struct buf *raw = &r->t->store->raw, *b = &r->copy;
  char text[48];
  b->len = 0;
  buf_append(b, trace_raw(r->t, rec->at), rec->size);
  if (rec->size) buf_append(b, ",", 1);
  buf_append(b, "\"ts\":", 5);
  buf_append(b, text, num_put_us(text, (i128)rec->ts * 1000));
  rec->at = raw->len;
  rec->has_ts = false;
  rec->size = buf_append(raw, b->data, b->len) ? (uint32_t)b->len : 0;
  trace_end_raw(r->t);
}

void perfetto_record_times(struct perfetto *r, int64_t origin) {
  for (tk_id i = 1; i <= r->t->n_records; i++) {
    struct tk_record *rec = &r->t->records[i];
    if (!rec->has_ts) continue;
    if (perfetto_in_range(rec->ts, origin)) rec->ts = (rec->ts - origin) * 1000;
    else put_time(r, rec);
  }
}

/* Reads a TRACEKIT_TRACK field, which viewers ignore: the descriptor of a counter without samples, or more properties of a track or
 * machine that other packets describe. */
static void describe_track(struct perfetto *r, struct sequence *q, uint32_t machine, const struct pb_field *f) {
  bool whole;
  uint32_t at = track_descriptor(r, q, machine, f, &whole);
  if (at && r->nodes[at].as_it_came) r->nodes[at].has_private = false;
}

void perfetto_private_packet(struct perfetto *r, struct sequence *q, const struct packet *k) {
  struct counter_sample s = {.sequence = (uint32_t)(q - r->sequences)};
  struct flow_site site = {0};
  struct pb_field f;
  clock_time(r, q, k, &s.ns, &s.pending); /* to advance an incremental clock */
  for (struct pb c = pb_inside(&k->private_fields); pb_next(&c, &f);) {
    if (pb_field_key(&f) == PB_KEY(TRACEKIT_LATER, PB_VARINT) && f.value < INT64_MAX / 2) r->later_ns = (int64_t)f.value;
    if (f.wire != PB_BYTES) continue;
    if (f.number == TRACEKIT_PART) parts_begin(r, &f);
    if (f.number == TRACEKIT_RECORD) add_record(r, q, k->machine, &f);
    if (f.number == TRACEKIT_TRACK) describe_track(r, q, k->machine, &f);
    if (f.number == TRACEKIT_SAMPLE && k->sample.p) samples_own(r, q, k, &f, (struct proc_time){s.ns, s.pending});
    if (f.number != TRACEKIT_ARGS && f.number != TRACEKIT_POINTS) continue;
    s.node = track_node_of_uuid(r, q, k->machine, q->has_track ? q->default_track : 0);
    site = (struct flow_site){.node = s.node, .ns = s.ns};
    if (s.node && f.number == TRACEKIT_ARGS) perfetto_lone_counter(r, q, &s, &f);
    else if (s.node) perfetto_lone_point(r, q, k, &site, &f);
  }
}
