/* decode.c - see decode.h.
 *
 * This file has its own cursor, because the general one (pb.h) also describes errors and fills in a field of 32 bytes for each
 * number. */
#include "decode.h"

#include <string.h>

#include "args.h"
#include "base/num.h"
#include "base/varint.h"
#include "format/perfetto/fields.h"
#include "format/perfetto/schema.h"
#include "format/json.h"
#include "graph/trace.h"

enum { NUMBER_MOST = 40 }; /* longest text of a number, in bytes */

struct item {
  uint32_t key; /* PB_KEY of the field */
  uint64_t v;   /* the number; for PB_BYTES, the length */
  const uint8_t *p;
};

/* A number and the position after it; p == NULL: the number is damaged. Positions are passed and returned by value: if their address
 * were passed to a function that is not inlined, each use would be a load and a store, which made decoding a third slower. */
struct number {
  const uint8_t *p;
  uint64_t v;
};

static struct number long_number(const uint8_t *p, const uint8_t *end) {
  uint64_t out = 0;
  for (unsigned shift = 0; p < end && shift < 70; shift += 7) {
    const uint8_t c = *p++;
    out |= (uint64_t)(c & 0x7f) << shift;
    if (c < 0x80) return (struct number){p, out};
  }
  return (struct number){NULL, 0};
}

static inline const uint8_t *take_number(const uint8_t *p, const uint8_t *end, uint64_t *v) {
  if (p < end && *p < 0x80) {
    *v = *p;
    return p + 1;
  }
  if (end - p >= 2 && p[1] < 0x80) {
    *v = (*p & 0x7fu) | (uint64_t)p[1] << 7;
    return p + 2;
  }
  const struct number n = long_number(p, end);
  *v = n.v;
  return n.p;
}

static const uint8_t *take_fixed(const uint8_t *p, const uint8_t *end, uint32_t wire, uint64_t *v) {
  if (wire == PB_FIXED32) return end - p < 4 ? NULL : p + 4;
  if (wire != PB_FIXED64 || end - p < 8) return NULL;
  *v = 0;
  for (int i = 7; i >= 0; i--) *v = *v << 8 | p[i];
  return p + 8;
}

/* Reads a field and returns the position after it; NULL if the field is damaged or a group. */
static inline const uint8_t *take_item(const uint8_t *p, const uint8_t *end, struct item *f) {
  uint64_t tag;
  p = take_number(p, end, &tag);
  if (!p || tag < 8 || tag >> 32) return NULL;
  f->key = (uint32_t)tag;
  if ((tag & 7) == PB_VARINT) return take_number(p, end, &f->v);
  if ((tag & 7) != PB_BYTES) return take_fixed(p, end, tag & 7, &f->v);
  p = take_number(p, end, &f->v);
  if (!p || f->v > (uint64_t)(end - p)) return NULL;
  f->p = p;
  return p + f->v;
}

/* ---- annotations ---- */

/* Value of an annotation, in the form that packed args have in the graph. */
struct scalar_arg {
  uint32_t what;
  uint64_t v;  /* integer: zigzag or plain; double: its bits; text: length or iid */
  int exp;
  const uint8_t *p;
};

/* Parses the original text of a double. Returns false if the general code must interpret the text. */
static bool number_arg(const uint8_t *p, uint64_t n, struct scalar_arg *a) {
  uint8_t text[NUMBER_MOST + IN_PAD] = {0};
  const uint8_t *end;
  if (n == 0 || n > NUMBER_MOST) return false;
  memcpy(text, p, (size_t)n);
  const struct num num = num_scan(text, &end);
  if (end != text + n) return false;
  a->exp = num.exp;
  a->v = num.kind == NUM_UINT ? (uint64_t)num.mant : zigzag(num.mant);
  a->what = num.kind == NUM_INT ? TK_ARG_INT : num.kind == NUM_UINT ? TK_ARG_UINT : TK_ARG_DECIMAL;
  return num.kind == NUM_INT || num.kind == NUM_UINT || num.kind == NUM_DEC;
}

/* Accepts an object or array if its text is exactly what json_copy would write. */
static bool json_arg(struct decoder *to, const struct item *f, struct scalar_arg *a) {
  static const uint8_t pad[IN_PAD] = {' '};
  struct buf *text = &to->text;
  text->len = to->json.len = 0;
  if (f->v < 2 || (*f->p != '{' && *f->p != '[')) return false;
  if (!buf_append(text, f->p, (size_t)f->v) || !buf_append(text, pad, sizeof pad)) return false;
  struct json j = {.p = text->data, .end = text->data + f->v + 1, .last = true, .scratch = {.mem = text->mem}};
  const bool ok = json_copy(&j, &to->json) && !j.n_fixes;
  buf_free(&j.scratch);
  if (!ok || to->json.len != f->v || memcmp(to->json.data, f->p, (size_t)f->v) != 0) return false;
  *a = (struct scalar_arg){.what = TK_ARG_JSON, .v = f->v, .p = f->p};
  return true;
}

static bool value_arg(struct decoder *to, const struct item *value, const struct item *number, struct scalar_arg *a) {
  a->v = value->v;
  a->p = value->p;
  switch (value->key) {
  case 0: a->what = TK_ARG_NULL; return true;
  case PB_KEY(ANNOTATION_BOOL, PB_VARINT): a->what = value->v ? TK_ARG_TRUE : TK_ARG_FALSE; return true;
  case PB_KEY(ANNOTATION_INT, PB_VARINT):
    a->what = TK_ARG_INT;
    a->v = zigzag((int64_t)value->v);
    return true;
  case PB_KEY(ANNOTATION_UINT, PB_VARINT): a->what = TK_ARG_UINT; return true;
  case PB_KEY(ANNOTATION_POINTER, PB_VARINT): a->what = TK_ARG_POINTER; return true;
  case PB_KEY(ANNOTATION_DOUBLE, PB_FIXED64):
    if (number->key) return number_arg(number->p, number->v, a);
    a->what = TK_ARG_DOUBLE;
    return true;
  case PB_KEY(ANNOTATION_STRING_IID, PB_VARINT): a->what = DECODED_IID; return true;
  case PB_KEY(ANNOTATION_STRING, PB_BYTES): a->what = TK_ARG_STR; return true;
  case PB_KEY(ANNOTATION_JSON, PB_BYTES): return json_arg(to, value, a);
  default: return false;
  }
}

static void put_arg(struct decoder *to, const struct scalar_arg *a, const uint8_t *packet) {
  uint8_t *q = to->values;
  switch (a->what & 0xff) {
  case TK_ARG_NULL:
  case TK_ARG_TRUE:
  case TK_ARG_FALSE: break;
  case TK_ARG_DOUBLE:
    memcpy(q, &a->v, 8);
    q += 8;
    break;
  case TK_ARG_STR:
  case TK_ARG_JSON:
  case DECODED_NESTED: q = varint_put(varint_put(q, (uint64_t)(a->p - packet)), a->v); break;
  default: q = varint_put(q, a->v);
  }
  if ((a->what & 0xff) == TK_ARG_DECIMAL) *q++ = (uint8_t)zigzag(a->exp);
  to->values = q;
  *to->what++ = a->what;
}

static bool add_arg(struct decoder *to, uint64_t key, struct scalar_arg *a, struct decoded *d) {
  if (key == 0 || key >> 24 || d->n_args == DECODED_ARGS) return false;
  a->what |= (uint32_t)key << 8;
  put_arg(to, a, d->p);
  d->n_args++;
  return true;
}

/* Accepts an annotation with any number of entries or values, which may contain annotations but no messages. The reader parses them. */
static bool nested(struct decoder *to, const uint8_t *p, size_t n, uint64_t key, struct decoded *d) {
  struct scalar_arg a = {.what = DECODED_NESTED, .v = n, .p = p};
  return !perfetto_has_message(p, n) && add_arg(to, key, &a, d);
}

/* Accepts an annotation with any fields in any order. */
static bool unusual_annotation(struct decoder *to, const uint8_t *const from, size_t n, struct decoded *d) {
  const uint8_t *p = from, *const end = from + n;
  struct item g = {0}, value = {0}, number = {0};
  struct scalar_arg a = {0};
  uint64_t key = 0;
  while (p < end) {
    if (!(p = take_item(p, end, &g))) return false;
    switch (g.key) {
    case PB_KEY(ANNOTATION_NAME_IID, PB_VARINT):
      if (key) return false;
      key = g.v;
      break;
    case PB_KEY(ANNOTATION_TRACEKIT, PB_BYTES):
      if (!to->filed) number = g;
      break;
    case PB_KEY(ANNOTATION_NAME, PB_BYTES):
    case PB_KEY(ANNOTATION_NESTED, PB_BYTES):
    case PB_KEY(ANNOTATION_PROTO, PB_BYTES): return false;
    case PB_KEY(ANNOTATION_DICT, PB_BYTES):
    case PB_KEY(ANNOTATION_ARRAY, PB_BYTES):
      if (value.key && value.key != g.key) return false;
      value = g;
      break;
    case PB_KEY(ANNOTATION_BOOL, PB_VARINT):
    case PB_KEY(ANNOTATION_UINT, PB_VARINT):
    case PB_KEY(ANNOTATION_INT, PB_VARINT):
    case PB_KEY(ANNOTATION_POINTER, PB_VARINT):
    case PB_KEY(ANNOTATION_DOUBLE, PB_FIXED64):
    case PB_KEY(ANNOTATION_STRING, PB_BYTES):
    case PB_KEY(ANNOTATION_STRING_IID, PB_VARINT):
    case PB_KEY(ANNOTATION_JSON, PB_BYTES):
      if (value.key) return false;
      value = g;
      break;
    default: break;
    }
  }
  if (value.key == PB_KEY(ANNOTATION_DICT, PB_BYTES) || value.key == PB_KEY(ANNOTATION_ARRAY, PB_BYTES))
    return nested(to, from, n, key, d);
  return value_arg(to, &value, &number, &a) && add_arg(to, key, &a, d);
}

/* Decodes an annotation. The fast path handles an interned name with an integer or interned text, as in almost every
 * annotation. */
static inline bool annotation(struct decoder *to, const uint8_t *const from, size_t n, struct decoded *d) {
  const uint8_t *p = from, *const end = p + n;
  uint64_t key, v;
  uint32_t type;
  if (n < 4 || d->n_args == DECODED_ARGS || *p++ != PB_KEY(ANNOTATION_NAME_IID, PB_VARINT))
    return unusual_annotation(to, from, n, d);
  p = take_number(p, end, &key);
  if (!p || key == 0 || key >> 24 || end - p < 2) return unusual_annotation(to, from, n, d);
  switch (*p++) {
  case PB_KEY(ANNOTATION_INT, PB_VARINT): type = TK_ARG_INT; break;
  case PB_KEY(ANNOTATION_UINT, PB_VARINT): type = TK_ARG_UINT; break;
  case (PB_KEY(ANNOTATION_STRING_IID, PB_VARINT) & 0x7f) | 0x80:
    type = DECODED_IID;
    if (*p++ == PB_KEY(ANNOTATION_STRING_IID, PB_VARINT) >> 7) break;
    return unusual_annotation(to, from, n, d);
  default: return unusual_annotation(to, from, n, d);
  }
  if (take_number(p, end, &v) != end) return unusual_annotation(to, from, n, d);
  to->values = varint_put(to->values, type == TK_ARG_INT ? zigzag((int64_t)v) : v);
  *to->what++ = type | (uint32_t)key << 8;
  d->n_args++;
  return true;
}

/* ---- event and packet ---- */

static bool point(struct decoder *to, uint64_t id, bool terminating, struct decoded *d) {
  if (d->n_points == DECODED_POINTS) return false;
  *to->points++ = (struct decoded_point){id, terminating};
  d->n_points++;
  return true;
}

/* Stores the event's category. Returns false for an empty or second category; the reader handles these events. */
static bool category(struct decoded *d, const uint8_t *p, uint64_t v) {
  if (d->cat.p || d->cat.v || (!p && !v)) return false;
  d->cat = (struct decoded_text){p, v};
  return true;
}

/* Stores the place of a field that is not modelled, with its tag; adjacent fields share an entry. Returns false if no entry is
 * left. */
static bool keep(struct decoded *d, const uint8_t *p, const uint8_t *end) {
  struct decoded_rest *last = d->rest;
  while (last < d->rest + DECODED_REST && last->n && last->p + last->n != p) last++;
  if (last == d->rest + DECODED_REST) return false;
  if (!last->n) last->p = p;
  last->n += (size_t)(end - p);
  return true;
}

static bool event_field(struct decoder *to, const struct item *f, struct decoded *d) {
  switch (f->key) {
  case PB_KEY(EVENT_TYPE, PB_VARINT): d->type = (uint8_t)f->v; return f->v <= TYPE_COUNTER;
  case PB_KEY(EVENT_TRACK_UUID, PB_VARINT): d->track_uuid = f->v, d->has_track = true; return true;
  case PB_KEY(EVENT_NAME_IID, PB_VARINT): d->name = (struct decoded_text){NULL, f->v}; return f->v != 0;
  case PB_KEY(EVENT_NAME, PB_BYTES): d->name = (struct decoded_text){f->p, f->v}; return true;
  case PB_KEY(EVENT_CATEGORY_IIDS, PB_VARINT): return category(d, NULL, f->v);
  case PB_KEY(EVENT_CATEGORIES, PB_BYTES): return category(d, f->p, f->v);
  case PB_KEY(EVENT_DEBUG_ANNOTATIONS, PB_BYTES): return annotation(to, f->p, (size_t)f->v, d);
  case PB_KEY(EVENT_COUNTER_VALUE, PB_VARINT): d->value = DECODED_INT, d->number = f->v; return true;
  case PB_KEY(EVENT_DOUBLE_COUNTER_VALUE, PB_FIXED64): d->value = DECODED_DOUBLE, d->number = f->v; return true;
  case PB_KEY(EVENT_FLOW_IDS, PB_FIXED64): return point(to, f->v, false, d);
  case PB_KEY(EVENT_TERMINATING_FLOW_IDS, PB_FIXED64): return point(to, f->v, true, d);
  default: return false;
  }
}

static bool decode_event(struct decoder *to, struct decoded *d) {
  const uint8_t *p = d->event, *const end = d->event + d->n_event;
  struct item f = {0};
  for (const uint8_t *from = p; p < end; from = p) {
    if (end - p >= 2 && *p == PB_KEY(EVENT_DEBUG_ANNOTATIONS, PB_BYTES) && p[1] <= 0x7f && p[1] <= end - p - 2) {
      p += 2 + p[1];
      if (!annotation(to, from + 2, from[1], d)) return false;
      continue;
    }
    if (!(p = take_item(p, end, &f))) return false;
    if (event_field(to, &f, d)) continue;
    if (schema_is_modelled(f.key >> 3) || !keep(d, from, p)) return false;
  }
  return true;
}

/* Reads the numeric fields at the end of a usual packet, whose tags have one byte. Returns the position of the first other field; NULL
 * if a number is damaged. */
static const uint8_t *usual_numbers(const uint8_t *p, const uint8_t *end, struct decoded *d) {
  uint64_t v;
  while (p < end) {
    const uint8_t *const next = take_number(p + 1, end, &v);
    switch (*p) {
    case PB_KEY(PACKET_SEQUENCE_ID, PB_VARINT): d->sequence = v; break;
    case PB_KEY(PACKET_SEQUENCE_FLAGS, PB_VARINT): d->flags |= v; break;
    case PB_KEY(PACKET_TIMESTAMP, PB_VARINT): d->timestamp = v, d->has_timestamp = true; break;
    default: return p;
    }
    if (!(p = next)) return NULL;
  }
  return p;
}

static bool packet_field(const struct item *f, struct decoded *d) {
  switch (f->key) {
  case PB_KEY(PACKET_TIMESTAMP, PB_VARINT): d->timestamp = f->v, d->has_timestamp = true; return true;
  case PB_KEY(PACKET_SEQUENCE_ID, PB_VARINT): d->sequence = f->v; return true;
  case PB_KEY(PACKET_SEQUENCE_FLAGS, PB_VARINT): d->flags |= f->v; return true;
  case PB_KEY(PACKET_TIMESTAMP_CLOCK_ID, PB_VARINT): d->clock = (uint32_t)f->v, d->has_clock = true; return true;
  case PB_KEY(PACKET_MACHINE_ID, PB_VARINT): d->machine = (uint32_t)f->v; return true;
  case PB_KEY(PACKET_TRACEKIT, PB_BYTES):
    d->private_fields = f->p;
    d->n_private = (uint32_t)f->v;
    return true;
  case PB_KEY(PACKET_TRUSTED_UID, PB_VARINT):
  case PB_KEY(PACKET_TRUSTED_PID, PB_VARINT):
  case PB_KEY(PACKET_FIRST_ON_SEQUENCE, PB_VARINT): return true;
  case PB_KEY(PACKET_TRACK_EVENT, PB_BYTES):
    if (d->event) return false;
    d->event = f->p;
    d->n_event = (uint32_t)f->v;
    return true;
  default: return false;
  }
}

static bool decode_packet(struct decoder *to, struct decoded *d) {
  const uint8_t *p = d->p, *const end = d->p + d->n;
  struct item f = {0};
  while (p < end) {
    if (!(p = take_item(p, end, &f)) || !packet_field(&f, d)) return false;
    if (!(p = usual_numbers(p, end, d))) return false;
  }
  return d->event && !(d->flags & SEQUENCE_CLEARED) && decode_event(to, d);
}

void decode_one(struct decoder *to, const uint8_t *p, size_t n, struct decoded *d) {
  uint32_t *const what = to->what;
  uint8_t *const values = to->values;
  struct decoded_point *const points = to->points;
  *d = (struct decoded){.p = p, .n = (uint32_t)n, .what = what, .values = values, .points = points};
  d->is_event = n <= UINT32_MAX && decode_packet(to, d);
  if (to->filed) d->private_fields = NULL, d->n_private = 0;
  d->n_values = (uint16_t)(to->values - values);
  if (d->is_event) return;
  to->what = what;
  to->values = values;
  to->points = points;
}
