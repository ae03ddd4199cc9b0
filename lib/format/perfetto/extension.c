/* extension.c - fields of TrackEvent that the file describes: to args and back.
 *
 * A message's fields are sorted by number before they are looked at: those of one number are one array, wherever they stand. */
#include "extension.h"

#include <stdlib.h>
#include <string.h>

#include "format/json.h"
#include "format/pb_out.h"

enum { LEVELS = 20, FIELDS_MOST = 1 << 20 /* bytes of one event's */ };

/* ---- in: values ---- */

static double float_of(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return (double)f;
}

/* The wire type that values of a field have where they are not packed. */
static enum pb_wire wire_of(const struct schema_field *field) {
  switch (field->type) {
  case FIELD_DOUBLE:
  case FIELD_FIXED64:
  case FIELD_SFIXED64: return PB_FIXED64;
  case FIELD_FLOAT:
  case FIELD_FIXED32:
  case FIELD_SFIXED32: return PB_FIXED32;
  case FIELD_STRING:
  case FIELD_BYTES:
  case FIELD_MESSAGE: return PB_BYTES;
  case FIELD_GROUP: return PB_GROUP;
  default: return PB_VARINT;
  }
}

static void enum_value(const struct schema *s, const struct schema_field *field, int64_t number, struct scalar *v) {
  uint32_t name = schema_enum_name(s, field->of, number);
  *v = (struct scalar){.type = TK_ARG_INT, .i = number};
  if (name) *v = (struct scalar){.type = TK_ARG_STR, .p = s->text.strs[name].bytes, .n = s->text.strs[name].len};
}

static bool scalar_of(const struct schema *s, const struct schema_field *field, const struct pb_field *f, struct scalar *v) {
  *v = (struct scalar){.type = TK_ARG_INT, .i = (int64_t)f->value, .p = f->p, .n = (size_t)f->value};
  if (f->wire != wire_of(field)) return false;
  switch (field->type) {
  case FIELD_DOUBLE: v->d = pb_as_double(f->value), v->type = TK_ARG_DOUBLE; return true;
  case FIELD_FLOAT: v->d = float_of((uint32_t)f->value), v->type = TK_ARG_DOUBLE; return v->d == v->d;
  case FIELD_UINT64:
  case FIELD_FIXED64:
  case FIELD_UINT32:
  case FIELD_FIXED32: v->type = TK_ARG_UINT; return true;
  case FIELD_INT32:
  case FIELD_SFIXED32: v->i = (int32_t)f->value; return true;
  case FIELD_SINT32:
  case FIELD_SINT64: v->i = unzigzag(f->value); return true;
  case FIELD_INT64:
  case FIELD_SFIXED64: return true;
  case FIELD_BOOL: v->type = f->value ? TK_ARG_TRUE : TK_ARG_FALSE; return true;
  case FIELD_ENUM: enum_value(s, field, (int32_t)f->value, v); return true;
  case FIELD_STRING: v->type = TK_ARG_STR; return utf8_valid(f->p, v->n);
  case FIELD_BYTES: v->type = TK_ARG_BYTES; return true;
  default: return false;
  }
}

static bool put_scalar(struct buf *out, const struct scalar *v) {
  char text[32];
  switch (v->type) {
  case TK_ARG_INT: return buf_append(out, text, num_put_i64(text, v->i));
  case TK_ARG_UINT: return buf_append(out, text, num_put_u64(text, (uint64_t)v->i));
  case TK_ARG_TRUE: return buf_append(out, "true", 4);
  case TK_ARG_FALSE: return buf_append(out, "false", 5);
  case TK_ARG_STR: return json_quote(out, v->p, v->n);
  case TK_ARG_DOUBLE: return v->d - v->d == 0 && buf_append(out, text, num_put_double(text, v->d));
  default: return false; /* JSON has no bytes */
  }
}

/* ---- in: messages ---- */

static int by_number(const void *a, const void *b) {
  const struct occurrence *x = a, *y = b;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

/* The fields of a message, sorted, from s->found[return value] to its end.  UINT32_MAX: it is damaged. */
static uint32_t collect(struct schema *s, struct pb c) {
  uint32_t lo = s->n_found;
  struct pb_field f;
  for (const uint8_t *from = c.p; pb_next(&c, &f); from = c.p) {
    if (!mem_grow(s->mem, (void **)&s->found, &s->cap_found, (uint64_t)s->n_found + 1, sizeof *s->found)) return UINT32_MAX;
    s->found[s->n_found] = (struct occurrence){f.number, s->n_found, f, from, c.p};
    s->n_found++;
  }
  if (c.fault) return UINT32_MAX;
  if (s->n_found > lo) qsort(s->found + lo, s->n_found - lo, sizeof *s->found, by_number);
  return lo;
}

static uint32_t group_end(const struct schema *s, uint32_t lo) {
  uint32_t hi = lo;
  while (hi < s->n_found && s->found[hi].number == s->found[lo].number) hi++;
  return hi;
}

static bool put_group(struct schema *s, const struct schema_field *field, uint32_t lo, uint32_t hi, unsigned level);

static bool put_object(struct schema *s, uint32_t message, const struct pb_field *f, unsigned level) {
  uint32_t mark = s->n_found, lo = level < LEVELS && f->wire == PB_BYTES ? collect(s, pb_inside(f)) : UINT32_MAX;
  bool ok = lo != UINT32_MAX && buf_append(&s->json, "{", 1);
  for (uint32_t hi; ok && lo < s->n_found; lo = hi) {
    const struct schema_field *field = schema_by_number(s, message, s->found[lo].number);
    hi = group_end(s, lo);
    ok = field && (lo == mark || buf_append(&s->json, ",", 1)) &&
         json_quote(&s->json, s->text.strs[field->name].bytes, s->text.strs[field->name].len) && buf_append(&s->json, ":", 1) &&
         put_group(s, field, lo, hi, level);
  }
  s->n_found = mark;
  return ok && buf_append(&s->json, "}", 1);
}

static bool put_value(struct schema *s, const struct schema_field *field, const struct pb_field *f, unsigned level) {
  struct scalar v;
  if (field->type == FIELD_MESSAGE) return put_object(s, field->of, f, level + 1);
  return scalar_of(s, field, f, &v) && put_scalar(&s->json, &v);
}

/* Numbers without tags between. */
static bool put_packed(struct schema *s, const struct schema_field *field, const struct pb_field *f, bool any) {
  struct pb c = pb_inside(f);
  struct pb_field v = {.number = f->number, .wire = (uint8_t)wire_of(field)};
  size_t size = v.wire == PB_FIXED64 ? 8 : v.wire == PB_FIXED32 ? 4 : 0;
  while (c.p < c.end) {
    if (size && (size_t)(c.end - c.p) < size) return false;
    v.value = 0;
    for (size_t i = 0; i < size; i++) v.value |= (uint64_t)c.p[i] << 8 * i;
    if (size) c.p += size;
    else if (!pb_varint(&c, &v.value)) return false;
    if (any && !buf_append(&s->json, ",", 1)) return false;
    any = true;
    if (!put_value(s, field, &v, LEVELS)) return false;
  }
  return true;
}

/* The occurrences lo .. hi-1 of a field: an array if it is repeated. */
static bool put_group(struct schema *s, const struct schema_field *field, uint32_t lo, uint32_t hi, unsigned level) {
  bool ok = true;
  if (!field->repeated) {
    struct pb_field f = s->found[lo].f;
    return hi == lo + 1 && put_value(s, field, &f, level);
  }
  size_t start = s->json.len;
  buf_append(&s->json, "[", 1);
  for (uint32_t i = lo; ok && i < hi; i++) {
    struct pb_field f = s->found[i].f; /* s->found may move */
    bool any = s->json.len > start + 1;
    if (f.wire == PB_BYTES && wire_of(field) != PB_BYTES) ok = put_packed(s, field, &f, any);
    else ok = (!any || buf_append(&s->json, ",", 1)) && put_value(s, field, &f, level);
  }
  return ok && buf_append(&s->json, "]", 1);
}

/* ---- in: args ---- */

static struct member *add_member(struct schema *s, uint32_t extension, uint32_t name) {
  if (!mem_grow(s->mem, (void **)&s->members, &s->cap_members, (uint64_t)s->n_members + 1, sizeof *s->members)) return NULL;
  s->members[s->n_members] = (struct member){.extension = extension, .name = name};
  return &s->members[s->n_members++];
}

/* One arg of the occurrences of a field. */
static bool read_group(struct schema *s, uint32_t extension, uint32_t name, const struct schema_field *field, uint32_t lo,
                       uint32_t hi) {
  struct scalar v = {0};
  size_t json = s->json.len;
  bool deep = field->repeated || field->type == FIELD_MESSAGE;
  if (!deep && (hi != lo + 1 || !scalar_of(s, field, &s->found[lo].f, &v))) return false;
  if (deep && !put_group(s, field, lo, hi, 0)) return false;
  struct member *m = add_member(s, extension, name);
  if (!m) return false;
  m->value = v;
  m->json = json;
  m->n_json = s->json.len - json;
  return true;
}

/* A message's fields are args of their own. */
static bool read_message(struct schema *s, const struct schema_field *extension, const struct pb_field *f) {
  uint32_t mark = s->n_found, lo = f->wire == PB_BYTES && f->value ? collect(s, pb_inside(f)) : UINT32_MAX, hi;
  bool ok = lo != UINT32_MAX;
  for (; ok && lo < s->n_found; lo = hi) {
    const struct schema_field *field = schema_by_number(s, extension->of, s->found[lo].number);
    hi = group_end(s, lo);
    ok = field && read_group(s, extension->name, field->name, field, lo, hi);
  }
  s->n_found = mark;
  return ok;
}

static bool read_extension(struct schema *s, uint32_t lo, uint32_t hi) {
  const struct schema_field *field = schema_by_number(s, s->event, s->found[lo].number);
  uint32_t n_members = s->n_members;
  struct pb_field f = s->found[lo].f;
  if (!field) return false;
  if (field->type == FIELD_MESSAGE && !field->repeated ? hi == lo + 1 && read_message(s, field, &f)
                                                       : read_group(s, field->name, 0, field, lo, hi))
    return true;
  s->n_members = n_members;
  return false;
}

const struct member *extension_read(struct schema *s, const struct buf *fields, uint32_t *n) {
  *n = s->n_found = s->n_members = 0;
  s->json.len = s->message.len = 0;
  if (!s->n || !fields->len || fields->len > FIELDS_MOST) return NULL;
  if (collect(s, pb_over(fields->data, fields->len)) == UINT32_MAX) return NULL;
  for (uint32_t lo = 0, hi, end = s->n_found; lo < end; lo = hi) {
    for (hi = lo; hi < end && s->found[hi].number == s->found[lo].number;) hi++;
    if (read_extension(s, lo, hi)) continue;
    for (uint32_t i = lo; i < hi; i++) buf_append(&s->message, s->found[i].from, (size_t)(s->found[i].end - s->found[i].from));
  }
  *n = s->n_members;
  return s->members;
}

const struct buf *extension_rest(const struct schema *s) { return &s->message; }

static void put_arg(const struct schema *s, const struct member *m, struct tk_trace *t, tk_id key) {
  const struct scalar *v = &m->value;
  switch (m->n_json ? TK_ARG_JSON : v->type) {
  case TK_ARG_JSON: args_str(t, key, TK_ARG_JSON, trace_string(t, s->json.data + m->json, m->n_json)); return;
  case TK_ARG_INT: args_int(t, key, v->i); return;
  case TK_ARG_UINT: args_uint(t, key, TK_ARG_UINT, (uint64_t)v->i); return;
  case TK_ARG_DOUBLE: args_double(t, key, v->d); return;
  case TK_ARG_STR:
  case TK_ARG_BYTES: args_str(t, key, v->type, trace_string(t, v->p, v->n)); return;
  default: args_flag(t, key, v->type);
  }
}

uint32_t extension_args(struct schema *s, const struct member *m, uint32_t n, struct tk_trace *t) {
  uint32_t opaque = 0;
  for (; n--; m++) {
    const struct intern_str *extension = &s->text.strs[m->extension], *name = &s->text.strs[m->name];
    s->path.len = 0;
    buf_append(&s->path, extension->bytes, extension->len);
    if (m->name) {
      buf_append(&s->path, ".", 1);
      buf_append(&s->path, name->bytes, name->len);
    }
    put_arg(s, m, t, trace_string(t, s->path.data, s->path.len));
    opaque += m->value.type == TK_ARG_BYTES;
  }
  return opaque;
}

/* ---- out ---- */

static bool write_int(struct buf *b, const struct schema_field *field, int64_t i) {
  switch (wire_of(field)) {
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

/* The double that prints as this text; false if there is none. */
static bool double_of(const char *text, size_t n, double *d) {
  char again[32];
  *d = num_double(text, n);
  return num_put_double(again, *d) == n && memcmp(again, text, n) == 0;
}

/* JSON that we wrote. */
static bool json_scalar(const struct schema_field *field, struct json *j, const struct json_value *v, struct scalar *out) {
  *out = (struct scalar){.type = v->type == JSON_TRUE ? TK_ARG_TRUE : TK_ARG_FALSE};
  if (v->type == JSON_TRUE || v->type == JSON_FALSE) return true;
  if (v->type == JSON_STRING) {
    out->type = TK_ARG_STR;
    out->p = json_text(j, &v->str, &out->n);
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
      const uint8_t *name = json_text(j, &key, &n);
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
  while (ok && *j->p != ']') {
    ok = write_json_value(s, b, field, j, level);
    if (ok && *j->p == ',') j->p++;
    else break;
  }
  return ok && *j->p++ == ']';
}

/* Of an arg that became JSON: what cannot be a field leaves nothing in `b`. */
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

void extension_end(struct schema *s, struct buf *event) {
  if (s->open) pb_message(event, s->open, &s->message);
  s->open = 0;
  s->message.len = 0;
}

/* The field whose arg has the key, and the extension that it is in, or NULL if it is one itself. */
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

bool extension_write(struct schema *s, const struct tk_trace *t, const struct tk_arg *arg, uint32_t skip, struct buf *event) {
  const struct intern_str *key = trace_str(t, arg->key);
  const struct schema_field *in, *field = s->n && key->len > skip ? field_of(s, key->bytes + skip, key->len - skip, &in) : NULL;
  if (!field) return false;
  if (!in || s->open != in->number) extension_end(s, event);
  if (!write_arg(s, t, arg, field, in ? &s->message : event)) return false;
  s->open = in ? in->number : 0;
  return true;
}
