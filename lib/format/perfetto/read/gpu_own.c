/* gpu_own.c - see gpu_own.h.
 *
 * The private fields contain the begin event of the span, and possibly its end event, as TrackEvents on the default track, with names,
 * args and flows. Only the duration comes from the GpuRenderStageEvent; its other fields repeat the span for viewers. For a counter
 * sample, the private fields contain the track event of the sample; they are empty in the packet that ends a counter. */
#include "gpu_own.h"

#include "clock.h"
#include "take_event.h"
#include "track_event.h"

struct own_stage {
  struct pb_field begin, end;
  struct own_end how;
};

static bool find_own(const struct packet *k, struct pb_field *own) {
  struct pb c = pb_inside(&k->private_fields);
  while (pb_next(&c, own))
    if (pb_field_key(own) == PB_KEY(TRACEKIT_GPU, PB_BYTES)) return true;
  return false;
}

void gpu_own_claim(struct packet *k) {
  struct pb_field own;
  const uint32_t number = k->content.number;
  if (!k->private_fields.p || number != k->other || (number != PACKET_GPU_RENDER_STAGE && number != PACKET_GPU_COUNTER)) return;
  if (!find_own(k, &own)) return;
  k->stage = k->content;
  k->content = (struct pb_field){0};
  k->other = 0;
}

static int64_t duration_of(const struct pb_field *stage) {
  struct pb c = pb_inside(stage);
  struct pb_field f;
  uint64_t duration = 0;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(GPU_DURATION, PB_VARINT)) duration = f.value;
  return duration > INT64_MAX ? INT64_MAX : (int64_t)duration;
}

static struct own_stage read_own(const struct packet *k) {
  struct own_stage s = {.how.dur = duration_of(&k->stage)};
  struct pb_field own, f;
  if (!find_own(k, &own)) return s;
  for (struct pb c = pb_inside(&own); pb_next(&c, &f);) {
    switch (pb_field_key(&f)) {
    case PB_KEY(GPU_OWN_BEGIN, PB_BYTES): s.begin = f; break;
    case PB_KEY(GPU_OWN_END, PB_BYTES): s.end = f; break;
    case PB_KEY(GPU_OWN_PAIRED, PB_VARINT): s.how.pairs = f.value != 0; break;
    case PB_KEY(GPU_OWN_POINTS, PB_VARINT): s.how.has_points = f.value != 0; break;
    default: break;
    }
  }
  return s;
}

void gpu_own_read(struct perfetto *r, struct sequence *q, const struct packet *k) {
  struct own_stage own = read_own(k);
  struct packet begin = *k;
  struct tk_trace *t = r->t;
  const tk_id before = t->n_events;
  int64_t ns;
  uint32_t clock;
  if (!own.begin.p) clock_time(r, q, k, &ns, &clock); /* to advance an incremental clock */
  if (!own.begin.p) return;
  begin.event = own.begin;
  perfetto_track_event(r, q, &begin);
  if (t->n_events != before + 1 || t->events[t->n_events].kind != TK_EVENT_BEGIN) return;
  struct tk_event *e = &t->events[t->n_events];
  struct node *n = &r->nodes[e->track / ASPECTS];
  if (n->open == t->n_events) n->open = (tk_id)e->dur;
  if (!own.end.p) own.end = (struct pb_field){PACKET_TRACK_EVENT, PB_BYTES, 0, (const uint8_t *)""};
  perfetto_own_end(r, q, &own.end, t->n_events, &own.how);
}
