/* event.c - encodes an event as the body of an XEvent. */
#include "event.h"
#include "writer.h"
#include "kineto.h"
#include "derived.h"
#include "class.h"
#include "adopted.h"

/* Fields of the XEvent itself whose values come from args. */
struct fields {
  bool has_occurrences, has_offset, has_duration, has_flow;
  bool overrules; /* true if the event overrides a stat of its metadata; an arg contains the overridden value */
  int64_t occurrences, offset, duration;
  const char *derived; /* names of args that are not written, because tk_derive added them; NULL = none */
};

static bool is_field(struct xplane_encoder *e, const struct tk_event *ev, const struct tk_arg *a, struct fields *f) {
  if (a->key == e->key_flow && a->type == TK_ARG_UINT) f->has_flow = true;
  if (a->key == KEY_XPLANE_FIELDS && a->type == TK_ARG_BYTES && e->was) {
    const struct intern_str *s = trace_str(e->g->t, a->s);
    buf_append(&e->fields, s->bytes, s->len);
    return true;
  }
  if (a->type != TK_ARG_INT || !e->was) return false;
  if (a->key == e->key_metadata_id) return true;
  if (a->key == KEY_XPLANE_OCCURRENCES) {
    f->occurrences = a->i;
    return f->has_occurrences = true;
  }
  if (a->key == KEY_XPLANE_OFFSET) {
    f->offset = a->i;
    return f->has_offset = true;
  }
  if (a->key == KEY_REPAIRED_DUR && (ev->flags & TK_FLAG_REPAIRED || e->adopted)) {
    f->duration = a->i;
    return f->has_duration = true;
  }
  return false;
}

/* Returns bits for the kinds and flags that an XEvent cannot represent; 0 for a plain span. */
static int64_t bits_for(const struct xplane_out_line *line, const struct tk_event *ev, const struct fields *f) {
  unsigned kind = ev->kind, flags = ev->flags & ~(unsigned)TK_FLAG_OVERLAPS;
  if (line->kind == XLINE_COUNTERS) kind = 0;
  if (f->has_offset) flags &= ~(unsigned)TK_FLAG_LOST_CLOCK;
  if (f->has_duration) flags &= ~(unsigned)TK_FLAG_REPAIRED;
  return (int64_t)(kind | flags << 8);
}

/* Encodes one series of a counter sample. */
static void encode_series(struct xplane_encoder *e, const struct xplane_out_line *line, struct xplane_out_event event) {
  const struct tk_event *ev = &e->g->t->events[event.id];
  struct tk_args it = tk_args_of(e->g->t, ev->args);
  struct tk_arg arg;
  uint32_t nth = 0;
  e->event.len = 0;
  while (tk_args_next(&it, &arg) && (nth += xplane_is_number(arg.type)) < event.series) {}
  pb_i64(&e->event, XEVENT_METADATA_ID, xplane_series_id(e, ev->cls, arg.key));
  pb_i64(&e->event, XEVENT_OFFSET_PS, num_clamp((i128)ev->ts - line->zero_ps));
  xplane_add_stat(e, &e->event, XEVENT_STATS, &arg);
}

/* Appends bytes that another format stored as text. */
static void put_bytes(struct xplane_encoder *e, tk_id key, struct xplane_bytes bytes) {
  if (key == KEY_XPLANE_FIELDS) buf_append(&e->fields, bytes.p, bytes.n);
  else xplane_add_bytes_stat(e, &e->inner, XEVENT_STATS, key, bytes);
}

static void put_arg(struct xplane_encoder *e, const struct tk_event *ev, const struct tk_arg *arg, struct fields *f) {
  if (f->derived && xplane_is_derived_arg(e->g, f->derived, arg->key)) return;
  struct buf *stats = &e->inner;
  const size_t before = stats->len;
  struct xplane_bytes bytes;
  if (map_get(&e->g->overruling, arg->key)) f->overrules = true;
  else if (is_field(e, ev, arg, f)) {}
  else if (e->adopted && xplane_adopted_bytes(e, arg, &bytes)) put_bytes(e, arg->key, bytes);
  else xplane_add_stat(e, stats, XEVENT_STATS, arg);
  if (e->meter) e->meter->add(e->meter->arg, SINK_ARG, arg->key, stats->len - before);
}

/* Appends the args as stats. Returns the id of the event's metadata if args determine it, otherwise 0. */
static int64_t put_args(struct xplane_encoder *e, const struct tk_event *ev, struct fields *f) {
  struct tk_args it = tk_args_of(e->g->t, ev->args);
  struct tk_arg arg;
  int64_t id = 0;
  uint32_t n;
  if (e->adopted) {
    const struct tk_arg *args = xplane_adopted_args(e, ev, &n, &id);
    for (uint32_t i = 0; i < n; i++) put_arg(e, ev, &args[i], f);
  } else {
    while (tk_args_next(&it, &arg)) put_arg(e, ev, &arg, f);
  }
  return !id && f->overrules && (!e->was || e->adopted) ? xplane_overruled_class_id(e, ev) : id;
}

static void put_flow(struct xplane_encoder *e, uint64_t value) {
  const char *link = xplane_is_private(e->g, e->process) ? XPLANE_PRIVATE_LINK : "";
  const int64_t flow = xplane_private_stat_id(e, "flow", value & XPLANE_FLOW_STATED ? XPLANE_PRIVATE_XPROF : link);
  e->stat.len = 0;
  pb_i64(&e->stat, XSTAT_METADATA_ID, flow);
  pb_u64(&e->stat, XSTAT_UINT64, value & ~XPLANE_FLOW_STATED);
  pb_message(&e->event, XEVENT_STATS, &e->stat);
}

static void encode_event(struct xplane_encoder *e, const struct xplane_out_line *line, tk_id event) {
  const struct tk_event *ev = &e->g->t->events[event];
  struct fields f = {.derived = e->g->key_derived ? xplane_derived_args(e->g, ev) : NULL};
  struct buf *b = &e->event, *stats = &e->inner;
  stats->len = b->len = e->fields.len = 0;
  int64_t id = put_args(e, ev, &f), bits = bits_for(line, ev, &f);
  int64_t offset = f.has_offset ? f.offset : num_clamp((i128)ev->ts - line->zero_ps),
          duration = f.has_duration ? f.duration : ev->dur;
  if (!id && e->g->kineto) id = xplane_made_class_id(e, ev);
  if (!id) id = xplane_class_id(e, ev->cls);
  if (id) pb_i64(b, XEVENT_METADATA_ID, id);
  if (f.has_occurrences) pb_i64(b, XEVENT_NUM_OCCURRENCES, f.occurrences);
  else pb_i64(b, XEVENT_OFFSET_PS, offset); /* a member of a oneof, which writers write even if it is 0 */
  if (duration) pb_i64(b, XEVENT_DURATION_PS, duration);
  if (stats->len) buf_append(b, stats->data, stats->len);
  if (e->g->flows && e->g->flows[event] && !f.has_flow) put_flow(e, e->g->flows[event]);
  if (e->g->kineto) xplane_put_made_stats(e, b, event);
  if (bits) xplane_add_private_int(e, b, XEVENT_STATS, XPLANE_PRIVATE_BITS, bits);
  if (e->fields.len) buf_append(b, e->fields.data, e->fields.len);
}

void xplane_encode_event(struct xplane_encoder *e, const struct xplane_out_line *line, struct xplane_out_event which) {
  if (line->kind == XLINE_STEPS) xplane_encode_step(e, line, which.id);
  else if (which.series) encode_series(e, line, which);
  else encode_event(e, line, which.id);
}
