/* decoded_args.c - converts the annotations of decoded events (decode.h) to args.
 *
 * Events from the same place in a program have annotations with the same names and types. The shape of their args in the graph
 * is cached by the decoded names and types; for later events, only values are copied, and texts looked up. */
#include <string.h>

#include "decoded_args.h"
#include "track_event.h"
#include "sequence.h"
#include "graph/args.h"

enum { LAYOUTS = 256 };

/* A cached shape; valid for one sequence, until the sequence is cleared. */
struct layout {
  uint32_t sequence, clearing, shape; /* shape: 0 = the entry is unused */
  uint32_t n;
  bool has_text, has_iids; /* has_text: values must be converted before they can be packed */
  uint32_t what[DECODED_ARGS];
};

struct layouts {
  struct layout of[LAYOUTS];
};

bool decoded_layouts_start(struct perfetto *r) {
  r->layouts = mem_alloc(&r->t->store->mem, sizeof *r->layouts);
  if (r->layouts) memset(r->layouts, 0, sizeof *r->layouts);
  return r->layouts != NULL;
}

static uint32_t type_of(uint32_t what) { return what & 0xff; }
static uint32_t decoded_key_of(uint32_t what) { return what >> 8; }
static bool decoded_is_text(uint32_t type) { return type == DECODED_IID || type == TK_ARG_STR || type == TK_ARG_JSON; }

/* Returns the position after a value that is not text. */
static const uint8_t *behind(uint32_t type, const uint8_t *p) {
  uint64_t v;
  if (type <= TK_ARG_TRUE) return p;
  p = type == TK_ARG_DOUBLE ? p + 8 : varint_get(p, &v);
  return p + (type == TK_ARG_DECIMAL);
}

/* ---- layouts ---- */

/* Returns the cache entry for the names and types of the event's annotations. */
static struct layout *place_of(struct perfetto *r, uint32_t sequence, const struct decoded *d) {
  uint64_t h = sequence;
  for (uint32_t i = 0; i < d->n_args; i++) h = (h ^ d->what[i]) * 0x9e3779b97f4a7c15;
  return &r->layouts->of[h >> 56];
}

static bool is_such(const struct layout *l, uint32_t sequence, uint32_t clearing, const struct decoded *d) {
  return l->shape && l->n == d->n_args && l->sequence == sequence && l->clearing == clearing &&
         memcmp(l->what, d->what, d->n_args * sizeof *d->what) == 0;
}

/* Fills in a cache entry. Returns false if a name is not interned yet or occurs twice. */
static bool learn(struct layout *l, struct perfetto *r, const struct sequence *q, const struct decoded *d) {
  struct shape_field *fields = args_fields(r->t, d->n_args);
  *l = (struct layout){.sequence = (uint32_t)(q - r->sequences), .clearing = q->n_clearings, .n = d->n_args};
  for (uint32_t i = 0; fields && i < d->n_args; i++) {
    const uint32_t type = type_of(d->what[i]);
    fields[i] = (struct shape_field){sequence_find(q, IID_KEY, decoded_key_of(d->what[i])), type == DECODED_IID ? TK_ARG_STR
                                     : (uint8_t)type};
    l->has_text = l->has_text || decoded_is_text(type);
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
    if (!decoded_is_text(type)) {
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

/* ---- values ---- */

/* Looks up the text that p describes. Returns the position after the description. */
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

/* Returns packed values and sets *n to their length. Values without text are packed already; otherwise the result is built in
 * `to`. */
static const uint8_t *pack_values(struct perfetto *r, struct sequence *q, const struct track_event *e, uint8_t *to, size_t *n) {
  const struct decoded *d = e->decoded;
  const uint8_t *p = d->values, *from;
  uint8_t *at = to;
  tk_id id;
  *n = d->n_values;
  if (!e->layout->has_text) return d->values;
  for (uint32_t i = 0; i < d->n_args; i++) {
    const uint32_t type = type_of(d->what[i]);
    if (decoded_is_text(type)) {
      p = text_at(r, q, d, type, p, &id);
      at = varint_put(at, id);
      continue;
    }
    from = p;
    p = behind(type, p);
    memcpy(at, from, (size_t)(p - from));
    at += p - from;
  }
  *n = (size_t)(at - to);
  return to;
}

void decoded_event_args(struct perfetto *r, struct sequence *q, struct track_event *e) {
  uint8_t values[DECODED_VALUES];
  struct tk_args it = {.trace = r->t};
  struct tk_arg arg;
  size_t n;
  if (!e->has_args) args_begin(r->t);
  if (e->has_args && e->decoded) {
    it.next = pack_values(r, q, e, values, &n);
    it.shape = r->t->store->shapes[e->layout->shape];
    for (args_begin(r->t); tk_args_next(&it, &arg);) args_copy(r->t, &arg);
  }
  e->decoded = NULL;
  e->has_args = true;
}

uint32_t decoded_event_end_args(struct perfetto *r, struct sequence *q, struct track_event *e) {
  uint8_t values[DECODED_VALUES];
  size_t n;
  if (!e->has_args) return 0;
  if (!e->decoded) return args_end(r->t);
  const uint8_t *p = pack_values(r, q, e, values, &n);
  return args_packed(r->t, e->layout->shape, p, n);
}
