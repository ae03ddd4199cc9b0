/* nested.c - writes a JSON object or array as nested debug annotations.
 *
 * Importers read numbers of annotations exactly, but numbers in legacy_json_value only up to 2^63. A value is written as the type
 * from which it was read, if the reader stored the types (fields.h); otherwise as the type that the JSON text implies. A number
 * that no double represents exactly is also stored as text. An empty object or array stays legacy_json_value, because an
 * annotation with no entries reads as one with no value; so does JSON with a string that contains a zero byte.
 *
 * The nesting is processed on an explicit stack, because the file determines the depth. */
#include "nested.h"

#include <string.h>

#include "format/json.h"
#include "format/pb_out.h"
#include "format/perfetto/fields.h"

enum { VARINT_MOST = 10 };

struct nesting {
  struct nested_writer *x;
  struct json j;
  struct nested_types types;
  bool is_typed;
  struct buf *to;
  uint32_t depth;
  size_t at[ANNOTATION_LEVELS]; /* by open container: offset of its current member's length */
  bool is_dict[ANNOTATION_LEVELS];
};

/* ---- members ---- */

/* Begins a message with room for a length of one byte. */
static void begin_member(struct nesting *n) {
  uint8_t *p = buf_reserve(n->to, 4);
  if (!p) return;
  *p = (uint8_t)PB_KEY(n->is_dict[n->depth] ? ANNOTATION_DICT : ANNOTATION_ARRAY, PB_BYTES);
  n->to->len += 2;
  n->at[n->depth] = n->to->len;
}

static void end_member(struct nesting *n) {
  const size_t at = n->at[n->depth];
  uint8_t length[VARINT_MOST];
  if (n->x->copy.mem->failed || !buf_reserve(n->to, VARINT_MOST)) return;
  const size_t size = n->to->len - at, more = (size_t)(varint_put(length, size) - length) - 1;
  uint8_t *p = n->to->data + at;
  if (more) memmove(p + more, p, size);
  memcpy(p - 1, length, more + 1);
  n->to->len += more;
}

/* True for a name with characters that importers replace because they look like structure. */
static bool is_changed(const uint8_t *name, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (name[i] == '.' || name[i] == '[' || name[i] == ']') return true;
  return false;
}

static bool put_name(struct nesting *n) {
  struct json_string key;
  size_t size;
  if (!n->is_dict[n->depth]) return true;
  if (!json_key(&n->j, &key)) return false;
  const uint8_t *name = json_string_text(&n->j, &key, &size);
  pb_bytes(n->to, ANNOTATION_NAME, name, size);
  return n->is_typed || !is_changed(name, size);
}

/* ---- values ---- */

static char next_type(struct nesting *n) {
  if (n->types.n == 0) return 0;
  n->types.n--;
  return (char)*n->types.p++;
}

/* True if the reader prints a double as this text. */
static bool is_printed(double d, const uint8_t *text, size_t size) {
  char printed[40];
  size_t n = num_put_double(printed, d);
  if (!memchr(printed, '.', n) && !memchr(printed, 'e', n)) memcpy(printed + n, ".0", 2), n += 2;
  return d - d == 0 && n == size && memcmp(printed, text, n) == 0;
}

static void put_double(struct nesting *n, const struct json_value *v) {
  const size_t size = (size_t)(v->end - v->p);
  const double d = num_double((const char *)v->p, size);
  pb_double(n->to, ANNOTATION_DOUBLE, d);
  if (!is_printed(d, v->p, size)) pb_bytes(n->to, ANNOTATION_TRACEKIT, v->p, size);
}

static void put_number(struct nesting *n, const struct json_value *v, char type) {
  const bool is_int = v->num.kind == NUM_INT, is_uint = v->num.kind == NUM_UINT || (is_int && v->num.mant >= 0);
  if (type == VALUE_POINTER && is_uint) pb_u64(n->to, ANNOTATION_POINTER, (uint64_t)v->num.mant);
  else if (is_uint && (type == VALUE_UINT || !is_int)) pb_u64(n->to, ANNOTATION_UINT, (uint64_t)v->num.mant);
  else if (is_int) pb_i64(n->to, ANNOTATION_INT, v->num.mant);
  else put_double(n, v);
}

bool nested_odd_double(const void *text, size_t size, double *d) {
  static const char *const NAMES[] = {"NaN", "Infinity", "-Infinity"};
  static const uint64_t BITS[] = {0x7ff8000000000000, 0x7ff0000000000000, 0xfff0000000000000};
  for (size_t i = 0; i < sizeof BITS / sizeof *BITS; i++) {
    if (size != strlen(NAMES[i]) || memcmp(text, NAMES[i], size) != 0) continue;
    memcpy(d, &BITS[i], sizeof *d);
    return true;
  }
  return false;
}

static bool put_odd_double(struct nesting *n, const uint8_t *text, size_t size) {
  double d;
  if (!nested_odd_double(text, size, &d)) return false;
  pb_double(n->to, ANNOTATION_DOUBLE, d);
  return true;
}

/* Writes a string. Returns false if importers would cut the string short, at a zero byte; in JSON text they show all of it. */
static bool put_string(struct nesting *n, const struct json_value *v, char type) {
  size_t size;
  const uint8_t *text = json_string_text(&n->j, &v->str, &size);
  if (type == VALUE_DOUBLE && put_odd_double(n, text, size)) return true;
  pb_bytes(n->to, ANNOTATION_STRING, text, size);
  return n->is_typed || !memchr(text, 0, size);
}

static bool put_value(struct nesting *n, char type) {
  struct json_value v;
  if (!json_value(&n->j, &v)) return false;
  if (type == VALUE_JSON || v.type == JSON_ARRAY || v.type == JSON_OBJECT) {
    pb_bytes(n->to, ANNOTATION_JSON, v.p, (size_t)(v.end - v.p));
    return true;
  }
  switch (v.type) {
  case JSON_TRUE:
  case JSON_FALSE: pb_u64(n->to, ANNOTATION_BOOL, v.type == JSON_TRUE); break;
  case JSON_NUMBER: put_number(n, &v, type); break;
  case JSON_STRING: return put_string(n, &v, type);
  default: break; /* null: an annotation without a value */
  }
  return true;
}

/* ---- containers ---- */

static bool is_open(const struct nesting *n) {
  const uint8_t *p = n->j.p;
  return (*p == '{' && p[1] != '}') || (*p == '[' && p[1] != ']');
}

static bool open_container(struct nesting *n, uint32_t depth) {
  if (depth == ANNOTATION_LEVELS) return false;
  n->depth = depth;
  n->is_dict[depth] = *n->j.p++ == '{';
  n->j.member = false; /* after a comma in an array, the JSON parser must not expect a key */
  return true;
}

/* Closes containers up to the next member. Returns true if there is no next one. */
static bool close_containers(struct nesting *n) {
  for (;; n->depth--) {
    end_member(n);
    if (*n->j.p++ == ',') return false;
    if (n->depth == 0) return true;
  }
}

static bool put_members(struct nesting *n) {
  bool is_done = false;
  while (!is_done) {
    begin_member(n);
    if (!put_name(n)) return false;
    const bool is_json = n->types.n && *n->types.p == VALUE_JSON;
    if (is_open(n) && !is_json) {
      if (!open_container(n, n->depth + 1)) return false;
      continue;
    }
    if (!put_value(n, next_type(n))) return false;
    is_done = close_containers(n);
  }
  return n->j.p == n->j.end;
}

static bool append_anew(struct nested_writer *x, struct buf *b, const struct intern_str *text, struct nested_types types) {
  static const char pad[16];
  const size_t had = b->len;
  struct nesting n = {.x = x, .types = types, .is_typed = types.n != 0, .to = b};
  x->copy.mem = x->scratch.mem = b->mem;
  x->copy.len = 0;
  if (!buf_append(&x->copy, text->bytes, text->len) || !buf_append(&x->copy, pad, sizeof pad)) return false;
  n.j = (struct json){.p = x->copy.data, .end = x->copy.data + text->len, .last = true, .scratch = x->scratch};
  const bool ok = is_open(&n) && open_container(&n, 0) && put_members(&n);
  x->scratch = n.j.scratch;
  if (!ok) b->len = had;
  return ok;
}

/* ---- results that are used again ---- */

/* KNOWN_MOST: size at which all results are dropped. */
enum { KNOWN_MOST = 64 << 10 };

/* Keeps the last n bytes of `b`. */
static void keep_result(struct nested_writer *x, struct nested_result *r, tk_id id, bool ok, const struct buf *b, size_t n) {
  if (n > KNOWN_MOST / 8) return;
  if (x->known.len + n > KNOWN_MOST) {
    memset(x->results, 0, sizeof x->results);
    x->known.len = 0;
  }
  x->known.mem = b->mem;
  const size_t at = x->known.len;
  if (!buf_append(&x->known, b->data + b->len - n, n)) return;
  *r = (struct nested_result){.text = id, .ok = ok, .at = (uint32_t)at, .n = (uint32_t)n};
}

bool nested_append(struct nested_writer *x, struct buf *b, tk_id id, const struct intern_str *text, struct nested_types types) {
  struct nested_result *r = &x->results[id % NESTED_RESULTS];
  const size_t had = b->len;
  if (types.n) return append_anew(x, b, text, types);
  if (r->text == id) return r->ok && buf_append(b, x->known.data + r->at, r->n);
  const bool ok = append_anew(x, b, text, types);
  if (!b->mem->failed) keep_result(x, r, id, ok, b, b->len - had);
  return ok;
}

void nested_free(struct nested_writer *x) {
  buf_free(&x->copy);
  buf_free(&x->scratch);
  buf_free(&x->known);
  memset(x->results, 0, sizeof x->results);
}
