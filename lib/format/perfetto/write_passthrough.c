/* write_passthrough.c - what came from a Perfetto file and has no place in the graph goes back into one. */
#include "writer.h"

#include <string.h>

static bool says_realtime(const struct pb_field *snapshot) {
  struct pb c = pb_inside(snapshot);
  struct pb_field clock, f;
  while (pb_next(&c, &clock))
    for (struct pb in = pb_inside(&clock); clock.number == SNAPSHOT_CLOCKS && pb_next(&in, &f);)
      if (pb_field_key(&f) == PB_KEY(CLOCK_ID, PB_VARINT) && f.value == CLOCK_REALTIME) return true;
  return false;
}

static void scan_packet(struct perfetto_sink *s, const struct pb_field *packet) {
  struct pb c = pb_inside(packet);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(PACKET_SEQUENCE_ID, PB_VARINT)) map_put(&s->sequences, (uint32_t)f.value, 1);
    if (pb_field_key(&f) == PB_KEY(PACKET_CLOCK_SNAPSHOT, PB_BYTES)) s->has_clocks = s->has_clocks || says_realtime(&f);
    if (f.number == PACKET_REMOTE_CLOCK_SYNC) s->has_remote_clocks = true;
  }
}

void write_passthrough(struct perfetto_sink *s, const struct tk_trace *t) {
  const uint8_t *end;
  for (tk_id i = 1; i <= t->n_metas; i++) {
    const struct tk_meta *m = &t->metas[i];
    const char *key = tk_string(t, m->key, NULL);
    struct pb c = pb_over(trace_raw(t, m->at), (size_t)m->size);
    struct pb_field f;
    if (!m->origin || m->size == 0) continue;
    if (strcmp(key, "perfetto.clock") == 0) s->clock = (uint32_t)num_scan((const uint8_t *)trace_raw(t, m->at), &end).mant;
    if (strcmp(key, "perfetto.packets") != 0) continue;
    while (pb_next(&c, &f)) scan_packet(s, &f);
    out_write(s->out, trace_raw(t, m->at), (size_t)m->size);
  }
}

uint32_t writer_sequence(struct perfetto_sink *s) {
  while (map_get(&s->sequences, s->next_sequence)) s->next_sequence++;
  return s->next_sequence++;
}

void passthrough_tracks_begin(struct perfetto_sink *s) {
  const struct tk_meta *m = s->passthrough_tracks = trace_meta(s->t, "perfetto.tracks");
  struct pb_field entry, f;
  map_init(&s->passthrough_at, &s->mem);
  if (!m || !m->origin) return;
  struct pb c = pb_over(trace_raw(s->t, m->at), (size_t)m->size);
  for (const uint8_t *start = c.p, *from = c.p; pb_next(&c, &entry); from = c.p) {
    struct pb in = pb_inside(&entry);
    if (pb_next(&in, &f) && f.number == PASSTHROUGH_TRACK) map_put(&s->passthrough_at, f.value, (uint32_t)(from - start));
  }
}

static bool passthrough_entry(const struct perfetto_sink *s, tk_id track, struct pb_field *entry) {
  const uint32_t *at = track ? map_get(&s->passthrough_at, track) : NULL;
  const struct tk_meta *m = s->passthrough_tracks;
  if (!at) return false;
  struct pb c = pb_over(trace_raw(s->t, m->at + *at), (size_t)m->size - *at);
  return pb_next(&c, entry);
}

void write_passthrough_fields(struct perfetto_sink *s, tk_id track, bool own, struct buf *to) {
  struct pb_field entry, f;
  if (!passthrough_entry(s, track, &entry)) return;
  for (struct pb in = pb_inside(&entry); pb_next(&in, &f);)
    if (f.number == (own ? PASSTHROUGH_INNER_FIELDS : PASSTHROUGH_FIELDS)) buf_append(to, f.p, (size_t)f.value);
}

bool passthrough_pid(struct perfetto_sink *s, tk_id track, int64_t *pid) {
  struct pb_field entry, f;
  if (!passthrough_entry(s, track, &entry)) return false;
  for (struct pb in = pb_inside(&entry); pb_next(&in, &f);)
    if (f.number == PASSTHROUGH_PID) return *pid = (int64_t)f.value, true;
  return false;
}
