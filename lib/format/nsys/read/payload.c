/* payload.c - reads binary payloads of NVTX by their schemas (schemas.h).
 *
 *     binaryData    0: domain    8: schema    16: size of the payload    24: offset of its start or end    32: payload
 *
 * All are little-endian numbers of 64 bits. A payload becomes an arg for each entry, "a.b" for entry b of a nested schema, "a[0].b" in
 * an array of structures, and a JSON array for each array of numbers. Another entry of the same structure selects the member of a
 * union. Pointers, and unions that contain their selector, are not read.
 *
 * Nothing in the file is trusted: offsets are compared with the size of the payload, and the numbers of entries, of nested schemas
 * and of elements are limited. */
#include "payload.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"
#include "graph/args.h"
#include "schemas.h"

enum { HEADER = 32, ARGS_MOST = 256, ELEMENTS_MOST = 256, DIMENSIONS_MOST = 8 };

struct payload_reader {
  struct nsys *r;
  const uint8_t *p;
  uint64_t n;
  int64_t domain;
  const char *domain_name;
  uint32_t n_args;
  bool whole; /* everything was read */
};

/* ---- values ---- */

static uint64_t unsigned_at(const uint8_t *p, uint32_t size) {
  uint64_t v = 0;
  for (uint32_t i = 0; i < size; i++) v |= (uint64_t)p[i] << 8 * i;
  return v;
}

static int64_t signed_at(const uint8_t *p, uint32_t size) {
  const unsigned shift = 64 - 8 * size;
  return (int64_t)(unsigned_at(p, size) << shift) >> shift;
}

/* Converts an IEEE number of 16 bits: a sign, 5 bits of exponent, 10 bits of fraction. */
static double half_at(const uint8_t *p) {
  const uint64_t v = unsigned_at(p, 2), exponent = v >> 10 & 31, fraction = v & 1023;
  const double sign = v >> 15 ? -1 : 1;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  return sign * (exponent ? ldexp((double)(fraction + 1024), (int)exponent - 25) : ldexp((double)fraction, -24));
}

static double double_at(const struct layout *l, const uint8_t *p) {
  uint8_t bytes[4] = {0, 0, p[0], p[1]}; /* a bfloat16 is the upper half of a float */
  const bool is_double = l->size == sizeof(double);
  double d = 0;
  float f = 0;
  if (l->reading == HALF) return half_at(p);
  memcpy(&d, p, is_double ? sizeof d : 0);
  memcpy(&f, l->reading == BRAIN ? bytes : p, sizeof f);
  return is_double ? d : (double)f;
}

static bool is_real(const struct layout *l) { return l->reading == FLOATING || l->reading == HALF || l->reading == BRAIN; }
static bool is_integer(const struct layout *l) { return l->reading == SIGNED || l->reading == UNSIGNED; }

/* Returns the name of a value, or the names of the flags in it; 0 if a name is missing. */
static tk_id name_of_value(struct nsys *r, const struct layout *l, uint64_t value) {
  if (l->known) return value < 5 ? trace_text(r->d.t, l->known->values[value]) : 0;
  tk_id name = schemas_value(&r->payloads, l->enumeration, value);
  if (name || !value) return name;
  r->text.len = 0;
  for (uint64_t left = value; left; left &= left - 1) {
    name = schemas_value(&r->payloads, l->enumeration, left & (0 - left));
    if (!name) return 0;
    if (r->text.len) buf_text(&r->text, "|");
    buf_text(&r->text, tk_string(r->d.t, name, NULL));
  }
  return trace_string(r->d.t, r->text.data, r->text.len);
}

/* Appends the character of UTF-8, UTF-16 or UTF-32 at p, where n bytes are available. Returns its size; one byte of UTF-8. */
static size_t put_character(struct buf *b, const struct layout *l, const uint8_t *p, uint64_t n) {
  uint8_t utf8[4];
  size_t used = l->size;
  uint32_t c = (uint32_t)unsigned_at(p, l->size);
  if (l->size == 1) {
    buf_append(b, p, 1);
    return 1;
  }
  if (l->size == 2) c = utf8_from_16(p, (size_t)n, false, &used);
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
  buf_append(b, utf8, utf8_put(utf8, c));
  return used;
}

static void add_character(struct nsys *r, tk_id key, const struct layout *l, const uint8_t *p) {
  r->text.len = 0;
  put_character(&r->text, l, p, l->size);
  args_str(r->d.t, key, TK_ARG_STR, database_string(&r->d, r->text.data, r->text.len));
}

/* Adds a text of at most n characters, which ends before the first zero. */
static void add_string(struct nsys *r, tk_id key, const struct layout *l, const uint8_t *p, uint64_t n) {
  const uint64_t size = n * l->size;
  r->text.len = 0;
  for (uint64_t i = 0; i < size && unsigned_at(p + i, l->size);) i += put_character(&r->text, l, p + i, size - i);
  args_str(r->d.t, key, TK_ARG_STR, r->text.len ? database_string(&r->d, r->text.data, r->text.len) : trace_text(r->d.t, ""));
}

static void add_value(struct payload_reader *x, tk_id key, const struct layout *l, const uint8_t *p) {
  struct tk_trace *t = x->r->d.t;
  const uint64_t value = unsigned_at(p, l->size < 8 ? l->size : 8);
  const tk_id name = l->enumeration || l->known ? name_of_value(x->r, l, value) : 0;
  if (name) args_str(t, key, TK_ARG_STR, name);
  else if (l->reading == SIGNED) args_int(t, key, signed_at(p, l->size));
  else if (is_real(l)) args_double(t, key, double_at(l, p));
  else if (l->reading == HEX) args_uint(t, key, TK_ARG_POINTER, value);
  else if (l->reading == CHARACTER) add_character(x->r, key, l, p);
  else if (value <= INT64_MAX) args_int(t, key, (int64_t)value);
  else args_uint(t, key, TK_ARG_UINT, value);
}

/* ---- arrays ---- */

/* Number of elements of an entry. */
struct extent {
  uint64_t stored, shown;         /* in the payload; without the terminating zero */
  uint64_t lengths[DIMENSIONS_MOST]; /* by dimension; a row of the last one is contiguous */
  unsigned n;                     /* number of dimensions */
};

static struct extent extent_of(uint64_t stored, uint64_t shown) {
  return (struct extent){.stored = stored, .shown = shown, .lengths = {shown}, .n = 1};
}

static void put_element(struct buf *b, const struct layout *l, const uint8_t *p) {
  char text[40];
  size_t n;
  if (l->reading == SIGNED) n = num_put_i64(text, signed_at(p, l->size));
  else if (is_real(l)) n = num_put_double(text, double_at(l, p));
  else n = num_put_u64(text, unsigned_at(p, l->size));
  if (is_real(l) && (text[n - 1] == 'n' || text[n - 1] == 'f')) n = (size_t)(stpcpy(text, "null") - text);
  buf_append(b, text, n);
}

/* Opens or closes the rows that begin or end at an element. */
static void put_rows(struct buf *b, const struct extent *c, uint64_t at, const char *bracket) {
  uint64_t row = 1;
  for (unsigned k = c->n; k-- > 1;) {
    row *= c->lengths[k];
    if (at % row == 0) buf_text(b, bracket);
  }
}

/* Adds an array of numbers as JSON, or an array of characters as text. */
static void add_array(struct payload_reader *x, tk_id key, const struct layout *l, const uint8_t *p, const struct extent *c) {
  struct nsys *r = x->r;
  if (l->reading == STRING || l->reading == CHARACTER) {
    add_string(r, key, l, p, c->shown);
    return;
  }
  if (c->shown > ELEMENTS_MOST) {
    x->whole = false;
    return;
  }
  r->text.len = 0;
  buf_text(&r->text, "[");
  for (uint64_t i = 0; i < c->shown; i++) {
    if (i) buf_text(&r->text, ",");
    put_rows(&r->text, c, i, "[");
    put_element(&r->text, l, p + i * l->size);
    put_rows(&r->text, c, i + 1, "]");
  }
  buf_text(&r->text, "]");
  args_str(r->d.t, key, TK_ARG_JSON, trace_string(r->d.t, r->text.data, r->text.len));
}

/* ---- keys ---- */

/* Appends "[number]" to the text of `r`. */
static void put_index(struct nsys *r, uint64_t number) {
  char digits[32] = "[";
  const size_t n = 1 + num_put_u64(digits + 1, number);
  digits[n] = ']';
  buf_append(&r->text, digits, n + 1);
}

/* Returns the key "outer.name" of an entry, or a number in place of a name that is missing or taken. */
static tk_id key_of(struct payload_reader *x, tk_id outer, const struct payload_entry *e, uint32_t number) {
  struct nsys *r = x->r;
  r->text.len = 0;
  if (outer) buf_text(&r->text, tk_string(r->d.t, outer, NULL)), buf_text(&r->text, ".");
  buf_text(&r->text, tk_string(r->d.t, e->name, NULL));
  const bool is_named = *tk_string(r->d.t, e->name, NULL) != 0;
  tk_id key = is_named ? trace_string(r->d.t, r->text.data, r->text.len) : 0;
  if (key && !args_hold(r->d.t, key)) return key;
  if (!r->text.len) buf_text(&r->text, "payload");
  put_index(r, number);
  key = trace_string(r->d.t, r->text.data, r->text.len);
  return args_hold(r->d.t, key) ? 0 : key;
}

/* Returns the key "outer[number]" of an element. */
static tk_id key_of_element(struct nsys *r, tk_id outer, uint64_t number) {
  r->text.len = 0;
  buf_text(&r->text, tk_string(r->d.t, outer, NULL));
  put_index(r, number);
  return trace_string(r->d.t, r->text.data, r->text.len);
}

/* ---- structures ---- */

/* Integers that an entry contains: lengths of arrays and selectors of unions refer to them. */
struct integers {
  uint64_t at, n; /* offset in the payload, number; n = 0: the entry contains none */
  uint32_t size;
  bool is_scalar;
};

/* State while the entries of a schema are read. */
struct structure {
  const struct payload_schema *schema;
  const struct payload_entry *entries;
  uint64_t base, at; /* offsets in the payload: of the structure, and of the next entry relative to it */
  struct integers integers[SCHEMAS_ENTRIES_MOST];
  bool is_known; /* `at` is known */
  tk_id key;
  unsigned depth;
};

/* A place for a structure in the payload. */
struct place {
  uint64_t at;
  tk_id key;
  unsigned depth;
};

static bool read_structure(struct payload_reader *x, const struct payload_schema *schema, const struct place *to, uint64_t *end);
static bool read_entry(struct payload_reader *x, struct structure *s, uint32_t i);

static const struct integers *integers_of(const struct structure *s, int64_t index) {
  return index >= 0 && index < SCHEMAS_ENTRIES_MOST && s->integers[index].n ? &s->integers[index] : NULL;
}

/* Finds the number of elements of an array whose lengths are in another entry: one for each dimension. */
static bool count_by_index(const struct payload_reader *x, const struct structure *s, const struct payload_entry *e, struct extent *c) {
  const struct integers *v = integers_of(s, e->detail);
  if (!v || v->n > DIMENSIONS_MOST) return false;
  *c = (struct extent){.shown = 1, .n = (unsigned)v->n};
  for (unsigned i = 0; i < c->n; i++) {
    c->lengths[i] = unsigned_at(x->p + v->at + (uint64_t)i * v->size, v->size);
    if (c->lengths[i] > x->n) return false;
    c->shown *= c->lengths[i];
    if (c->shown > x->n) return false;
  }
  c->stored = c->shown;
  return true;
}

/* Counts the elements before the first that is zero, or before the end of the payload. */
static void count_to_zero(const struct payload_reader *x, const struct layout *l, uint64_t at, struct extent *c) {
  const uint64_t room = at < x->n ? (x->n - at) / l->size : 0;
  uint64_t n = 0;
  while (n < room && unsigned_at(x->p + at + n * l->size, l->size)) n++;
  *c = extent_of(n + (n < room), n);
}

/* Finds the number of elements of an entry. Returns false if it is unknown. */
static bool count_of(const struct payload_reader *x, const struct structure *s, const struct payload_entry *e, const struct layout *l,
                     uint64_t at, struct extent *c) {
  const uint64_t array = e->flags & ENTRY_ARRAY;
  *c = extent_of(1, 1);
  if (l->is_pointer || (!array && !l->is_string)) return true;
  if (e->detail < 0) return false;
  if (array == ENTRY_FIXED || !array) *c = extent_of((uint64_t)e->detail, (uint64_t)e->detail);
  else if (array == ENTRY_BY_INDEX) return count_by_index(x, s, e, c);
  else if (array == ENTRY_ZERO_TERMINATED && l->size && l->size <= 8 && !l->nested && !e->detail) count_to_zero(x, l, at, c);
  else return false;
  return c->stored <= x->n;
}

/* Finds the offset of an entry in the payload. An entry without a stated offset follows the one before it; the members of a union
 * have the same offset. */
static bool locate_entry(const struct payload_reader *x, const struct structure *s, uint32_t i, const struct layout *l,
                         uint64_t *at) {
  const int64_t offset = s->entries[i].offset;
  const bool is_stated = offset > 0 || i == 0 || s->schema->kind == SCHEMA_UNION;
  if (offset < 0 || (!is_stated && (!s->is_known || !l->align))) return false;
  *at = is_stated ? (uint64_t)offset : schemas_align(s->schema, l->align, s->at);
  if (*at > x->n || x->n - *at < s->base) return false;
  *at += s->base;
  return true;
}

/* Reads the member of a union that an entry of the same structure selects by its index. */
static bool read_union(struct payload_reader *x, const struct structure *s, const struct payload_entry *e, const struct layout *l,
                       const struct place *to, uint64_t *end) {
  const struct integers *v = e->flags & ENTRY_ARRAY ? NULL : integers_of(s, e->detail);
  const uint64_t index = v && v->is_scalar ? unsigned_at(x->p + v->at, v->size) : UINT64_MAX;
  struct structure u = {.schema = l->nested, .entries = schemas_entries(&x->r->payloads, l->nested), .base = to->at, .key = to->key,
                        .depth = to->depth};
  *end = to->at + l->size;
  if (index >= l->nested->n || l->nested->unreadable) x->whole = false;
  else read_entry(x, &u, (uint32_t)index);
  return l->size != 0;
}

/* Reads an array of structures. Returns false if its end is unknown. */
static bool read_elements(struct payload_reader *x, const struct structure *s, const struct payload_entry *e, const struct layout *l,
                          const struct place *to, uint64_t *end) {
  struct extent c;
  *end = to->at;
  if (!count_of(x, s, e, l, to->at, &c)) return x->whole = false;
  for (uint64_t i = 0; i < c.shown; i++) {
    const struct place element = {l->align ? schemas_align(l->nested, l->align, *end - to->at) + to->at : *end,
                                  key_of_element(x->r, to->key, i), to->depth};
    if (++x->n_args > ARGS_MOST || element.at > x->n) return x->whole = false;
    if (!read_structure(x, l->nested, &element, end)) return x->whole = false;
  }
  return true;
}

/* Reads an entry that is a structure, a union or an array of structures. Returns false if the end of the entry is unknown. */
static bool read_nested(struct payload_reader *x, struct structure *s, uint32_t i, const struct layout *l, uint64_t at) {
  const struct payload_entry *e = &s->entries[i];
  const struct place to = {at, key_of(x, s->key, e, i), s->depth + 1};
  uint64_t end = at;
  bool is_known;
  if (!to.key || s->depth >= SCHEMAS_NESTED_MOST) return x->whole = false;
  if (l->nested->kind == SCHEMA_UNION) is_known = read_union(x, s, e, l, &to, &end);
  else if (e->flags & ENTRY_ARRAY) is_known = read_elements(x, s, e, l, &to, &end);
  else is_known = read_structure(x, l->nested, &to, &end);
  s->at = end - s->base;
  return is_known;
}

/* Reads an entry. Returns false if the offset of the next entry is unknown. */
static bool read_entry(struct payload_reader *x, struct structure *s, uint32_t i) {
  const struct payload_entry *e = &s->entries[i];
  struct layout l;
  struct extent c;
  uint64_t at;
  if (!schemas_layout(x->r, x->domain_name, e, &l) || !locate_entry(x, s, i, &l, &at) || ++x->n_args > ARGS_MOST)
    return x->whole = false;
  if (l.nested) return read_nested(x, s, i, &l, at);
  if (!count_of(x, s, e, &l, at, &c) || (x->n - at) / l.size < c.stored) return x->whole = false;
  s->at = at + c.stored * l.size - s->base;
  if (l.reading == UNREAD) {
    x->whole = false;
    return true;
  }
  const bool is_array = (e->flags & ENTRY_ARRAY) || l.reading == STRING;
  if (is_integer(&l)) s->integers[i] = (struct integers){at, c.shown, l.size, !is_array};
  const tk_id key = key_of(x, s->key, e, i);
  if (!key) x->whole = false;
  else if (is_array) add_array(x, key, &l, x->p + at, &c);
  else add_value(x, key, &l, x->p + at);
  return true;
}

/* Reads the entries of a schema at a place. Returns false if the end of the structure is unknown. */
static bool read_structure(struct payload_reader *x, const struct payload_schema *schema, const struct place *to, uint64_t *end) {
  struct structure s = {.schema = schema, .entries = schemas_entries(&x->r->payloads, schema), .base = to->at, .key = to->key,
                        .depth = to->depth};
  const bool is_readable = !schema->unreadable && schema->kind != SCHEMA_UNION;
  if (!is_readable) x->whole = false;
  for (uint32_t i = 0; i < schema->n && is_readable; i++) s.is_known = read_entry(x, &s, i);
  *end = to->at + (schema->size ? schema->size : s.at);
  return schema->size || (schema->kind == SCHEMA_DYNAMIC && s.is_known);
}

/* ---- entry points ---- */

/* Reads a payload that has a type instead of a schema. */
static void read_plain(struct payload_reader *x, int64_t type) {
  const struct payload_entry e = {.domain = x->domain, .type = type, .flags = ENTRY_FIXED};
  struct layout l;
  if (type <= 0 || !schemas_layout(x->r, x->domain_name, &e, &l) || l.reading == UNREAD || !l.size || l.nested || x->n % l.size) {
    x->whole = false;
    return;
  }
  const struct extent c = extent_of(x->n / l.size, x->n / l.size);
  const tk_id key = key_of(x, 0, &e, 0);
  if (key && (x->n != l.size || l.reading == STRING)) add_array(x, key, &l, x->p, &c);
  else if (key) add_value(x, key, &l, x->p);
}

bool payload_args(struct nsys *r, const struct cell *data, const char *domain) {
  if (data->n < HEADER || (data->type != CELL_BLOB && data->type != CELL_TEXT)) return false;
  const int64_t id = (int64_t)unsigned_at(data->p, 8), schema = (int64_t)unsigned_at(data->p + 8, 8);
  const uint64_t size = unsigned_at(data->p + 16, 8), place = unsigned_at(data->p + 24, 8);
  if (size > data->n - HEADER || (place != HEADER && place != HEADER + size)) return false;
  struct payload_reader x = {.r = r, .p = data->p + HEADER, .n = size, .domain = id, .domain_name = domain, .whole = true};
  const struct payload_schema *s = schemas_find(&r->payloads, id, schema);
  uint64_t end;
  if (s) read_structure(&x, s, &(struct place){.depth = 0}, &end);
  else read_plain(&x, schema);
  return x.whole;
}
