/* extension.c - converts args back to the fields of TrackEvent from which they were read. */
#include <string.h>

#include "extension.h"
#include "format/json.h"
#include "writer.h"

enum { LEVELS = 20 };

static bool write_int(struct buf *b, const struct schema_field *field, int64_t i) {
  switch (schema_wire(field)) {
  case PB_FIXED64: pb_fixed64(b, field->number, (uint64_t)i); return true;
  case PB_FIXED32: pb_fixed32(b, field->number, (uint32_t)i); return true;
  case PB_VARINT:
    if (field->type == FIELD_SINT32 || field->type == FIELD_SINT64) i = (int64_t)zigzag(i);
    pb_i64(b, field->number, i);
    return true;
  default: return false;
  }
}

static bool write_double(struct buf *b, const struct schema_field *field, double d) {
  float f = (float)d;
  uint32_t bits;
  if (field->type == FIELD_DOUBLE) {
    pb_double(b, field->number, d);
    return true;
  }
  if (field->type != FIELD_FLOAT || (double)f != d) return false;
  memcpy(&bits, &f, sizeof bits);
  pb_fixed32(b, field->number, bits);
  return true;
}

static bool write_scalar(const struct schema *s, struct buf *b, const struct schema_field *field, const struct scalar *v) {
  bool real = field->type == FIELD_DOUBLE || field->type == FIELD_FLOAT;
  int64_t number;
  switch (v->type) {
  case TK_ARG_TRUE:
  case TK_ARG_FALSE: return field->type == FIELD_BOOL && write_int(b, field, v->type == TK_ARG_TRUE);
  case TK_ARG_INT:
  case TK_ARG_UINT: return !real && field->type != FIELD_BOOL && write_int(b, field, v->i);
  case TK_ARG_DOUBLE: return write_double(b, field, v->d);
  case TK_ARG_STR:
    if (field->type == FIELD_ENUM) return schema_enum_number(s, field->of, v->p, v->n, &number) && write_int(b, field, number);
    if (field->type != FIELD_STRING) return false;
    break;
  default:
    if (v->type != TK_ARG_BYTES || field->type != FIELD_BYTES) return false;
  }
  pb_bytes(b, field->number, v->p, v->n);
  return true;
}

/* Finds the double whose printed form is this text. Returns false if there is none. */
static bool double_of(const char *text, size_t n, double *d) {
  char again[32];
  *d = num_double(text, n);
  return num_put_double(again, *d) == n && memcmp(again, text, n) == 0;
}

/* Reads a scalar from JSON that our reader wrote. */
static bool json_scalar(const struct schema_field *field, struct json *j, const struct json_value *v, struct scalar *out) {
  *out = (struct scalar){.type = v->type == JSON_TRUE ? TK_ARG_TRUE : TK_ARG_FALSE};
  if (v->type == JSON_TRUE || v->type == JSON_FALSE) return true;
  if (v->type == JSON_STRING) {
    out->type = TK_ARG_STR;
    out->p = json_string_text(j, &v->str, &out->n);
    return true;
  }
  if (v->type != JSON_NUMBER) return false;
  if (field->type == FIELD_DOUBLE || field->type == FIELD_FLOAT) {
    out->type = TK_ARG_DOUBLE;
    return double_of((const char *)v->p, (size_t)(v->end - v->p), &out->d);
  }
  out->type = TK_ARG_INT;
  out->i = v->num.mant;
  return v->num.kind == NUM_INT || v->num.kind == NUM_UINT;
}

static bool write_json(struct schema *s, struct buf *b, const struct schema_field *field, struct json *j, unsigned level);

static bool write_object(struct schema *s, struct buf *b, const struct schema_field *of, struct json *j, unsigned level) {
  struct buf inner = {.mem = s->mem};
  struct json_string key;
  size_t n;
  bool ok = level < LEVELS && *j->p++ == '{', more = ok && *j->p != '}';
  while (ok && more) {
    const struct schema_field *field = NULL;
    ok = json_key(j, &key);
    if (ok) {
      const uint8_t *name = json_string_text(j, &key, &n);
      field = schema_by_name(s, of->of, name, n);
    }
    ok = field && write_json(s, &inner, field, j, level + 1);
    more = ok && *j->p == ',';
    if (more) j->p++;
  }
  ok = ok && *j->p++ == '}';
  if (ok) pb_message(b, of->number, &inner);
  buf_free(&inner);
  return ok;
}

static bool write_json_value(struct schema *s, struct buf *b, const struct schema_field *field, struct json *j, unsigned level) {
  struct json_value v;
  struct scalar value;
  if (field->type == FIELD_MESSAGE) return write_object(s, b, field, j, level);
  return json_value(j, &v) && json_scalar(field, j, &v, &value) && write_scalar(s, b, field, &value);
}

static bool write_json(struct schema *s, struct buf *b, const struct schema_field *field, struct json *j, unsigned level) {
  if (!field->repeated) return write_json_value(s, b, field, j, level);
  bool ok = *j->p++ == '[';
  j->member = false; /* after a comma in an array, json_value must not expect a key */
  while (ok && *j->p != ']') {
    ok = write_json_value(s, b, field, j, level);
    if (ok && *j->p == ',') j->p++;
    else break;
  }
  return ok && *j->p++ == ']';
}

/* Writes a field from the JSON text of an arg. Leaves `b` unchanged on failure. */
static bool write_text(struct schema *s, struct buf *b, const struct schema_field *field, const struct intern_str *text) {
  static const char pad[16];
  size_t had = b->len;
  struct buf copy = {.mem = s->mem};
  struct json j = {.last = true, .scratch = {.mem = s->mem}};
  bool ok = buf_append(&copy, text->bytes, text->len) && buf_append(&copy, pad, sizeof pad);
  j.p = copy.data;
  j.end = copy.data + text->len;
  ok = ok && write_json(s, b, field, &j, 0) && j.p == j.end;
  if (!ok) b->len = had;
  buf_free(&copy);
  buf_free(&j.scratch);
  return ok;
}

void extension_end(struct extension_writer *x, struct buf *event) {
  if (x->open) pb_message(event, x->open, &x->message);
  x->open = 0;
  x->message.len = 0;
}

/* Returns the field that belongs to an arg's key, and the extension that contains the field; NULL if the field is itself an
 * extension. */
static const struct schema_field *field_of(const struct schema *s, const uint8_t *key, size_t n, const struct schema_field **in) {
  const uint8_t *dot = memchr(key, '.', n);
  size_t head = dot ? (size_t)(dot - key) : n;
  const struct schema_field *extension = schema_by_name(s, s->event, key, head);
  bool whole = extension && (extension->type != FIELD_MESSAGE || extension->repeated);
  *in = dot ? extension : NULL;
  if (!extension || whole == (dot != NULL)) return NULL;
  return dot ? schema_by_name(s, extension->of, dot + 1, n - head - 1) : extension;
}

static bool write_arg(struct schema *s, const struct tk_trace *t, const struct tk_arg *arg, const struct schema_field *field,
                      struct buf *to) {
  bool text = arg->type == TK_ARG_STR || arg->type == TK_ARG_BYTES || arg->type == TK_ARG_JSON;
  const struct intern_str *str = text ? trace_str(t, arg->s) : NULL;
  struct scalar v = {.type = arg->type};
  if (field->repeated || field->type == FIELD_MESSAGE) return arg->type == TK_ARG_JSON && write_text(s, to, field, str);
  if (arg->type == TK_ARG_DOUBLE) v.d = arg->d;
  else if (text) v.p = str->bytes, v.n = str->len;
  else v.i = arg->type == TK_ARG_UINT ? (int64_t)arg->u : arg->i;
  return write_scalar(s, to, field, &v);
}

bool extension_write(struct extension_writer *x, const struct tk_trace *t, const struct tk_arg *arg, uint32_t skip, struct buf *event) {
  struct schema *s = &x->schema;
  const struct intern_str *key = trace_str(t, arg->key);
  const struct schema_field *in, *field = s->n && key->len > skip ? field_of(s, key->bytes + skip, key->len - skip, &in) : NULL;
  if (!field) return false;
  if (!in || x->open != in->number) extension_end(x, event);
  if (!write_arg(s, t, arg, field, in ? &x->message : event)) return false;
  x->open = in ? in->number : 0;
  return true;
}

bool extension_fits(struct schema *written, const struct tk_trace *t) {
  struct schema own;
  schema_init(&own, written->mem);
  passthrough_schema(t, &own);
  const bool fits = !schema_conflicts(written, &own);
  schema_free(&own);
  if (fits) passthrough_schema(t, written);
  return fits;
}

void extension_none(struct extension_writer *x, struct mem *mem) {
  extension_free(x);
  *x = (struct extension_writer){.message = {.mem = mem}};
  schema_init(&x->schema, mem);
}

void extension_begin(struct extension_writer *x, const struct tk_trace *t, struct mem *mem) {
  *x = (struct extension_writer){.message = {.mem = mem}};
  schema_init(&x->schema, mem);
  passthrough_schema(t, &x->schema);
}

void extension_free(struct extension_writer *x) {
  schema_free(&x->schema);
  buf_free(&x->message);
}

static bool any_is_field(const struct schema *s, const struct tk_trace *t, const struct tk_arg_shape *shape) {
  const struct schema_field *in;
  for (uint32_t i = 0; i < shape->n; i++) {
    const struct intern_str *key = trace_str(t, shape->fields[i].key);
    uint32_t skip = key->len >= END_ARG_SIZE && memcmp(key->bytes, END_ARG, END_ARG_SIZE) == 0 ? END_ARG_SIZE : 0;
    if (field_of(s, key->bytes + skip, key->len - skip, &in)) return true;
  }
  return false;
}

bool extension_in_use(const struct tk_trace *t, struct mem *mem) {
  struct extension_writer x;
  uint8_t *seen = mem_zeros(mem, (uint64_t)t->store->n_shapes + 1, 1);
  bool found = false;
  extension_begin(&x, t, mem);
  for (tk_id i = 1; seen && !found && i <= t->n_events; i++) {
    const struct tk_arg_shape *shape = tk_args_of(t, t->events[i].args).shape;
    if (!shape || seen[shape->id]) continue;
    seen[shape->id] = 1;
    found = any_is_field(&x.schema, t, shape);
  }
  mem_free(mem, seen);
  extension_free(&x);
  return found;
}
