/* flow_points.c - flow points of other formats' events, out and in.
 *
 * Perfetto's flow is an id on the events at its ends; a flow point of JSON has a name, a category, a time, a role and an id of its
 * own as well, and may lead nowhere.  These stand in a field of ours (perfetto.h: TRACEKIT_POINTS), which says no more than it must,
 * since every launch of a kernel has one:
 *
 *     class     stands where it is another than that of the last point of an event of the same category
 *     id        absent if the event has one flow id, which is it; the number of the arg that is the same integer
 *     all of it absent if the event has one flow id, its category a class, and the point is a start at the event's time, or, if the
 *               flow ends here, an end there that binds to the event around it.  An id that is no such point says so (TRACEKIT_CHAIN)
 *
 * Of 407 MB of Kineto JSON with 0.55 M points that took 4% off the gzipped file. */
#include "format/json_args.h"
#include "reader.h"
#include "writer.h"

/* ---- which arg is the id ---- */

static bool integer_of(const struct pb_field *annotation, int64_t *value) {
  struct pb c = pb_inside(annotation);
  struct pb_field f;
  bool found = false;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(ANNOTATION_INT, PB_VARINT)) *value = (int64_t)f.value, found = true;
  return found;
}

/* The first debug annotation that is the integer; 0 = none. */
static uint32_t arg_that_is(const struct buf *event, int64_t want) {
  struct pb c = pb_over(event->data, event->len);
  struct pb_field f;
  int64_t value = 0;
  uint32_t n = 0;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) != PB_KEY(EVENT_DEBUG_ANNOTATIONS, PB_BYTES)) continue;
    n++;
    if (integer_of(&f, &value) && value == want) return n;
  }
  return 0;
}

static int64_t arg_at(const struct pb_field *event, uint64_t place) {
  struct pb c = pb_inside(event);
  struct pb_field f;
  int64_t value = 0;
  while (place && pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(EVENT_DEBUG_ANNOTATIONS, PB_BYTES) && --place == 0) integer_of(&f, &value);
  return value;
}

/* ---- out ---- */

/* The flow ids of a packet. */
struct flow_ids {
  uint32_t n;
  uint64_t last;
  bool terminating, points; /* of the last: it ends the flow; of any: the point in full is written as well */
};

static tk_id event_of_flow_end(const struct event_writer *w, uint32_t i) { return w->flow_ends[i].event; }
static tk_id event_of_point(const struct event_writer *w, uint32_t i) { return w->t->flow_points[w->points[i]].at; }

/* The first of n, in order of events, that is not before the event.  Events come in order but for lanes and ends, so it is most often
 * the first or second behind `last`, the one found before. */
static inline uint32_t seek(const struct event_writer *w, tk_id (*of)(const struct event_writer *, uint32_t), uint32_t n, uint32_t last,
                            tk_id event) {
  uint32_t lo = 0, hi = n;
  if (last < n && of(w, last) <= event) {
    for (lo = last; lo < n && lo < last + 4; lo++)
      if (of(w, lo) >= event) return lo;
  }
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (of(w, mid) < event) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

static struct flow_ids put_ids(struct event_writer *w, tk_id event, bool at_end) {
  struct flow_ids ids = {0};
  uint32_t lo = seek(w, event_of_flow_end, w->n_flow_ends, w->last_flow_end, event);
  w->last_flow_end = lo;
  for (const struct flow_end *a = w->flow_ends + lo; lo < w->n_flow_ends && a->event == event; lo++, a++) {
    if (a->at_end != at_end) continue;
    ids.n++;
    ids.last = a->id;
    ids.terminating = a->terminating;
    ids.points = ids.points || a->has_points;
    pb_fixed64(&w->event, a->terminating ? EVENT_TERMINATING_FLOW_IDS : EVENT_FLOW_IDS, a->id);
  }
  return ids;
}

static void put_point(struct event_writer *w, const struct tk_flow_point *f, tk_id cat, int64_t ns, const struct flow_ids *ids) {
  const struct tk_class *c = &w->t->classes[f->cls];
  struct buf *b = &w->annotation;
  bool fresh = f->cls != w->point_classes.iid[cat], known = ids->n == 1 && f->id && (uint64_t)f->id == ids->last;
  uint32_t name = fresh && c->name ? writer_iid(w, &w->names, INTERNED_NAMES, c->name) : 0, id = 0;
  uint32_t of = fresh && c->cat ? writer_iid(w, &w->categories, INTERNED_CATEGORIES, c->cat) : 0;
  if (f->id_is_str) id = writer_iid(w, &w->names, INTERNED_NAMES, (tk_id)f->id);
  else if (!known) id = arg_that_is(&w->event, f->id);
  b->len = 0;
  if (f->role) pb_u64(b, POINT_ROLE, f->role);
  if (id) pb_u64(b, f->id_is_str ? POINT_ID_TEXT : POINT_ID_ARG, id);
  else if (!known) pb_i64(b, POINT_ID, f->id);
  if (fresh) pb_u64(b, POINT_NEW_CLASS, 1);
  if (name) pb_u64(b, POINT_NAME_IID, name);
  if (of) pb_u64(b, POINT_CATEGORY_IID, of);
  if (writer_ns(w, f->ts) != ns) pb_i64(b, POINT_TIME, writer_ns(w, f->ts));
  if (f->enclosing) pb_u64(b, POINT_ENCLOSING, 1);
  if (f->args) {
    w->scratch.len = 0;
    json_put_args(&w->scratch, w->t, f->args);
    pb_bytes(b, POINT_ARGS, w->scratch.data, w->scratch.len);
  }
  pb_message(&w->private_fields, TRACEKIT_POINTS, b);
  iids_set(w, &w->point_classes, cat, f->cls);
  w->has_private_fields = true;
}

/* What an event's flow id alone says (implied_point reads it). */
static bool is_implied(const struct event_writer *w, const struct tk_flow_point *f, tk_id cat, int64_t ns, const struct flow_ids *ids) {
  return ids->n == 1 && !f->id_is_str && !f->args && (uint64_t)f->id == ids->last && f->cls == w->point_classes.iid[cat] &&
         f->role == (ids->terminating ? TK_FLOW_END : TK_FLOW_START) && f->enclosing == ids->terminating && writer_ns(w, f->ts) == ns;
}

static void put_points(struct event_writer *w, tk_id event, const struct flow_ids *ids) {
  const struct tk_event *e = &w->t->events[event];
  const struct tk_flow_point *flows = w->t->flow_points;
  tk_id cat = w->t->classes[e->cls].cat;
  int64_t ns = writer_ns(w, e->ts);
  uint32_t lo = w->last_point = seek(w, event_of_point, w->n_points, w->last_point, event), n = 0;
  while (lo + n < w->n_points && flows[w->points[lo + n]].at == event) n++;
  if (n == 1 && is_implied(w, &flows[w->points[lo]], cat, ns, ids)) return;
  for (uint32_t i = lo; i < lo + n; i++) put_point(w, &flows[w->points[i]], cat, ns, ids);
  if (ids->n == 1 && !ids->points && w->point_classes.iid[cat]) {
    pb_u64(&w->private_fields, TRACEKIT_CHAIN, 1);
    w->has_private_fields = true;
  }
}

/* Most events have none, which a bit of theirs says. */
void writer_flows(struct event_writer *w, tk_id event, bool at_end) {
  if (!w->has_flows || !(w->has_flows[event >> 3] >> (event & 7) & 1)) return;
  if (at_end && !w->has_ends) return;
  struct flow_ids ids = put_ids(w, event, at_end);
  if (at_end) w->has_private_fields = ids.points;
  else put_points(w, event, &ids);
}

void writer_lone_point(struct event_writer *w, uint64_t uuid, tk_id flow) {
  const struct tk_flow_point *f = &w->t->flow_points[flow];
  writer_track(w, uuid);
  w->event.len = w->interned.len = 0;
  put_point(w, f, 0, writer_ns(w, f->ts), &(struct flow_ids){0});
  writer_event(w, writer_ns(w, f->ts), SINK_FLOW, (tk_id)(f - w->t->flow_points));
}

/* ---- in ---- */

static uint32_t *class_of(struct perfetto *r, struct sequence *q, tk_id cat) {
  if (!q->point_classes.mem) map_init(&q->point_classes, &r->t->store->mem);
  return map_put(&q->point_classes, (uint64_t)cat, trace_class(r->t, 0, 0));
}

static void read_point(struct perfetto *r, struct sequence *q, const struct packet *k, const struct pb_field *f, tk_id cat,
                       struct tk_flow_point p) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  tk_id name = 0, of = 0;
  uint64_t role = TK_FLOW_START;
  bool fresh = false;
  while (pb_next(&c, &g)) {
    switch (pb_field_key(&g)) {
    case PB_KEY(POINT_ROLE, PB_VARINT): role = g.value; break;
    case PB_KEY(POINT_ID, PB_VARINT): p.id = (int64_t)g.value; break;
    case PB_KEY(POINT_ID_ARG, PB_VARINT): p.id = arg_at(&k->event, g.value); break;
    case PB_KEY(POINT_ID_TEXT, PB_VARINT):
      p.id = sequence_text(r, q, IID_NAME, g.value);
      p.id_is_str = true;
      break;
    case PB_KEY(POINT_NAME_IID, PB_VARINT): name = sequence_text(r, q, IID_NAME, g.value); break;
    case PB_KEY(POINT_CATEGORY_IID, PB_VARINT): of = sequence_text(r, q, IID_CATEGORY, g.value); break;
    case PB_KEY(POINT_NEW_CLASS, PB_VARINT): fresh = g.value != 0; break;
    case PB_KEY(POINT_TIME, PB_VARINT): p.ts = (int64_t)g.value; break;
    case PB_KEY(POINT_ENCLOSING, PB_VARINT): p.enclosing = g.value != 0; break;
    case PB_KEY(POINT_ARGS, PB_BYTES): p.args = json_take_args(r->t, g.p, (size_t)g.value); break;
    default: break;
    }
  }
  uint32_t *cls = class_of(r, q, cat);
  if (role > TK_FLOW_END || !cls) return;
  if (fresh) *cls = trace_class(r->t, name, of);
  p.role = (uint8_t)role;
  p.cls = *cls;
  *trace_add_flow_point(r->t) = p;
}

static uint32_t place_of(const struct perfetto *r, uint32_t node) {
  return (r->nodes[node].form & FORM_LANE ? node_parent(r, node) : node) * ASPECTS + ON_TRACK;
}

static void read_points(struct perfetto *r, struct sequence *q, const struct packet *k, tk_id cat, const struct tk_flow_point *base) {
  struct pb c = pb_inside(&k->private_fields);
  struct pb_field f;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(TRACEKIT_POINTS, PB_BYTES)) read_point(r, q, k, &f, cat, *base);
}

static bool says_chain(const struct packet *k) {
  struct pb c = pb_inside(&k->private_fields);
  struct pb_field f;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(TRACEKIT_CHAIN, PB_VARINT)) return f.value != 0;
  return false;
}

void perfetto_points(struct perfetto *r, struct sequence *q, const struct packet *k, const struct point_place *of) {
  uint32_t n = r->n_points - of->first;
  const struct raw_point *only = n == 1 ? &r->points[of->first] : NULL;
  const uint32_t *cls = only && of->implied && !k->private_fields.p ? map_get(&q->point_classes, of->cat) : NULL;
  struct tk_flow_point base = {.ts = of->ns, .id = only ? (int64_t)only->id : 0, .at = place_of(r, of->node)};
  if (cls) {
    base.cls = *cls;
    base.role = only->terminating ? TK_FLOW_END : TK_FLOW_START;
    base.enclosing = only->terminating;
    *trace_add_flow_point(r->t) = base;
  }
  if (k->private_fields.p) read_points(r, q, k, of->cat, &base);
  if (cls || (k->private_fields.p && !says_chain(k))) r->n_points = of->first;
}

void perfetto_lone_points(struct perfetto *r, struct sequence *q, const struct packet *k) {
  struct tk_flow_point base = {0};
  uint32_t clock, node;
  clock_time(r, q, k, &base.ts, &clock); /* deltas count on */
  node = node_of_uuid(r, q, k->machine, q->has_track ? q->default_track : 0);
  if (!node) return;
  base.at = place_of(r, node);
  read_points(r, q, k, 0, &base);
}
