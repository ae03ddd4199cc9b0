/* decoded_args.c - annotations of decoded events (decode.h) -> args.
 *
 * Events of one place in the code have annotations of the same names and types.  What these are in the graph, their shape, is
 * remembered by what was decoded of them; then only values are left to be copied, and texts to be looked up. */
#include <string.h>

#include "track_event.h"

enum { LAYOUTS = 256 };

/* Of a sequence since it was cleared last. */
struct layout {
  uint32_t sequence, clearing, shape; /* shape: 0 = nothing is remembered here */
  uint32_t n;
  bool has_text, has_iids; /* text: values are not as they are packed in the graph */
  uint32_t what[DECODED_ARGS];
};

struct layouts {
  struct layout of[LAYOUTS];
};

bool layouts_start(struct perfetto *r) {
  r->layouts = mem_alloc(&r->t->store->mem, sizeof *r->layouts);
  if (r->layouts) memset(r->layouts, 0, sizeof *r->layouts);
  return r->layouts != NULL;
}

static uint32_t type_of(uint32_t what) { return what & 0xff; }
static uint32_t key_of(uint32_t what) { return what >> 8; }
static bool is_text(uint32_t type) { return type == DECODED_IID || type == TK_ARG_STR || type == TK_ARG_JSON; }

/* The byte behind a value that is no text. */
static const uint8_t *behind(uint32_t type, const uint8_t *p) {
  uint64_t v;
  if (type <= TK_ARG_TRUE) return p;
  p = type == TK_ARG_DOUBLE ? p + 8 : varint_get(p, &v);
  return p + (type == TK_ARG_DECIMAL);
}

/* ---- by the builder ---- */

/* The text whose place is at p; returns the byte behind that. */
static const uint8_t *text_at(struct perfetto *r, struct sequence *q, const struct decoded *d, uint32_t type, const uint8_t *p,
                              tk_id *id) {
  uint64_t at, n;
  p = varint_get(p, &at);
  if (type == DECODED_IID) {
    *id = sequence_text(r, q, IID_VALUE, at);
    return p;
  }
  p = varint_get(p, &n);
  *id = type == TK_ARG_JSON ? trace_string(r->t, d->p + at, (size_t)n) : perfetto_text(r, d->p + at, (size_t)n);
  return p;
}

static const uint8_t *build_arg(struct perfetto *r, struct sequence *q, const struct decoded *d, uint32_t what, const uint8_t *p) {
  struct tk_arg a = {.key = sequence_text(r, q, IID_KEY, key_of(what)), .type = (enum tk_arg_type)type_of(what)};
  uint64_t v;
  switch (type_of(what)) {
  case TK_ARG_NULL:
  case TK_ARG_FALSE:
  case TK_ARG_TRUE: break;
  case TK_ARG_DOUBLE:
    memcpy(&a.d, p, 8);
    p += 8;
    break;
  case TK_ARG_UINT:
  case TK_ARG_POINTER: p = varint_get(p, &a.u); break;
  case TK_ARG_INT:
  case TK_ARG_DECIMAL:
    p = varint_get(p, &v);
    a.i = unzigzag(v);
    if (a.type == TK_ARG_DECIMAL) a.exp = (int32_t)unzigzag(*p++);
    break;
  default:
    p = text_at(r, q, d, type_of(what), p, &a.s);
    if (a.type != TK_ARG_JSON) a.type = TK_ARG_STR;
  }
  args_copy(r->t, &a);
  return p;
}

static void build_args(struct perfetto *r, struct sequence *q, const struct decoded *d) {
  const uint8_t *p = d->values;
  args_begin(r->t);
  for (uint32_t i = 0; i < d->n_args; i++) p = build_arg(r, q, d, d->what[i], p);
}

void track_event_args(struct perfetto *r, struct sequence *q, struct track_event *e) {
  if (!e->has_args) args_begin(r->t);
  else if (e->decoded) build_args(r, q, e->decoded);
  e->decoded = NULL;
  e->has_args = true;
}

/* ---- by what is remembered ---- */

/* Where the layout of such an event is, or goes. */
static struct layout *place_of(struct perfetto *r, uint32_t sequence, const struct decoded *d) {
  uint64_t h = sequence;
  for (uint32_t i = 0; i < d->n_args; i++) h = (h ^ d->what[i]) * 0x9e3779b97f4a7c15;
  return &r->layouts->of[h >> 56];
}

static bool is_such(const struct layout *l, uint32_t sequence, uint32_t clearing, const struct decoded *d) {
  return l->shape && l->n == d->n_args && l->sequence == sequence && l->clearing == clearing &&
         memcmp(l->what, d->what, d->n_args * sizeof *d->what) == 0;
}

/* False: a name is not interned yet, or there twice. */
static bool learn(struct layout *l, struct perfetto *r, const struct sequence *q, const struct decoded *d) {
  struct shape_field *fields = args_fields(r->t, d->n_args);
  *l = (struct layout){.sequence = (uint32_t)(q - r->sequences), .clearing = q->n_clearings, .n = d->n_args};
  for (uint32_t i = 0; fields && i < d->n_args; i++) {
    const uint32_t type = type_of(d->what[i]);
    fields[i] = (struct shape_field){sequence_find(q, IID_KEY, key_of(d->what[i])), type == DECODED_IID ? TK_ARG_STR : (uint8_t)type};
    l->has_text = l->has_text || is_text(type);
    l->has_iids = l->has_iids || type == DECODED_IID;
    l->what[i] = d->what[i];
    for (uint32_t k = 0; k < i; k++)
      if (fields[k].key == fields[i].key) return false;
    if (!fields[i].key) return false;
  }
  l->shape = fields ? args_shape(r->t) : 0;
  return l->shape != 0;
}

static bool values_are_known(const struct sequence *q, const struct decoded *d) {
  const uint8_t *p = d->values;
  uint64_t v;
  for (uint32_t i = 0; i < d->n_args; i++) {
    const uint32_t type = type_of(d->what[i]);
    if (!is_text(type)) {
      p = behind(type, p);
      continue;
    }
    p = varint_get(p, &v);
    if (type != DECODED_IID) p = varint_get(p, &v);
    else if (!sequence_find(q, IID_VALUE, v)) return false;
  }
  return true;
}

const struct layout *decoded_layout(struct perfetto *r, const struct sequence *q, const struct decoded *d) {
  const uint32_t sequence = (uint32_t)(q - r->sequences);
  struct layout *l = place_of(r, sequence, d);
  if (!is_such(l, sequence, q->n_clearings, d) && !learn(l, r, q, d)) return NULL;
  return !l->has_iids || values_are_known(q, d) ? l : NULL;
}

/* Values as they are packed, behind one another in `to`; returns the end. */
static uint8_t *pack_values(struct perfetto *r, struct sequence *q, const struct decoded *d, uint8_t *to) {
  const uint8_t *p = d->values, *from;
  tk_id id;
  for (uint32_t i = 0; i < d->n_args; i++) {
    const uint32_t type = type_of(d->what[i]);
    if (is_text(type)) {
      p = text_at(r, q, d, type, p, &id);
      to = varint_put(to, id);
      continue;
    }
    from = p;
    p = behind(type, p);
    memcpy(to, from, (size_t)(p - from));
    to += p - from;
  }
  return to;
}

uint32_t track_event_end_args(struct perfetto *r, struct sequence *q, struct track_event *e) {
  const struct decoded *d = e->decoded;
  uint8_t values[DECODED_VALUES];
  if (!e->has_args) return 0;
  if (!d) return args_end(r->t);
  if (!e->layout->has_text) return args_packed(r->t, e->layout->shape, d->values, d->n_values);
  return args_packed(r->t, e->layout->shape, values, (size_t)(pack_values(r, q, d, values) - values));
}
