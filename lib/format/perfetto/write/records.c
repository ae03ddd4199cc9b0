/* records.c - writes records (JSON without a time, or without meaning as an event) in packets that importers ignore.
 *
 * Records that contain the name of a track are written unchanged, unless an operation has renamed the track; viewers use the
 * name in the track's descriptor. */
#include "records.h"
#include "writer.h"
#include "machine.h"
#include "descriptors.h"

static bool records_is_wanted(const struct perfetto_sink *s, const struct tk_record *r) {
  if (r->derived || (r->track && descriptor_track_hidden(s, r->track))) return false;
  return r->kind == TK_RECORD_OTHER || !r->track || !s->t->tracks[r->track].renamed;
}

static void records_put_text(struct perfetto_sink *s, const struct tk_record *r) {
  s->text.len = 0;
  buf_append(&s->text, "{", 1);
  buf_append(&s->text, trace_raw(s->t, r->at), r->size);
  buf_append(&s->text, "}", 1);
  pb_message(&s->inner, RECORD_TEXT, &s->text);
}

static void put_record(struct perfetto_sink *s, const struct tk_record *r) {
  struct buf *record = &s->inner, *b = &s->private_fields;
  record->len = b->len = s->packet.len = 0;
  if (r->kind) pb_u64(record, RECORD_KIND, r->kind);
  if (r->phase) pb_u64(record, RECORD_PHASE, (unsigned char)r->phase);
  if (r->track && s->uuids[r->track]) pb_u64(record, RECORD_TRACK, s->uuids[r->track]);
  if (r->strong) pb_u64(record, RECORD_STRONG, 1);
  if (r->has_ts) pb_i64(record, RECORD_TIME, writer_ns(&s->w, r->ts));
  records_put_text(s, r);
  pb_message(b, TRACEKIT_RECORD, record);
  pb_message(&s->packet, PACKET_TRACEKIT, b);
  if (s->w.machine) pb_u64(&s->packet, PACKET_MACHINE_ID, s->w.machine);
  writer_packet(s->out, &s->packet);
  s->w.n_packets++;
}

void records_write(struct perfetto_sink *s) {
  const struct tk_trace *t = s->t;
  for (tk_id i = 1; i <= t->n_records; i++) {
    if (!records_is_wanted(s, &t->records[i])) continue;
    if (t->records[i].track) machine_of_writer(s, t->records[i].track);
    put_record(s, &t->records[i]);
  }
}
