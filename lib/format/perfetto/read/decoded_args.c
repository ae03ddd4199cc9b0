/* decoded_args.c - converts the annotations of decoded events (decode.h) to args.
 *
 * Events from the same place in a program have annotations with the same names and types. The shape of their args in the graph
 * is cached by the decoded names and types; for later events, only values are copied, and texts looked up. */
#include <string.h>

#include "decoded_args.h"
#include "args.h"
#include "track_event.h"
#include "sequence.h"
#include "base/hash.h"
#include "graph/args.h"

enum { LAYOUTS = 256, KEPT = 256, KEPT_MOST = 192 };

/* A cached shape; valid for one sequence, until the sequence is cleared. */
struct layout {
  uint32_t sequence, clearing, shape; /* shape: 0 = the entry is unused */
  uint32_t n;
  bool has_text, has_iids, has_nested; /* has_text: values must be converted before they can be packed */
  uint32_t what[DECODED_ARGS];
};

/* The text of a nested annotation of at most KEPT_MOST bytes, such as the shapes of an operator's inputs; valid as long as a
 * layout. */
struct kept_text {
  uint32_t sequence, clearing;
  tk_id text;
  uint32_t n; /* 0 = the entry is unused */
  uint8_t bytes[KEPT_MOST];
};

struct layouts {
  struct layout of[LAYOUTS];
  struct kept_text *kept; /* NULL = there was no nested annotation yet */
};

bool decoded_layouts_start(struct perfetto *r) {
  r->layouts = mem_zeros(&r->t->store->mem, 1, sizeof *r->layouts);
  return r->layouts != NULL;
}

void decoded_layouts_stop(struct perfetto *r) {
  if (r->layouts) mem_free(&r->t->store->mem, r->layouts->kept);
  mem_free(&r->t->store->mem, r->layouts);
}

static uint32_t type_of(uint32_t what) { return what & 0xff; }
static uint32_t decoded_key_of(uint32_t what) { return what >> 8; }
static bool decoded_is_text(uint32_t type) {
  return type == DECODED_IID || type == DECODED_NESTED || type == TK_ARG_STR || type == TK_ARG_JSON;
}

static uint8_t arg_type_of(uint32_t type) {
  return type == DECODED_IID ? TK_ARG_STR : type == DECODED_NESTED ? TK_ARG_JSON : (uint8_t)type;
}

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
    fields[i] = (struct shape_field){sequence_find(q, IID_KEY, decoded_key_of(d->what[i])), arg_type_of(type)};
    l->has_text = l->has_text || decoded_is_text(type);
    l->has_iids = l->has_iids || type == DECODED_IID;
    l->has_nested = l->has_nested || type == DECODED_NESTED;
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

/* Returns the place of an annotation of n bytes among the kept texts; NULL if it is too long, or memory runs out. */
static struct kept_text *kept_place(struct perfetto *r, const uint8_t *p, size_t n) {
  struct layouts *l = r->layouts;
  if (n > KEPT_MOST) return NULL;
  if (!l->kept) l->kept = mem_zeros(&r->t->store->mem, KEPT, sizeof *l->kept);
  return l->kept ? &l->kept[hash_text(p, n) % KEPT] : NULL;
}

/* Returns the JSON text of a nested annotation. Building it takes 3,000 instructions for the shapes of three inputs, and most
 * operators are called with the same shapes again. A string is not cached if it comes with types or caused a note, because each
 * event needs its own. */
static tk_id nested_text(struct perfetto *r, struct sequence *q, const uint8_t *p, size_t n) {
  const uint32_t sequence = (uint32_t)(q - r->sequences), clearing = q->n_clearings;
  struct kept_text *k = kept_place(r, p, n);
  if (k && k->n == n && k->sequence == sequence && k->clearing == clearing && memcmp(k->bytes, p, n) == 0) return k->text;
  const uint64_t said = r->n_said;
  const tk_id text = perfetto_nested(r, q, p, n);
  if (!k || r->has_types || r->n_said != said) return text;
  *k = (struct kept_text){.sequence = sequence, .clearing = clearing, .text = text, .n = (uint32_t)n};
  memcpy(k->bytes, p, n);
  return text;
}

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
  if (type == DECODED_NESTED) *id = nested_text(r, q, d->p + at, (size_t)n);
  else *id = type == TK_ARG_JSON ? trace_string(r->t, d->p + at, (size_t)n) : perfetto_text(r, d->p + at, (size_t)n);
  return p;
}

/* Returns packed values and sets *n to their length. Values without text are packed already; otherwise the result is built in
 * `to`. */
static const uint8_t *pack_values(struct perfetto *r, struct sequence *q, const struct track_event *e, uint8_t *to, size_t *n) {
  const struct decoded *d = e->decoded;
  const uint8_t *p = d->values, *from;
  uint8_t *at = to;
  tk_id id;
  *n = e->packed ? e->n_packed : d->n_values;
  if (e->packed || !e->layout->has_text) return e->packed ? e->packed : d->values;
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

void decoded_event_pack(struct perfetto *r, struct sequence *q, struct track_event *e, uint8_t values[DECODED_VALUES]) {
  if (e->layout->has_nested) e->packed = pack_values(r, q, e, values, &e->n_packed);
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
