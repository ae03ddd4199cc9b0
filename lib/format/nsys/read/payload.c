/* payload.c - reads binary payloads of NVTX by their schemas (NVTX_PAYLOAD_SCHEMAS, _SCHEMA_ENTRIES, _ENUMS, _ENUM_ENTRIES).
 *
 *     binaryData    0: domain    8: schema    16: size of the payload    24: offset of its start or end    32: payload
 *
 * All are little-endian numbers of 64 bits. A payload has the layout of a C structure: types, alignment and flags are those of
 * NVTX's payload extension, sizes those of LP64. A payload becomes an arg for each entry, "a.b" for entry b of a nested schema, and
 * a JSON array for each array of numbers. Unions, pointers and arrays of structures are not read.
 *
 * Nothing in the file is trusted: offsets are compared with the size of the payload, and the numbers of entries, of nested schemas
 * and of elements are limited. */
#include "payload.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/num.h"
#include "graph/args.h"
#include "texts.h"

enum { HEADER = 32, ENTRIES_MOST = 128, ARGS_MOST = 256, NESTED_MOST = 8, ELEMENTS_MOST = 256 };

struct payload_entry {
  int64_t domain, schema, idx, type, detail, offset;
  uint64_t flags;
  tk_id name;
};

/* A schema: the entries first to first + n - 1. */
struct payload_schema {
  uint32_t first, n;
  uint32_t align;   /* alignment of packed structures; 0 = the natural alignment */
  uint32_t size;    /* 0 = unknown */
  bool unreadable;  /* the schema is a union, or processes disagree on its entries */
};

void payload_init(struct payloads *x, struct mem *mem) {
  *x = (struct payloads){.entries.mem = mem, .schemas.mem = mem};
  map_init(&x->index, mem);
  map_init(&x->enums, mem);
  map_init(&x->names, mem);
}

void payload_free(struct payloads *x) {
  buf_free(&x->entries);
  buf_free(&x->schemas);
  map_free(&x->index);
  map_free(&x->enums);
  map_free(&x->names);
}

/* ---- schemas ---- */

static uint64_t schema_key(int64_t domain, int64_t schema) { return hash_pair((uint64_t)domain, (uint64_t)schema); }
static uint64_t value_key(uint64_t enumeration, uint64_t value) { return hash_pair(enumeration, value); }

enum entry_column { E_DOMAIN, E_SCHEMA, E_IDX, E_FLAGS, E_TYPE, E_NAME, E_DETAIL, E_OFFSET };

static int64_t integer_in(const struct sqlite_scan *row, int column) { return row->v[column].type == CELL_INT ? row->v[column].i : 0; }

static void take_entry(const struct sqlite_scan *row, void *arg) {
  struct nsys *r = arg;
  const struct payload_entry e = {
    .domain = integer_in(row, E_DOMAIN), .schema = integer_in(row, E_SCHEMA), .idx = integer_in(row, E_IDX),
    .flags = (uint64_t)integer_in(row, E_FLAGS), .type = integer_in(row, E_TYPE), .detail = integer_in(row, E_DETAIL),
    .offset = integer_in(row, E_OFFSET), .name = row->v[E_NAME].type == CELL_TEXT ? texts_of(r, &row->v[E_NAME]) : 0};
  buf_append(&r->payloads.entries, &e, sizeof e);
}

static int by_schema_and_index(const void *pa, const void *pb) {
  const struct payload_entry *a = pa, *b = pb;
  if (a->domain != b->domain) return a->domain < b->domain ? -1 : 1;
  if (a->schema != b->schema) return a->schema < b->schema ? -1 : 1;
  return (a->idx > b->idx) - (a->idx < b->idx);
}

static bool is_same(const struct payload_entry *a, const struct payload_entry *b) {
  return a->flags == b->flags && a->type == b->type && a->detail == b->detail && a->offset == b->offset && a->name == b->name;
}

/* Adds the schema that begins at v[0]. Each process registers its schemas, so entries are repeated; equal entries are stored
 * once. Returns the number of entries in v that belong to the schema. */
static size_t add_schema(struct payloads *x, struct payload_entry *v, size_t n, size_t *kept) {
  struct payload_schema s = {.first = (uint32_t)*kept};
  struct payload_entry *all = (struct payload_entry *)(void *)x->entries.data;
  size_t i = 0;
  const struct payload_entry first = v[0];
  for (; i < n && v[i].domain == first.domain && v[i].schema == first.schema; i++) {
    const struct payload_entry e = v[i], *last = s.n ? &all[*kept - 1] : NULL;
    if (last && last->idx == e.idx) {
      s.unreadable = s.unreadable || !is_same(last, &e);
      continue;
    }
    all[(*kept)++] = e;
    s.n++;
  }
  s.unreadable = s.unreadable || s.n > ENTRIES_MOST;
  if (buf_append(&x->schemas, &s, sizeof s)) map_put(&x->index, schema_key(first.domain, first.schema), x->index.n + 1);
  return i;
}

static void add_schemas(struct payloads *x) {
  struct payload_entry *v = (struct payload_entry *)(void *)x->entries.data;
  const size_t n = x->entries.len / sizeof *v;
  size_t kept = 0;
  if (n > UINT32_MAX) return;
  if (n) qsort(v, n, sizeof *v, by_schema_and_index);
  for (size_t i = 0; i < n;) i += add_schema(x, v + i, n - i, &kept);
}

static struct payload_schema *schema_of(const struct payloads *x, int64_t domain, int64_t schema) {
  const uint32_t *known = map_get(&x->index, schema_key(domain, schema));
  return known ? (struct payload_schema *)(void *)x->schemas.data + *known - 1 : NULL;
}

enum schema_column { S_DOMAIN, S_SCHEMA, S_TYPE, S_ALIGN, S_SIZE };

static void take_schema(const struct sqlite_scan *row, void *arg) {
  struct nsys *r = arg;
  enum { STATIC = 1, DYNAMIC = 2 };
  struct payload_schema *s = schema_of(&r->payloads, integer_in(row, S_DOMAIN), integer_in(row, S_SCHEMA));
  const int64_t type = integer_in(row, S_TYPE), align = integer_in(row, S_ALIGN);
  if (!s) return;
  if (type != STATIC && type != DYNAMIC) s->unreadable = true;
  if (align > 0 && align <= 16) s->align = (uint32_t)align;
  if (integer_in(row, S_SIZE) > 0 && integer_in(row, S_SIZE) <= UINT32_MAX) s->size = (uint32_t)integer_in(row, S_SIZE);
}

enum enum_column { N_DOMAIN, N_SCHEMA, N_SIZE, N_NAME = N_SIZE, N_VALUE };

static void take_enum(const struct sqlite_scan *row, void *arg) {
  struct nsys *r = arg;
  const int64_t size = integer_in(row, N_SIZE);
  const bool is_size = size == 1 || size == 2 || size == 4 || size == 8;
  map_put(&r->payloads.enums, schema_key(integer_in(row, N_DOMAIN), integer_in(row, N_SCHEMA)), is_size ? (uint32_t)size : 4);
}

static void take_value(const struct sqlite_scan *row, void *arg) {
  struct nsys *r = arg;
  const uint64_t key = schema_key(integer_in(row, N_DOMAIN), integer_in(row, N_SCHEMA));
  if (row->v[N_NAME].type != CELL_TEXT) return;
  map_put(&r->payloads.enums, key, 4);
  map_put(&r->payloads.names, value_key(key, (uint64_t)integer_in(row, N_VALUE)), texts_of(r, &row->v[N_NAME]));
}

bool payload_read_schemas(struct nsys *r) {
  static const char *const ENTRY[] = {"domainId", "schemaId", "idx", "flags", "type", "name", "arrayOrUnionDetail", "offset", NULL};
  static const char *const SCHEMA[] = {"domainId", "schemaId", "type", "alignTo", "payloadSize", NULL};
  static const char *const ENUM[] = {"domainId", "schemaId", "size", NULL};
  static const char *const VALUE[] = {"domainId", "schemaId", "name", "value", NULL};
  if (!database_each(&r->d, "NVTX_PAYLOAD_SCHEMA_ENTRIES", ENTRY, take_entry, r)) return false;
  add_schemas(&r->payloads);
  return database_each(&r->d, "NVTX_PAYLOAD_SCHEMAS", SCHEMA, take_schema, r) &&
    database_each(&r->d, "NVTX_PAYLOAD_ENUMS", ENUM, take_enum, r) &&
    database_each(&r->d, "NVTX_PAYLOAD_ENUM_ENTRIES", VALUE, take_value, r);
}

/* ---- types ---- */

enum reading { UNREAD, SIGNED, UNSIGNED, FLOATING, HEX, CHARACTER, TEXT };

/* Values of NVTX_PAYLOAD_ENTRY_TYPE_*. Types that are not read (UNREAD) are listed because the offsets of later entries
 * depend on their sizes. */
static const struct type_row {
  uint8_t type, size, align;
  uint8_t reading;
} TYPES[] = {
    {1, 1, 1, CHARACTER}, {2, 1, 1, UNSIGNED}, {3, 2, 2, SIGNED}, {4, 2, 2, UNSIGNED}, {5, 4, 4, SIGNED}, {6, 4, 4, UNSIGNED},
    {7, 8, 8, SIGNED}, {8, 8, 8, UNSIGNED}, {9, 8, 8, SIGNED}, {10, 8, 8, UNSIGNED}, /* char to unsigned long long */
    {11, 1, 1, SIGNED}, {12, 1, 1, UNSIGNED}, {13, 2, 2, SIGNED}, {14, 2, 2, UNSIGNED}, {15, 4, 4, SIGNED}, {16, 4, 4, UNSIGNED},
    {17, 8, 8, SIGNED}, {18, 8, 8, UNSIGNED}, /* int8_t to uint64_t */
    {19, 4, 4, FLOATING}, {20, 8, 8, FLOATING}, {21, 16, 16, UNREAD}, /* float, double, long double */
    {22, 8, 8, UNSIGNED}, {23, 8, 8, HEX}, /* size_t, void * */
    {24, 4, 4, UNREAD}, {25, 1, 1, CHARACTER}, {26, 2, 2, UNREAD}, {27, 4, 4, UNREAD}, /* wchar_t, char8_t to char32_t */
    {32, 1, 1, UNSIGNED}, {33, 16, 16, UNREAD}, {34, 16, 16, UNREAD}, /* byte, 128-bit integers */
    {42, 2, 2, UNREAD}, {43, 4, 4, FLOATING}, {44, 8, 8, FLOATING}, {45, 16, 16, UNREAD}, {50, 2, 2, UNREAD}, {52, 4, 4, UNREAD},
    {68, 4, 4, UNSIGNED}, {69, 4, 4, UNSIGNED}, {70, 8, 8, UNSIGNED}, /* category, color, scope */
    {71, 4, 4, UNSIGNED}, {72, 8, 8, UNSIGNED}, {73, 4, 4, UNSIGNED}, {74, 8, 8, UNSIGNED}, /* pid and tid */
    {75, 1, 1, TEXT}, {76, 1, 1, TEXT}, {77, 2, 2, UNREAD}, {78, 4, 4, UNREAD}, /* strings of char, UTF-8, UTF-16, UTF-32 */
    {80, 8, 8, UNREAD}, /* handle of a registered string */
};

/* Enumerations that a producer registers, but that exports up to 2026.2 do not contain. NCCL: src/init_nvtx.cc. */
static const struct known_enum {
  const char *domain, *entry;
  const char *values[5];
} KNOWN_ENUMS[] = {{"NCCL", "Reduction operation", {"Sum", "Product", "Max", "Min", "Avg"}}};

/* Storage of an entry in the payload. */
struct layout {
  uint32_t size, align;
  enum reading reading;
  uint64_t enumeration;                /* key; 0 = none */
  const struct known_enum *known;      /* NULL = none */
  const struct payload_schema *nested; /* NULL = none */
};

/* ---- reading ---- */

struct payload_reader {
  struct nsys *r;
  const uint8_t *p;
  uint64_t n;
  int64_t domain;
  const char *domain_name;
  uint32_t n_args;
  bool whole; /* everything was read */
};

/* Flags of an entry (NVTX_PAYLOAD_ENTRY_FLAG_*). */
enum { POINTER = 1 << 1, FROM_BASE = 1 << 2, FROM_HERE = 1 << 3, ARRAY = 7 << 4, DEEP_COPY = 1 << 8 };
enum array { SCALAR = 0, FIXED = 1 << 4, ZERO_TERMINATED = 2 << 4, BY_INDEX = 3 << 4 };

static bool find_known(const struct payload_reader *x, const struct payload_entry *e, struct layout *l) {
  const char *name = tk_string(x->r->d.t, e->name, NULL);
  for (size_t i = 0; i < sizeof KNOWN_ENUMS / sizeof *KNOWN_ENUMS; i++) {
    if (strcmp(KNOWN_ENUMS[i].domain, x->domain_name) != 0 || strcmp(KNOWN_ENUMS[i].entry, name) != 0) continue;
    *l = (struct layout){.size = 4, .align = 4, .reading = UNSIGNED, .known = &KNOWN_ENUMS[i]};
    return true;
  }
  return false;
}

/* Finds how an entry is stored. Returns false if its size is unknown; the offsets of later entries are then unknown, too,
 * unless the schema states them. */
static bool layout_of(const struct payload_reader *x, const struct payload_entry *e, struct layout *l) {
  const struct payloads *all = &x->r->payloads;
  *l = (struct layout){.size = 8, .align = 8, .reading = UNREAD};
  const bool is_text = e->type >= 75 && e->type <= 78;
  if (e->flags & (POINTER | FROM_BASE | FROM_HERE | DEEP_COPY) || (is_text && !(e->flags & ARRAY) && !e->detail)) return true;
  for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
    if (TYPES[i].type != e->type) continue;
    *l = (struct layout){.size = TYPES[i].size, .align = TYPES[i].align, .reading = (enum reading)TYPES[i].reading};
    return true;
  }
  const uint64_t key = schema_key(x->domain, e->type);
  const uint32_t *size = map_get(&all->enums, key);
  l->nested = schema_of(all, x->domain, e->type);
  if (size) *l = (struct layout){.size = *size, .align = *size, .reading = UNSIGNED, .enumeration = key};
  return size || l->nested || find_known(x, e, l);
}

static uint64_t unsigned_at(const uint8_t *p, uint32_t size) {
  uint64_t v = 0;
  for (uint32_t i = 0; i < size; i++) v |= (uint64_t)p[i] << 8 * i;
  return v;
}

static int64_t signed_at(const uint8_t *p, uint32_t size) {
  const unsigned shift = 64 - 8 * size;
  return (int64_t)(unsigned_at(p, size) << shift) >> shift;
}

static double double_at(const uint8_t *p, uint32_t size) {
  double d = 0;
  float f;
  memcpy(&d, p, size == sizeof f ? 0 : sizeof d);
  memcpy(&f, p, sizeof f);
  return size == sizeof f ? (double)f : d;
}

/* Returns the name of a value, or the names of the flags in it; 0 if a name is missing. */
static tk_id name_of_value(struct nsys *r, const struct layout *l, uint64_t value) {
  if (l->known) return value < 5 ? trace_text(r->d.t, l->known->values[value]) : 0;
  const uint32_t *name = map_get(&r->payloads.names, value_key(l->enumeration, value));
  if (name || !value) return name ? *name : 0;
  r->text.len = 0;
  for (uint64_t left = value; left; left &= left - 1) {
    name = map_get(&r->payloads.names, value_key(l->enumeration, left & (0 - left)));
    if (!name) return 0;
    if (r->text.len) buf_text(&r->text, "|");
    buf_text(&r->text, tk_string(r->d.t, *name, NULL));
  }
  return trace_string(r->d.t, r->text.data, r->text.len);
}

static void add_value(struct payload_reader *x, tk_id key, const struct layout *l, const uint8_t *p) {
  struct tk_trace *t = x->r->d.t;
  const uint64_t value = unsigned_at(p, l->size < 8 ? l->size : 8);
  const tk_id name = l->enumeration || l->known ? name_of_value(x->r, l, value) : 0;
  if (name) args_str(t, key, TK_ARG_STR, name);
  else if (l->reading == SIGNED) args_int(t, key, signed_at(p, l->size));
  else if (l->reading == FLOATING) args_double(t, key, double_at(p, l->size));
  else if (l->reading == HEX) args_uint(t, key, TK_ARG_POINTER, value);
  else if (l->reading == CHARACTER) args_str(t, key, TK_ARG_STR, database_string(&x->r->d, p, 1));
  else if (value <= INT64_MAX) args_int(t, key, (int64_t)value);
  else args_uint(t, key, TK_ARG_UINT, value);
}

static void put_element(struct buf *b, const struct layout *l, const uint8_t *p) {
  char text[40];
  size_t n;
  if (l->reading == SIGNED) n = num_put_i64(text, signed_at(p, l->size));
  else if (l->reading == FLOATING) n = num_put_double(text, double_at(p, l->size));
  else n = num_put_u64(text, unsigned_at(p, l->size));
  if (l->reading == FLOATING && (text[n - 1] == 'n' || text[n - 1] == 'f')) n = (size_t)(stpcpy(text, "null") - text);
  buf_append(b, text, n);
}

/* Adds an array of numbers as JSON, or an array of characters as text. */
static void add_array(struct payload_reader *x, tk_id key, const struct layout *l, const uint8_t *p, uint64_t n) {
  struct nsys *r = x->r;
  if (l->reading == TEXT || l->reading == CHARACTER) {
    const uint8_t *end = memchr(p, 0, (size_t)n);
    args_str(r->d.t, key, TK_ARG_STR, database_string(&r->d, p, end ? (size_t)(end - p) : (size_t)n));
    return;
  }
  if (n > ELEMENTS_MOST) {
    x->whole = false;
    return;
  }
  r->text.len = 0;
  buf_text(&r->text, "[");
  for (uint64_t i = 0; i < n; i++) {
    if (i) buf_text(&r->text, ",");
    put_element(&r->text, l, p + i * l->size);
  }
  buf_text(&r->text, "]");
  args_str(r->d.t, key, TK_ARG_JSON, trace_string(r->d.t, r->text.data, r->text.len));
}

/* Returns the key "outer.name" of an entry, or a number in place of a name that is missing or taken. */
static tk_id key_of(struct payload_reader *x, tk_id outer, const struct payload_entry *e, uint32_t number) {
  struct nsys *r = x->r;
  char digits[32];
  r->text.len = 0;
  if (outer) buf_text(&r->text, tk_string(r->d.t, outer, NULL)), buf_text(&r->text, ".");
  buf_text(&r->text, tk_string(r->d.t, e->name, NULL));
  const bool is_named = *tk_string(r->d.t, e->name, NULL) != 0;
  tk_id key = is_named ? trace_string(r->d.t, r->text.data, r->text.len) : 0;
  if (key && !args_hold(r->d.t, key)) return key;
  digits[0] = '[';
  const size_t n = 1 + num_put_u64(digits + 1, number);
  digits[n] = ']';
  if (!r->text.len) buf_text(&r->text, "payload");
  buf_append(&r->text, digits, n + 1);
  key = trace_string(r->d.t, r->text.data, r->text.len);
  return args_hold(r->d.t, key) ? 0 : key;
}

/* State while the entries of a schema are read. */
struct structure {
  const struct payload_schema *schema;
  const struct payload_entry *entries;
  uint64_t base, at;                 /* offsets in the payload: of the structure, and of the next entry relative to it */
  uint64_t numbers[ENTRIES_MOST];    /* values of integers: lengths of arrays refer to them by index */
  bool is_number[ENTRIES_MOST];
  bool is_known;                     /* `at` is known */
  tk_id key;
  unsigned depth;
};

static void read_structure(struct payload_reader *x, const struct payload_schema *schema, uint64_t base, tk_id key, unsigned depth);

/* Finds the number of elements of an entry. Returns false if it is unknown. */
static bool count_of(const struct payload_reader *x, const struct structure *s, const struct payload_entry *e, const struct layout *l,
                     uint64_t at, uint64_t *count) {
  const uint64_t array = e->flags & ARRAY, room = at < x->n ? x->n - at : 0;
  *count = 1;
  if (array == SCALAR && l->reading != TEXT) return true;
  if (e->detail < 0) return false;
  if (array == FIXED || array == SCALAR) *count = (uint64_t)e->detail;
  else if (array == BY_INDEX && e->detail < ENTRIES_MOST && s->is_number[e->detail]) *count = s->numbers[e->detail];
  else if (array == ZERO_TERMINATED && l->size == 1 && !e->detail) {
    const uint8_t *end = room ? memchr(x->p + at, 0, (size_t)room) : NULL;
    *count = end ? (uint64_t)(end - (x->p + at)) + 1 : room;
  } else return false;
  return *count <= x->n;
}

/* Finds the offset of an entry in the payload. An entry without a stated offset follows the one before it, unless it is a
 * nested schema, whose alignment is unknown. */
static bool locate_entry(const struct payload_reader *x, const struct structure *s, uint32_t i, const struct layout *l,
                         uint64_t *at) {
  const int64_t offset = s->entries[i].offset;
  const uint64_t align = s->schema->align && s->schema->align < l->align ? s->schema->align : l->align;
  const bool is_stated = offset > 0 || i == 0;
  if (offset < 0 || (!is_stated && (!s->is_known || l->nested))) return false;
  *at = is_stated ? (uint64_t)offset : (s->at + align - 1) / align * align;
  if (*at > x->n || x->n - *at < s->base) return false;
  *at += s->base;
  return true;
}

/* Reads an entry. Returns false if the offset of the next entry is unknown. */
static bool read_entry(struct payload_reader *x, struct structure *s, uint32_t i) {
  const struct payload_entry *e = &s->entries[i];
  struct layout l;
  uint64_t count, at;
  if (!layout_of(x, e, &l) || !locate_entry(x, s, i, &l, &at) || ++x->n_args > ARGS_MOST) return x->whole = false;
  if (l.nested) {
    const bool is_one = !(e->flags & ARRAY) && s->depth < NESTED_MOST;
    if (is_one) read_structure(x, l.nested, at, key_of(x, s->key, e, i), s->depth + 1);
    else x->whole = false;
    s->at = at + l.nested->size - s->base;
    return is_one && l.nested->size;
  }
  if (!count_of(x, s, e, &l, at, &count) || x->n - at < count * l.size) return x->whole = false;
  s->at = at + count * l.size - s->base;
  if (l.reading == UNREAD) {
    x->whole = false;
    return true;
  }
  s->is_number[i] = !(e->flags & ARRAY) && (l.reading == SIGNED || l.reading == UNSIGNED);
  if (s->is_number[i]) s->numbers[i] = unsigned_at(x->p + at, l.size);
  const tk_id key = key_of(x, s->key, e, i);
  if (!key) x->whole = false;
  else if (e->flags & ARRAY || l.reading == TEXT) add_array(x, key, &l, x->p + at, count);
  else add_value(x, key, &l, x->p + at);
  return true;
}

/* Reads the entries of a schema at an offset. */
static void read_structure(struct payload_reader *x, const struct payload_schema *schema, uint64_t base, tk_id key, unsigned depth) {
  const struct payload_entry *all = (const struct payload_entry *)(const void *)x->r->payloads.entries.data;
  struct structure s = {.schema = schema, .entries = all + schema->first, .base = base, .key = key, .depth = depth};
  if (schema->unreadable) x->whole = false;
  for (uint32_t i = 0; i < schema->n && !schema->unreadable; i++) s.is_known = read_entry(x, &s, i);
}

/* ---- entry points ---- */

/* Reads a payload that has a type of TYPES instead of a schema. */
static void read_plain(struct payload_reader *x, int64_t type) {
  struct payload_entry e = {.type = type};
  struct layout l;
  if (type <= 0 || !layout_of(x, &(struct payload_entry){.type = type, .flags = FIXED}, &l) || l.reading == UNREAD || !l.size ||
      l.nested || x->n % l.size) {
    x->whole = false;
    return;
  }
  const tk_id key = key_of(x, 0, &e, 0);
  if (key && (x->n != l.size || l.reading == TEXT)) add_array(x, key, &l, x->p, x->n / l.size);
  else if (key) add_value(x, key, &l, x->p);
}

bool payload_args(struct nsys *r, const struct cell *data, const char *domain) {
  if (data->n < HEADER || (data->type != CELL_BLOB && data->type != CELL_TEXT)) return false;
  const int64_t id = (int64_t)unsigned_at(data->p, 8), schema = (int64_t)unsigned_at(data->p + 8, 8);
  const uint64_t size = unsigned_at(data->p + 16, 8), place = unsigned_at(data->p + 24, 8);
  if (size > data->n - HEADER || (place != HEADER && place != HEADER + size)) return false;
  struct payload_reader x = {.r = r, .p = data->p + HEADER, .n = size, .domain = id, .domain_name = domain, .whole = true};
  const struct payload_schema *s = schema_of(&r->payloads, id, schema);
  if (s) read_structure(&x, s, 0, 0, 0);
  else read_plain(&x, schema);
  return x.whole;
}
