/* args.c - converts a DebugAnnotation to an arg.
 *
 * Scalars keep their type. Nested dictionaries and arrays, in the new form (dict_entries, array_values) or the old one
 * (nested_value), become JSON text. They are processed level by level on an explicit stack, because the file determines the
 * depth. */
#include <string.h>

#include "args.h"
#include "format/json_args.h"
#include "format/pb_out.h"
#include "reader.h"
#include "sequence.h"
#include "graph/args.h"

struct annotation {
  struct pb_field value; /* number 0 = no value */
  struct pb_field number; /* original text of a double; p == NULL: none */
  tk_id key;
};

static void scan_annotation(struct perfetto *r, struct sequence *q, const struct pb_field *f, struct annotation *a) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  *a = (struct annotation){.key = KEY_EMPTY};
  while (pb_next(&c, &g)) {
    switch (pb_field_key(&g)) {
    case PB_KEY(ANNOTATION_NAME_IID, PB_VARINT): a->key = sequence_text(r, q, IID_KEY, g.value); break;
    case PB_KEY(ANNOTATION_NAME, PB_BYTES): a->key = perfetto_key(r, perfetto_field_text(r, &g)); break;
    case PB_KEY(ANNOTATION_BOOL, PB_VARINT):
    case PB_KEY(ANNOTATION_UINT, PB_VARINT):
    case PB_KEY(ANNOTATION_INT, PB_VARINT):
    case PB_KEY(ANNOTATION_POINTER, PB_VARINT):
    case PB_KEY(ANNOTATION_DOUBLE, PB_FIXED64):
    case PB_KEY(ANNOTATION_STRING, PB_BYTES):
    case PB_KEY(ANNOTATION_STRING_IID, PB_VARINT):
    case PB_KEY(ANNOTATION_JSON, PB_BYTES):
    case PB_KEY(ANNOTATION_NESTED, PB_BYTES):
    case PB_KEY(ANNOTATION_PROTO, PB_BYTES):
    case PB_KEY(ANNOTATION_DICT, PB_BYTES):
    case PB_KEY(ANNOTATION_ARRAY, PB_BYTES): a->value = g; break;
    case PB_KEY(ANNOTATION_TRACEKIT, PB_BYTES):
      if (!r->filed) a->number = g;
      break;
    default: break;
    }
  }
  if (c.fault) perfetto_damage(r, "damaged debug annotation, read as far as possible");
}

/* ---- JSON text ---- */

/* Appends the text to r->json as compact, strict JSON. Returns false if the text is not JSON. */
static bool copy_json(struct perfetto *r, const struct pb_field *f) {
  static const uint8_t pad[IN_PAD] = {' '}; /* a space ends a number */
  struct json j = {.last = true, .scratch = {.mem = &r->t->store->mem}};
  size_t from = r->json.len;
  r->copy.len = 0;
  if (!buf_append(&r->copy, f->p, (size_t)f->value) || !buf_append(&r->copy, pad, sizeof pad)) return false;
  j.p = r->copy.data;
  j.end = j.p + f->value + 1;
  bool ok = json_blank(&j) && json_copy(&j, &r->json);
  if (ok && j.n_fixes) perfetto_note(r, TK_NOTE_REPAIR, "debug annotation whose JSON has syntax errors: repaired");
  if (!ok) r->json.len = from;
  buf_free(&j.scratch);
  return ok;
}

static void args_put_text(struct perfetto *r, tk_id id) {
  size_t n;
  const char *p = tk_string(r->t, id, &n);
  json_quote(&r->json, p, n);
}

/* Appends the double with a point or an exponent, so that it differs from an integer. */
static void put_double(struct perfetto *r, double d) {
  char text[40];
  if (d - d != 0) {
    const char *name = d != d ? "NaN" : d > 0 ? "Infinity" : "-Infinity";
    json_quote(&r->json, name, strlen(name));
    return;
  }
  size_t n = num_put_double(text, d);
  if (!memchr(text, '.', n) && !memchr(text, 'e', n)) memcpy(text + n, ".0", 2), n += 2;
  buf_append(&r->json, text, n);
}

static void put_bool(struct perfetto *r, bool b) { buf_append(&r->json, b ? "true" : "false", b ? 4 : 5); }

/* Adds the type of the next value of a nested annotation. */
static void put_type(struct perfetto *r, char type) {
  buf_append(&r->value_types, &type, 1);
  r->has_types = r->has_types || type != VALUE_IMPLIED;
}

/* True for an empty object or array. Only a JSON annotation can contain an empty one, so the text implies the type. */
static bool is_empty(const struct pb_field *json) {
  return json->value == 2 && (memcmp(json->p, "{}", 2) == 0 || memcmp(json->p, "[]", 2) == 0);
}

/* Returns the type of a value; VALUE_IMPLIED if the JSON text that put_scalar writes implies the type. */
static char type_of_value(const struct pb_field *v) {
  const double d = v->number == ANNOTATION_DOUBLE ? pb_as_double(v->value) : 0;
  switch (v->number) {
  case ANNOTATION_UINT: return v->value <= INT64_MAX ? VALUE_UINT : VALUE_IMPLIED;
  case ANNOTATION_POINTER: return VALUE_POINTER;
  case ANNOTATION_DOUBLE: return d - d != 0 ? VALUE_DOUBLE : VALUE_IMPLIED;
  case ANNOTATION_JSON: return is_empty(v) ? VALUE_IMPLIED : VALUE_JSON;
  default: return VALUE_IMPLIED;
  }
}

/* Writes a value of a type that JSON lacks as text: FILED_VALUE, a letter for the type, and the value. Only for queries. */
static void put_filed(struct perfetto *r, char type, const void *p, size_t n) {
  const char mark[] = {FILED_VALUE, type};
  r->copy.len = 0;
  buf_append(&r->copy, mark, sizeof mark);
  buf_append(&r->copy, p, n);
  const tk_id text = trace_string(r->t, r->copy.data, r->copy.len);
  args_put_text(r, text);
}

static bool put_filed_scalar(struct perfetto *r, const struct pb_field *v) {
  char text[32];
  switch (v->number) {
  case ANNOTATION_UINT:
    put_filed(r, 'u', text, num_put_u64(text, v->value));
    return true;
  case ANNOTATION_POINTER:
    put_filed(r, 'p', text, num_put_u64(text, v->value));
    return true;
  case ANNOTATION_DOUBLE: {
    const double d = pb_as_double(v->value);
    if (d - d != 0) return false;
    put_filed(r, 'd', text, num_put_double(text, d));
    return true;
  }
  case ANNOTATION_PROTO: return buf_append(&r->json, "null", 4);
  default: return false;
  }
}

/* True for text that trace_processor ignores: text that is not JSON, or a bare number with nothing after it. */
static bool ignores_json(const struct pb_field *f) {
  const uint8_t last = f->value ? f->p[f->value - 1] : 0;
  return last != '}' && last != ']' && last != '"' && last != 'e' && last != ' ' && last != '\n';
}

static void put_scalar(struct perfetto *r, struct sequence *q, const struct annotation *a) {
  const struct pb_field *v = &a->value;
  char text[32];
  put_type(r, type_of_value(v));
  if (r->filed && put_filed_scalar(r, v)) return;
  switch (v->number) {
  case ANNOTATION_BOOL: put_bool(r, v->value != 0); return;
  case ANNOTATION_INT: buf_append(&r->json, text, num_put_i64(text, (int64_t)v->value)); return;
  case ANNOTATION_UINT:
  case ANNOTATION_POINTER: buf_append(&r->json, text, num_put_u64(text, v->value)); return;
  case ANNOTATION_DOUBLE:
    if (!a->number.p || !copy_json(r, &a->number)) put_double(r, pb_as_double(v->value));
    return;
  case ANNOTATION_STRING_IID: args_put_text(r, sequence_text(r, q, IID_VALUE, v->value)); return;
  case ANNOTATION_JSON:
    if (!(r->filed && ignores_json(v)) && copy_json(r, v)) return;
    if (r->filed) buf_append(&r->json, "[]", 2);
    else args_put_text(r, perfetto_field_text(r, v));
    return;
  case ANNOTATION_STRING:
  case ANNOTATION_PROTO: args_put_text(r, perfetto_field_text(r, v)); return;
  default: buf_append(&r->json, "null", 4);
  }
}

/* An open bracket. Its elements are the fields with number `member` of a message. */
struct level {
  struct pb c, keys; /* keys: for NestedValue, which stores its keys in a separate field */
  uint32_t member;
  bool dict, nested, any;
};

struct builder {
  struct level stack[ANNOTATION_LEVELS];
  unsigned n;
};

static bool open_level(struct perfetto *r, struct builder *b, struct level l) {
  if (b->n == ANNOTATION_LEVELS) {
    perfetto_note(r, TK_NOTE_REPAIR, "debug annotations nested more than 100 levels deep: deeper levels are dropped");
    put_type(r, VALUE_IMPLIED);
    buf_append(&r->json, "null", 4);
    return false;
  }
  buf_append(&r->json, l.dict ? "{" : "[", 1);
  b->stack[b->n++] = l;
  return true;
}

static void put_nested_value(struct perfetto *r, struct builder *b, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct pb_field g, scalar = {0};
  uint64_t type = 0;
  char text[32];
  while (pb_next(&c, &g)) {
    if (pb_field_key(&g) == PB_KEY(NESTED_TYPE, PB_VARINT)) type = g.value;
    else if (g.number >= NESTED_INT && g.number <= NESTED_STRING) scalar = g;
  }
  if (type == 1 || type == 2) {
    uint32_t member = type == 1 ? NESTED_VALUES : NESTED_ARRAY;
    open_level(r, b, (struct level){pb_inside(f), pb_inside(f), member, type == 1, true, false});
    return;
  }
  put_type(r, VALUE_IMPLIED);
  switch (pb_field_key(&scalar)) {
  case PB_KEY(NESTED_INT, PB_VARINT): buf_append(&r->json, text, num_put_i64(text, (int64_t)scalar.value)); return;
  case PB_KEY(NESTED_DOUBLE, PB_FIXED64): put_double(r, pb_as_double(scalar.value)); return;
  case PB_KEY(NESTED_BOOL, PB_VARINT): put_bool(r, scalar.value != 0); return;
  case PB_KEY(NESTED_STRING, PB_BYTES): args_put_text(r, perfetto_field_text(r, &scalar)); return;
  default: buf_append(&r->json, "null", 4);
  }
}

/* Writes a scalar, or enters a dictionary or array. */
static void args_put_value(struct perfetto *r, struct sequence *q, struct builder *b, const struct annotation *a,
                           const struct pb_field *f) {
  bool dict = a->value.number == ANNOTATION_DICT;
  if (a->value.number == ANNOTATION_NESTED) put_nested_value(r, b, &a->value);
  else if (!dict && a->value.number != ANNOTATION_ARRAY) put_scalar(r, q, a);
  else open_level(r, b, (struct level){pb_inside(f), pb_inside(f), a->value.number, dict, false, false});
}

static void put_next_key(struct perfetto *r, struct level *l) {
  struct pb_field g;
  tk_id key = KEY_EMPTY;
  while (pb_next(&l->keys, &g))
    if (pb_field_key(&g) == PB_KEY(NESTED_KEYS, PB_BYTES)) {
      key = perfetto_field_text(r, &g);
      break;
    }
  args_put_text(r, key);
  buf_append(&r->json, ":", 1);
}

/* Replaces ".", "[" and "]" in a name with "_", as trace_processor does. Names in JSON text are not changed. */
static tk_id filed_name(struct perfetto *r, tk_id name) {
  size_t n;
  const char *text = tk_string(r->t, name, &n);
  r->copy.len = 0;
  buf_append(&r->copy, text, n);
  for (size_t i = 0; i < r->copy.len; i++)
    if (strchr(".[]", r->copy.data[i])) r->copy.data[i] = '_';
  return trace_string(r->t, r->copy.data, r->copy.len);
}

/* Writes the name of a dictionary's entry. If trace_processor would change the name, the types of the values are also stored, so that
 * the writer writes a dictionary again and not JSON text (write/nested.c). */
static void put_name(struct perfetto *r, tk_id name) {
  const bool is_changed = strpbrk(tk_string(r->t, name, NULL), ".[]") != NULL;
  r->has_types = r->has_types || is_changed;
  args_put_text(r, is_changed && r->filed ? filed_name(r, name) : name);
  buf_append(&r->json, ":", 1);
}

static void put_member(struct perfetto *r, struct sequence *q, struct builder *b, const struct pb_field *f) {
  struct level *l = &b->stack[b->n - 1];
  struct annotation a;
  if (l->any) buf_append(&r->json, ",", 1);
  l->any = true;
  if (l->nested) {
    if (l->dict) put_next_key(r, l);
    put_nested_value(r, b, f);
    return;
  }
  scan_annotation(r, q, f, &a);
  if (l->dict) put_name(r, a.key);
  args_put_value(r, q, b, &a, f);
}

/* Sets r->json to the text of a dictionary or array, and r->value_types to the types of its values. */
static void build_json(struct perfetto *r, struct sequence *q, const struct annotation *top, const struct pb_field *f) {
  struct builder b = {.n = 0};
  struct pb_field g;
  r->json.len = r->value_types.len = 0;
  r->has_types = false;
  args_put_value(r, q, &b, top, f);
  while (b.n) {
    struct level *l = &b.stack[b.n - 1];
    if (!pb_next(&l->c, &g)) {
      buf_append(&r->json, l->dict ? "}" : "]", 1);
      if (!l->any) put_type(r, VALUE_IMPLIED);
      b.n--;
    } else if (pb_field_key(&g) == PB_KEY(l->member, PB_BYTES)) {
      put_member(r, q, &b, &g);
    }
  }
}

bool perfetto_is_json(struct perfetto *r, const struct pb_field *f) {
  r->json.len = 0;
  return f->value && copy_json(r, f);
}

/* ---- args ---- */

/* Adds an arg from any JSON text. A scalar becomes an arg of its type. */
static void json_arg(struct perfetto *r, tk_id key, const struct pb_field *f) {
  struct tk_trace *t = r->t;
  struct json j = {.last = true, .scratch = {.mem = &t->store->mem}};
  struct json_value v;
  r->json.len = 0;
  if (r->filed && ignores_json(f)) return;
  if (!copy_json(r, f) || !buf_append(&r->json, " \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16)) {
    if (r->filed) return;
    perfetto_note(r, TK_NOTE_REPAIR, "debug annotation with unreadable JSON: kept as text");
    args_str(t, key, TK_ARG_STR, perfetto_field_text(r, f));
    return;
  }
  j.p = r->json.data;
  j.end = j.p + r->json.len - 15;
  if (*j.p == '{' || *j.p == '[') {
    args_str(t, key, TK_ARG_JSON, trace_string(t, j.p, (size_t)(j.end - j.p) - 1));
    return;
  }
  if (!json_value(&j, &v)) return;
  json_take_value(t, &j, key, &v);
  buf_free(&j.scratch);
}

/* Appends the types in a nested annotation to r->types, which becomes the arg ARG_TYPES of the event. */
static void keep_types(struct perfetto *r, tk_id key) {
  struct buf *b = &r->types;
  size_t n;
  const char *name = tk_string(r->t, key, &n);
  if (!r->has_types || r->filed) return;
  buf_append(b, b->len ? "," : "{", 1);
  json_quote(b, name, n);
  buf_append(b, ":\"", 2);
  buf_append(b, r->value_types.data, r->value_types.len);
  buf_append(b, "\"", 1);
}

void perfetto_types_arg(struct perfetto *r) {
  struct tk_trace *t = r->t;
  if (!buf_append(&r->types, "}", 1)) return;
  args_str(t, trace_text(t, ARG_TYPES), TK_ARG_JSON, trace_string(t, r->types.data, r->types.len));
  r->types.len = 0;
}

void perfetto_plain_annotation(struct perfetto *r, struct sequence *q, const struct pb_field *f, struct buf *to) {
  struct buf *b = &r->copy;
  struct annotation a;
  scan_annotation(r, q, f, &a);
  const struct pb_field *v = &a.value;
  bool nested = v->number == ANNOTATION_NESTED || v->number == ANNOTATION_DICT || v->number == ANNOTATION_ARRAY;
  if (nested) build_json(r, q, &a, f);
  b->len = 0;
  pb_bytes(b, ANNOTATION_NAME, trace_str(r->t, a.key)->bytes, trace_str(r->t, a.key)->len);
  if (nested) {
    pb_message(b, ANNOTATION_JSON, &r->json);
  } else if (v->number == ANNOTATION_STRING_IID) {
    const struct intern_str *s = trace_str(r->t, sequence_text(r, q, IID_VALUE, v->value));
    pb_bytes(b, ANNOTATION_STRING, s->bytes, s->len);
  } else if (v->number) {
    if (v->wire == PB_BYTES) pb_bytes(b, v->number, v->p, (size_t)v->value);
    else if (v->wire == PB_FIXED64) pb_fixed64(b, v->number, v->value);
    else pb_u64(b, v->number, v->value);
  }
  pb_message(to, EVENT_DEBUG_ANNOTATIONS, b);
}

tk_id perfetto_nested(struct perfetto *r, struct sequence *q, const uint8_t *p, size_t n) {
  const struct pb_field f = {.number = EVENT_DEBUG_ANNOTATIONS, .wire = PB_BYTES, .value = n, .p = p};
  struct annotation a;
  scan_annotation(r, q, &f, &a);
  build_json(r, q, &a, &f);
  if (r->json.len == 0) return 0;
  keep_types(r, a.key);
  return trace_string(r->t, r->json.data, r->json.len);
}

/* ---- annotations with messages ---- */

static bool has_message(const struct pb_field *f, unsigned level) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  while (level < ANNOTATION_LEVELS && pb_next(&c, &g)) {
    const bool is_nested = g.wire == PB_BYTES && (g.number == ANNOTATION_DICT || g.number == ANNOTATION_ARRAY);
    if (g.number == ANNOTATION_PROTO || (is_nested && has_message(&g, level + 1))) return true;
  }
  return false;
}

/* The search for the tag byte of ANNOTATION_PROTO quickly rules out most annotations. */
bool perfetto_has_message(const uint8_t *p, size_t n) {
  const struct pb_field f = {.number = EVENT_DEBUG_ANNOTATIONS, .wire = PB_BYTES, .value = n, .p = p};
  return memchr(p, PB_KEY(ANNOTATION_PROTO, PB_BYTES), n) && has_message(&f, 0);
}

/* Appends the annotation to `to` as field `number`, with texts in place of iids. The name of a message's type stays interned, because
 * it belongs to the unmodelled interned data. */
static void copy_resolved(struct perfetto *r, struct sequence *q, const struct pb_field *f, uint32_t number, struct buf *to,
                          unsigned level) {
  struct buf b = {.mem = to->mem};
  struct pb c = pb_inside(f);
  struct pb_field g;
  for (const uint8_t *from = c.p; level < ANNOTATION_LEVELS && pb_next(&c, &g); from = c.p) {
    const bool is_name = pb_field_key(&g) == PB_KEY(ANNOTATION_NAME_IID, PB_VARINT);
    const bool is_text = is_name || pb_field_key(&g) == PB_KEY(ANNOTATION_STRING_IID, PB_VARINT);
    const bool is_nested = g.wire == PB_BYTES && (g.number == ANNOTATION_DICT || g.number == ANNOTATION_ARRAY);
    const struct intern_str *text = is_text ? trace_str(r->t, sequence_text(r, q, is_name ? IID_KEY : IID_VALUE, g.value)) : NULL;
    if (text) pb_bytes(&b, is_name ? ANNOTATION_NAME : ANNOTATION_STRING, text->bytes, text->len);
    else if (is_nested) copy_resolved(r, q, &g, g.number, &b, level + 1);
    else buf_append(&b, from, (size_t)(c.p - from));
  }
  pb_message(to, number, &b);
  buf_free(&b);
}

/* Adds an arg from the text in r->json. */
static void add_built(struct perfetto *r, tk_id key) {
  struct tk_trace *t = r->t;
  if (r->json.len == 0) return; /* memory ran out */
  if (*r->json.data == '{' || *r->json.data == '[') {
    args_str(t, key, TK_ARG_JSON, trace_string(t, r->json.data, r->json.len));
    keep_types(r, key);
    return;
  }
  r->text.len = 0;
  buf_append(&r->text, r->json.data, r->json.len);
  json_arg(r, key, &(struct pb_field){.p = r->text.data, .value = r->json.len});
}

void perfetto_annotation(struct perfetto *r, struct sequence *q, const struct pb_field *f) {
  struct tk_trace *t = r->t;
  struct annotation a;
  if (!r->filed && f->wire == PB_BYTES && perfetto_has_message(f->p, (size_t)f->value)) {
    /* args have no messages: the annotation stays a field of the event */
    copy_resolved(r, q, f, EVENT_DEBUG_ANNOTATIONS, &r->fields, 0);
    return;
  }
  scan_annotation(r, q, f, &a);
  const struct pb_field *v = &a.value;
  switch (v->number) {
  case ANNOTATION_BOOL: args_flag(t, a.key, v->value ? TK_ARG_TRUE : TK_ARG_FALSE); return;
  case ANNOTATION_INT: args_int(t, a.key, (int64_t)v->value); return;
  case ANNOTATION_UINT: args_uint(t, a.key, TK_ARG_UINT, v->value); return;
  case ANNOTATION_POINTER: args_uint(t, a.key, TK_ARG_POINTER, v->value); return;
  case ANNOTATION_DOUBLE:
    if (a.number.p) json_arg(r, a.key, &a.number);
    else args_double(t, a.key, pb_as_double(v->value));
    return;
  case ANNOTATION_STRING: args_str(t, a.key, TK_ARG_STR, perfetto_field_text(r, v)); return;
  case ANNOTATION_STRING_IID: args_str(t, a.key, TK_ARG_STR, sequence_text(r, q, IID_VALUE, v->value)); return;
  case ANNOTATION_PROTO: args_str(t, a.key, TK_ARG_BYTES, perfetto_bytes(r, v->p, (size_t)v->value)); return;
  case ANNOTATION_JSON: json_arg(r, a.key, v); return;
  case ANNOTATION_NESTED:
  case ANNOTATION_DICT:
  case ANNOTATION_ARRAY:
    build_json(r, q, &a, f);
    add_built(r, a.key);
    return;
  default: args_flag(t, a.key, TK_ARG_NULL); /* the annotation has no value */
  }
}
