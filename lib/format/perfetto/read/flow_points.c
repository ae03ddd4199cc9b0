/* flow_points.c - reads flow points with all their properties, which our writer stores in private fields (see write/flow_points.c). */
#include "flow_points.h"
#include "format/perfetto/flow_points.h"
#include "format/json_args.h"
#include "reader.h"
#include "track.h"
#include "sequence.h"

void perfetto_add_point(struct perfetto *r, uint64_t id, bool terminating) {
  if (!mem_grow(&r->t->store->mem, (void **)&r->points, &r->cap_points, (uint64_t)r->n_points + 1, sizeof *r->points)) return;
  r->points[r->n_points] = (struct raw_point){.id = id, .order = r->n_points, .terminating = terminating};
  r->n_points++;
}

static uint32_t *flow_class_of(struct perfetto *r, struct sequence *q, tk_id cat) {
  if (!q->point_classes.mem) map_init(&q->point_classes, &r->t->store->mem);
  uint32_t *known = map_get(&q->point_classes, (uint64_t)cat);
  return known ? known : map_put(&q->point_classes, (uint64_t)cat, trace_class(r->t, 0, 0));
}

static void read_point(struct perfetto *r, struct sequence *q, const struct packet *k, const struct pb_field *f, tk_id cat,
                       struct tk_flow_point p) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  tk_id name = 0, of = 0;
  uint64_t role = TK_FLOW_START;
  bool fresh = false;
  while (pb_next(&c, &g)) {
    const uint64_t v = g.value;
    switch (pb_field_key(&g)) {
    case PB_KEY(POINT_ROLE, PB_VARINT): role = v; break;
    case PB_KEY(POINT_ID, PB_VARINT): p.id = (int64_t)v; break;
    case PB_KEY(POINT_ID_ARG, PB_VARINT): p.id = flow_point_id_of_arg(pb_inside(&k->event), v); break;
    case PB_KEY(POINT_ID_TEXT, PB_VARINT): p.id = sequence_text(r, q, IID_NAME, v), p.id_kind = TK_FLOW_ID_STR; break;
    case PB_KEY(POINT_NAME_IID, PB_VARINT): name = sequence_text(r, q, IID_NAME, v); break;
    case PB_KEY(POINT_CATEGORY_IID, PB_VARINT): of = sequence_text(r, q, IID_CATEGORY, v); break;
    case PB_KEY(POINT_NEW_CLASS, PB_VARINT): fresh = v != 0; break;
    case PB_KEY(POINT_TIME, PB_VARINT): p.ts = (int64_t)v; break;
    case PB_KEY(POINT_ENCLOSING, PB_VARINT): p.enclosing = v != 0; break;
    case PB_KEY(POINT_ARGS, PB_BYTES): p.args = json_take_args(r->t, g.p, (size_t)v); break;
    default: break;
    }
  }
  uint32_t *cls = flow_class_of(r, q, cat);
  if (role > TK_FLOW_END || !cls) return;
  if (fresh) *cls = trace_class(r->t, name, of);
  p.role = (uint8_t)role;
  p.cls = *cls;
  *trace_add_flow_point(r->t) = p;
}

static uint32_t site_of(const struct perfetto *r, uint32_t node) {
  return (r->nodes[node].form & FORM_LANE ? track_node_parent(r, node) : node) * ASPECTS + ON_TRACK;
}

static void read_points(struct perfetto *r, struct sequence *q, const struct packet *k, tk_id cat, const struct tk_flow_point *base) {
  struct pb c = pb_inside(&k->private_fields);
  struct pb_field f;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(TRACEKIT_POINTS, PB_BYTES)) read_point(r, q, k, &f, cat, *base);
}

/* Meaning of an event's flow ids according to its private fields: not stated; ids whose flow points are also stored in the private
 * fields; links of chains. */
enum said { SAID_NOTHING, SAID_POINTS, SAID_CHAIN };

static enum said said_of_ids(const struct packet *k) {
  struct pb c = pb_inside(&k->private_fields);
  struct pb_field f;
  enum said said = k->private_fields.p && k->private_fields.value == 0 ? SAID_POINTS : SAID_NOTHING;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(TRACEKIT_CHAIN, PB_VARINT)) return SAID_CHAIN;
    if (f.number == TRACEKIT_POINTS) said = SAID_POINTS;
  }
  return said;
}

void perfetto_points(struct perfetto *r, struct sequence *q, const struct packet *k, const struct flow_site *of) {
  uint32_t n = r->n_points - of->first;
  const struct raw_point *only = n == 1 ? &r->points[of->first] : NULL;
  enum said said = said_of_ids(k);
  const uint32_t *cls = only && of->implied && said == SAID_NOTHING ? map_get(&q->point_classes, of->cat) : NULL;
  struct tk_flow_point base = {.ts = of->ns, .id = only ? (int64_t)only->id : 0, .at = site_of(r, of->node)};
  if (cls) {
    base.cls = *cls;
    base.role = only->terminating ? TK_FLOW_END : TK_FLOW_START;
    base.enclosing = only->terminating;
    *trace_add_flow_point(r->t) = base;
  }
  if (k->private_fields.p) read_points(r, q, k, of->cat, &base);
  if (cls || said == SAID_POINTS) r->n_points = of->first;
}

void perfetto_lone_point(struct perfetto *r, struct sequence *q, const struct packet *k, const struct flow_site *of,
                         const struct pb_field *f) {
  read_point(r, q, k, f, 0, (struct tk_flow_point){.ts = of->ns, .at = site_of(r, of->node)});
}
