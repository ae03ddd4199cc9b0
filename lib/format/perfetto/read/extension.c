/* extension.c - converts to args those fields of TrackEvent that the file itself describes.
 *
 * The fields of a message are first sorted by number, because all fields with the same number form an array, wherever they are
 * in the message. */
#include <stdlib.h>
#include <string.h>

#include "extension.h"
#include "base/utf8.h"
#include "format/json.h"
#include "reader.h"
#include "graph/args.h"

enum { LEVELS = 20, FIELDS_MOST = 1 << 20 /* FIELDS_MOST: bytes of one event's fields */ };

/* ---- values ---- */

static double float_of(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return (double)f;
}

static void enum_value(const struct extension_reader *x, const struct schema_field *field, int64_t number, struct scalar *v) {
  uint32_t name = schema_enum_name(&x->schema, field->of, number);
  *v = (struct scalar){.type = TK_ARG_INT, .i = number};
  if (name) *v = (struct scalar){.type = TK_ARG_STR, .p = x->schema.text.strs[name].bytes, .n = x->schema.text.strs[name].len};
}

static bool scalar_of(const struct extension_reader *x, const struct schema_field *field, const struct pb_field *f, struct scalar *v) {
  *v = (struct scalar){.type = TK_ARG_INT, .i = (int64_t)f->value, .p = f->p, .n = (size_t)f->value};
  if (f->wire != schema_wire(field)) return false;
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
  case FIELD_ENUM: enum_value(x, field, (int32_t)f->value, v); return true;
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

/* ---- messages ---- */

static int by_number(const void *a, const void *b) {
  const struct occurrence *x = a, *y = b;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

/* Appends the fields of a message to x->found, sorted by number. Returns the index of the first one, or UINT32_MAX if the
 * message is damaged. */
static uint32_t collect(struct extension_reader *x, struct pb c) {
  uint32_t lo = x->n_found;
  struct pb_field f;
  for (const uint8_t *from = c.p; pb_next(&c, &f); from = c.p) {
    if (!mem_grow(x->schema.mem, (void **)&x->found, &x->cap_found, (uint64_t)x->n_found + 1, sizeof *x->found)) return UINT32_MAX;
    x->found[x->n_found] = (struct occurrence){f.number, x->n_found, f, from, c.p};
    x->n_found++;
  }
  if (c.fault) return UINT32_MAX;
  if (x->n_found > lo) qsort(x->found + lo, x->n_found - lo, sizeof *x->found, by_number);
  return lo;
}

static uint32_t group_end(const struct extension_reader *x, uint32_t lo) {
  uint32_t hi = lo;
  while (hi < x->n_found && x->found[hi].number == x->found[lo].number) hi++;
  return hi;
}

static bool put_group(struct extension_reader *x, const struct schema_field *field, uint32_t lo, uint32_t hi, unsigned level);

static bool put_object(struct extension_reader *x, uint32_t message, const struct pb_field *f, unsigned level) {
  uint32_t mark = x->n_found, lo = level < LEVELS && f->wire == PB_BYTES ? collect(x, pb_inside(f)) : UINT32_MAX;
  bool ok = lo != UINT32_MAX && buf_append(&x->json, "{", 1);
  for (uint32_t hi; ok && lo < x->n_found; lo = hi) {
    const struct schema_field *field = schema_by_number(&x->schema, message, x->found[lo].number);
    const struct intern_str *name = &x->schema.text.strs[field ? field->name : 0];
    hi = group_end(x, lo);
    ok = field && (lo == mark || buf_append(&x->json, ",", 1)) && json_quote(&x->json, name->bytes, name->len) &&
         buf_append(&x->json, ":", 1) && put_group(x, field, lo, hi, level);
  }
  x->n_found = mark;
  return ok && buf_append(&x->json, "}", 1);
}

static bool extension_put_value(struct extension_reader *x, const struct schema_field *field, const struct pb_field *f,
                                unsigned level) {
  struct scalar v;
  if (field->type == FIELD_MESSAGE) return put_object(x, field->of, f, level + 1);
  return scalar_of(x, field, f, &v) && put_scalar(&x->json, &v);
}

/* Appends packed numbers: values without tags between them. */
static bool put_packed(struct extension_reader *x, const struct schema_field *field, const struct pb_field *f, bool any) {
  struct pb c = pb_inside(f);
  struct pb_field v = {.number = f->number, .wire = (uint8_t)schema_wire(field)};
  size_t size = v.wire == PB_FIXED64 ? 8 : v.wire == PB_FIXED32 ? 4 : 0;
  while (c.p < c.end) {
    if (size && (size_t)(c.end - c.p) < size) return false;
    v.value = 0;
    for (size_t i = 0; i < size; i++) v.value |= (uint64_t)c.p[i] << 8 * i;
    if (size) c.p += size;
    else if (!pb_varint(&c, &v.value)) return false;
    if (any && !buf_append(&x->json, ",", 1)) return false;
    any = true;
    if (!extension_put_value(x, field, &v, LEVELS)) return false;
  }
  return true;
}

/* Appends the occurrences lo .. hi-1 of a field: an array if the field is repeated. */
static bool put_group(struct extension_reader *x, const struct schema_field *field, uint32_t lo, uint32_t hi, unsigned level) {
  bool ok = true;
  if (!field->repeated) {
    struct pb_field f = x->found[lo].f;
    return hi == lo + 1 && extension_put_value(x, field, &f, level);
  }
  size_t start = x->json.len;
  buf_append(&x->json, "[", 1);
  for (uint32_t i = lo; ok && i < hi; i++) {
    struct pb_field f = x->found[i].f; /* a copy, because x->found may move */
    bool any = x->json.len > start + 1;
    if (f.wire == PB_BYTES && schema_wire(field) != PB_BYTES) ok = put_packed(x, field, &f, any);
    else ok = (!any || buf_append(&x->json, ",", 1)) && extension_put_value(x, field, &f, level);
  }
  return ok && buf_append(&x->json, "]", 1);
}

/* ---- args ---- */

static struct member *add_member(struct extension_reader *x, uint32_t extension, uint32_t name) {
  if (!mem_grow(x->schema.mem, (void **)&x->members, &x->cap_members, (uint64_t)x->n_members + 1, sizeof *x->members)) return NULL;
  x->members[x->n_members] = (struct member){.extension = extension, .name = name};
  return &x->members[x->n_members++];
}

/* Adds one arg for all occurrences of a field. */
static bool read_group(struct extension_reader *x, uint32_t extension, uint32_t name, const struct schema_field *field, uint32_t lo,
                       uint32_t hi) {
  struct scalar v = {0};
  size_t json = x->json.len;
  bool deep = field->repeated || field->type == FIELD_MESSAGE;
  if (!deep && (hi != lo + 1 || !scalar_of(x, field, &x->found[lo].f, &v))) return false;
  if (deep && !put_group(x, field, lo, hi, 0)) return false;
  struct member *m = add_member(x, extension, name);
  if (!m) return false;
  m->value = v;
  m->json = json;
  m->n_json = x->json.len - json;
  return true;
}

/* Adds an arg for each field of a message. */
static bool read_message(struct extension_reader *x, const struct schema_field *extension, const struct pb_field *f) {
  uint32_t mark = x->n_found, lo = f->wire == PB_BYTES && f->value ? collect(x, pb_inside(f)) : UINT32_MAX, hi;
  bool ok = lo != UINT32_MAX;
  for (; ok && lo < x->n_found; lo = hi) {
    const struct schema_field *field = schema_by_number(&x->schema, extension->of, x->found[lo].number);
    hi = group_end(x, lo);
    ok = field && read_group(x, extension->name, field->name, field, lo, hi);
  }
  x->n_found = mark;
  return ok;
}

static bool read_extension(struct extension_reader *x, uint32_t lo, uint32_t hi) {
  const struct schema_field *field = schema_by_number(&x->schema, x->schema.event, x->found[lo].number);
  uint32_t n_members = x->n_members;
  struct pb_field f = x->found[lo].f;
  if (!field) return false;
  if (field->type == FIELD_MESSAGE && !field->repeated ? hi == lo + 1 && read_message(x, field, &f)
                                                       : read_group(x, field->name, 0, field, lo, hi))
    return true;
  x->n_members = n_members;
  return false;
}

const struct member *extension_read(struct extension_reader *x, const struct buf *fields, uint32_t *n) {
  *n = x->n_found = x->n_members = 0;
  x->json.len = x->rest.len = 0;
  if (!x->schema.n || !fields->len || fields->len > FIELDS_MOST) return NULL;
  if (collect(x, pb_over(fields->data, fields->len)) == UINT32_MAX) return NULL;
  for (uint32_t lo = 0, hi, end = x->n_found; lo < end; lo = hi) {
    for (hi = lo; hi < end && x->found[hi].number == x->found[lo].number;) hi++;
    if (read_extension(x, lo, hi)) continue;
    for (uint32_t i = lo; i < hi; i++) buf_append(&x->rest, x->found[i].from, (size_t)(x->found[i].end - x->found[i].from));
  }
  *n = x->n_members;
  return x->members;
}

static void put_arg(const struct extension_reader *x, const struct member *m, struct tk_trace *t, tk_id key) {
  const struct scalar *v = &m->value;
  switch (m->n_json ? TK_ARG_JSON : v->type) {
  case TK_ARG_JSON: args_str(t, key, TK_ARG_JSON, trace_string(t, x->json.data + m->json, m->n_json)); return;
  case TK_ARG_INT: args_int(t, key, v->i); return;
  case TK_ARG_UINT: args_uint(t, key, TK_ARG_UINT, (uint64_t)v->i); return;
  case TK_ARG_DOUBLE: args_double(t, key, v->d); return;
  case TK_ARG_STR:
  case TK_ARG_BYTES: args_str(t, key, v->type, trace_string(t, v->p, v->n)); return;
  default: args_flag(t, key, v->type);
  }
}

uint32_t extension_args(struct extension_reader *x, const struct member *m, uint32_t n, const char *prefix, struct tk_trace *t) {
  uint32_t n_bytes = 0;
  for (; n--; m++) {
    const struct intern_str *extension = &x->schema.text.strs[m->extension], *name = &x->schema.text.strs[m->name];
    x->path.len = 0;
    buf_text(&x->path, prefix);
    buf_append(&x->path, extension->bytes, extension->len);
    if (m->name) {
      buf_append(&x->path, ".", 1);
      buf_append(&x->path, name->bytes, name->len);
    }
    put_arg(x, m, t, trace_string(t, x->path.data, x->path.len));
    n_bytes += m->value.type == TK_ARG_BYTES;
  }
  return n_bytes;
}
