/* perfetto_event.c - TrackEvents, as small as they get without losing a name.
 *
 * One sequence per graph: names, categories, arg keys and arg strings are interned in it once; the clock counts from the packet
 * before; the track is a default that changes when the track does.  So a begin is its time's delta, two ids and its args, and an
 * end is eleven bytes. */
#include <string.h>

#include "json.h"
#include "perfetto_write.h"

/* ---- life ---- */

static bool iids_init(struct iids *i, uint32_t n, struct mem *mem) {
  size_t size = ((size_t)n + 1) * sizeof *i->iid;
  i->n = 0;
  i->iid = mem_resize(mem, NULL, 0, size);
  if (i->iid) memset(i->iid, 0, size);
  return i->iid != NULL;
}

static void iids_free(struct iids *i, uint32_t n, struct mem *mem) {
  if (i->iid) mem_resize(mem, i->iid, ((size_t)n + 1) * sizeof *i->iid, 0);
}

bool writer_begin(struct event_writer *w, const struct tk_trace *t, int64_t base_ns, struct out *out, struct mem *mem) {
  uint32_t n = t->store->strings.n;
  w->t = t;
  w->out = out;
  w->mem = mem;
  w->base_ns = base_ns;
  w->started = false;
  w->track = 0;
  w->n_arrows = w->next_arrow = 0;
  w->interned.mem = w->event.mem = w->annotation.mem = w->packet.mem = w->scratch.mem = mem;
  return iids_init(&w->names, n, mem) && iids_init(&w->categories, n, mem) && iids_init(&w->keys, n, mem) &&
         iids_init(&w->values, n, mem);
}

void writer_end(struct event_writer *w) {
  uint32_t n = w->t->store->strings.n;
  iids_free(&w->names, n, w->mem);
  iids_free(&w->categories, n, w->mem);
  iids_free(&w->keys, n, w->mem);
  iids_free(&w->values, n, w->mem);
  mem_resize(w->mem, w->arrows, (size_t)w->cap_arrows * sizeof *w->arrows, 0);
  w->arrows = NULL;
  w->cap_arrows = 0;
  buf_free(&w->interned);
  buf_free(&w->event);
  buf_free(&w->annotation);
  buf_free(&w->packet);
  buf_free(&w->scratch);
}

/* ---- packets ---- */

void writer_packet(struct out *out, const struct buf *packet) {
  uint8_t *p = out_reserve(out, 16);
  out->next = pb_raw_varint(pb_key(p, TRACE_PACKET, PB_LENGTH), packet->len);
  out_write(out, packet->data, packet->len);
}

int64_t writer_ns(const struct event_writer *w, tk_time ts) {
  int64_t ns = ts >= 0 ? (ts + 500) / 1000 : -((499 - ts) / 1000);
  return w->base_ns + ns;
}

static void clock_snapshot(struct event_writer *w, int64_t ns) {
  struct buf *b = &w->scratch, *snapshot = &w->annotation;
  snapshot->len = 0;
  for (int own = 0; own < 2; own++) {
    b->len = 0;
    pb_u64(b, CLOCK_ID, own ? CLOCK_OF_SEQUENCE : CLOCK_BOOTTIME);
    pb_u64(b, CLOCK_TIMESTAMP, (uint64_t)ns);
    if (own) pb_u64(b, CLOCK_IS_INCREMENTAL, 1);
    pb_message(snapshot, SNAPSHOT_CLOCKS, b);
  }
  w->packet.len = 0;
  pb_u64(&w->packet, PACKET_SEQUENCE_ID, w->sequence);
  pb_u64(&w->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
  pb_message(&w->packet, PACKET_CLOCK_SNAPSHOT, snapshot);
  writer_packet(w->out, &w->packet);
  w->last_ns = ns;
  w->started = true;
}

void writer_track(struct event_writer *w, uint64_t uuid) {
  struct buf *b = &w->scratch, *defaults = &w->annotation;
  if (w->track == uuid) return;
  if (!w->started) clock_snapshot(w, 0);
  b->len = defaults->len = w->packet.len = 0;
  pb_u64(b, EVENT_DEFAULTS_TRACK_UUID, uuid);
  pb_message(defaults, DEFAULTS_TRACK_EVENT, b);
  pb_u64(defaults, DEFAULTS_TIMESTAMP_CLOCK_ID, CLOCK_OF_SEQUENCE);
  pb_u64(&w->packet, PACKET_SEQUENCE_ID, w->sequence);
  pb_u64(&w->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
  pb_message(&w->packet, PACKET_DEFAULTS, defaults);
  writer_packet(w->out, &w->packet);
  w->track = uuid;
}

/* ---- interning ---- */

static uint32_t iid(struct event_writer *w, struct iids *kind, uint32_t field, tk_id s) {
  const struct intern_str *text = trace_str(w->t, s);
  if (kind->iid[s]) return kind->iid[s];
  kind->iid[s] = ++kind->n;
  w->scratch.len = 0;
  pb_u64(&w->scratch, INTERNED_IID, kind->n);
  pb_bytes(&w->scratch, INTERNED_TEXT, text->bytes, text->len);
  pb_message(&w->interned, field, &w->scratch);
  return kind->n;
}

/* ---- args ---- */

static double decimal(const struct tk_arg *a) {
  static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
                                  1e19, 1e20, 1e21, 1e22};
  int exp = a->exp;
  /* exact operands up to 2^53 and 10^22: one correctly rounded operation */
  if (exp < 0 && exp >= -22 && a->i < (1ll << 53) && a->i > -(1ll << 53)) return (double)a->i / powers[-exp];
  double v = (double)a->i;
  for (; exp > 0; exp -= exp < 22 ? exp : 22) v *= powers[exp < 22 ? exp : 22];
  for (; exp < 0; exp += exp > -22 ? -exp : 22) v /= powers[exp > -22 ? -exp : 22];
  return v;
}

static void annotation_value(struct event_writer *w, struct buf *b, const struct tk_arg *a) {
  switch (a->type) {
  case TK_ARG_NULL: pb_bytes(b, ANNOTATION_JSON, "null", 4); return;
  case TK_ARG_FALSE:
  case TK_ARG_TRUE: pb_u64(b, ANNOTATION_BOOL, a->type == TK_ARG_TRUE); return;
  case TK_ARG_INT: pb_i64(b, ANNOTATION_INT, a->i); return;
  case TK_ARG_UINT: pb_u64(b, ANNOTATION_UINT, a->u); return;
  case TK_ARG_POINTER: pb_u64(b, ANNOTATION_POINTER, a->u); return;
  case TK_ARG_DECIMAL: pb_double(b, ANNOTATION_DOUBLE, decimal(a)); return;
  case TK_ARG_DOUBLE: pb_double(b, ANNOTATION_DOUBLE, a->d); return;
  case TK_ARG_JSON: pb_bytes(b, ANNOTATION_JSON, trace_str(w->t, a->s)->bytes, trace_str(w->t, a->s)->len); return;
  default: pb_u64(b, ANNOTATION_STRING_IID, iid(w, &w->values, INTERNED_ANNOTATION_STRINGS, a->s)); return;
  }
}

static void put_args(struct event_writer *w, uint32_t args) {
  struct tk_args it = tk_args_of(w->t, args);
  struct tk_arg arg;
  while (tk_args_next(&it, &arg)) {
    uint32_t key = iid(w, &w->keys, INTERNED_ANNOTATION_NAMES, arg.key);
    w->annotation.len = 0;
    pb_u64(&w->annotation, ANNOTATION_NAME_IID, key);
    annotation_value(w, &w->annotation, &arg);
    pb_message(&w->event, EVENT_DEBUG_ANNOTATIONS, &w->annotation);
  }
}

/* ---- events ---- */

static void event_begin(struct event_writer *w, uint32_t type) {
  w->event.len = w->interned.len = 0;
  pb_u64(&w->event, EVENT_TYPE, type);
}

static void names(struct event_writer *w, const struct tk_event *e) {
  const struct tk_class *c = &w->t->classes[e->cls];
  if (c->cat) pb_u64(&w->event, EVENT_CATEGORY_IIDS, iid(w, &w->categories, INTERNED_CATEGORIES, c->cat));
  if (c->name) pb_u64(&w->event, EVENT_NAME_IID, iid(w, &w->names, INTERNED_NAMES, c->name));
  if (c->args) put_args(w, c->args);
  if (e->args) put_args(w, e->args);
}

static void event_end(struct event_writer *w, int64_t ns) {
  struct buf *p = &w->packet;
  p->len = 0;
  pb_u64(p, PACKET_TIMESTAMP, (uint64_t)(ns - w->last_ns));
  pb_u64(p, PACKET_SEQUENCE_ID, w->sequence);
  pb_u64(p, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
  if (w->interned.len) pb_message(p, PACKET_INTERNED_DATA, &w->interned);
  pb_message(p, PACKET_TRACK_EVENT, &w->event);
  writer_packet(w->out, p);
  w->last_ns = ns;
}

/* Arrows are in order of events, and so nearly are the calls: the place is found from where the last one was. */
static void put_arrows(struct event_writer *w, tk_id event, bool at_end) {
  uint32_t lo = 0, hi = w->n_arrows;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (w->arrows[mid].event < event) lo = mid + 1;
    else hi = mid;
  }
  for (; lo < w->n_arrows && w->arrows[lo].event == event; lo++)
    if (w->arrows[lo].at_end == at_end)
      pb_fixed64(&w->event, w->arrows[lo].terminating ? EVENT_TERMINATING_FLOW_IDS : EVENT_FLOW_IDS, w->arrows[lo].id);
}

void writer_slice_begin(struct event_writer *w, tk_id id) {
  const struct tk_event *e = &w->t->events[id];
  event_begin(w, TYPE_SLICE_BEGIN);
  names(w, e);
  if (w->n_arrows) put_arrows(w, id, false);
  event_end(w, writer_ns(w, e->ts));
}

void writer_slice_end(struct event_writer *w, tk_id id, int64_t ns) {
  event_begin(w, TYPE_SLICE_END);
  if (w->n_arrows) put_arrows(w, id, true);
  event_end(w, ns);
}

void writer_instant(struct event_writer *w, tk_id id) {
  const struct tk_event *e = &w->t->events[id];
  event_begin(w, TYPE_INSTANT);
  names(w, e);
  event_end(w, writer_ns(w, e->ts));
}

void writer_counter(struct event_writer *w, tk_id id, const struct tk_arg *value) {
  event_begin(w, TYPE_COUNTER);
  if (value->type == TK_ARG_INT) pb_i64(&w->event, EVENT_COUNTER_VALUE, value->i);
  else if (value->type == TK_ARG_UINT) pb_double(&w->event, EVENT_DOUBLE_COUNTER_VALUE, (double)value->u);
  else pb_double(&w->event, EVENT_DOUBLE_COUNTER_VALUE, value->type == TK_ARG_DOUBLE ? value->d : decimal(value));
  event_end(w, writer_ns(w, w->t->events[id].ts));
}
