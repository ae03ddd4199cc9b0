/* schemas.c - reads the schemas of NVTX payloads: NVTX_PAYLOAD_SCHEMAS, _SCHEMA_ENTRIES, _ENUMS and _ENUM_ENTRIES.
 *
 * A schema describes a C structure or union. Types, alignment and flags are those of NVTX's payload extension, sizes those of LP64. A
 * schema need not state its size, and never states its alignment: both follow from its entries. */
#include "schemas.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "texts.h"

void schemas_init(struct payloads *x, struct mem *mem) {
  *x = (struct payloads){.entries.mem = mem, .schemas.mem = mem};
  map_init(&x->index, mem);
  map_init(&x->enums, mem);
  map_init(&x->names, mem);
}

void schemas_free(struct payloads *x) {
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
  s.unreadable = s.unreadable || s.n > SCHEMAS_ENTRIES_MOST;
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

const struct payload_schema *schemas_find(const struct payloads *x, int64_t domain, int64_t schema) {
  return schema_of(x, domain, schema);
}

const struct payload_entry *schemas_entries(const struct payloads *x, const struct payload_schema *s) {
  return (const struct payload_entry *)(const void *)x->entries.data + s->first;
}

enum schema_column { S_DOMAIN, S_SCHEMA, S_TYPE, S_ALIGN, S_SIZE };

static void take_schema(const struct sqlite_scan *row, void *arg) {
  struct nsys *r = arg;
  struct payload_schema *s = schema_of(&r->payloads, integer_in(row, S_DOMAIN), integer_in(row, S_SCHEMA));
  const int64_t type = integer_in(row, S_TYPE), align = integer_in(row, S_ALIGN), size = integer_in(row, S_SIZE);
  if (!s) return;
  if (type < SCHEMA_STATIC || type > SCHEMA_UNION) s->unreadable = true;
  else s->kind = (uint8_t)type;
  if (align > 0 && align <= 16) s->packed = (uint32_t)align;
  if (type != SCHEMA_DYNAMIC && size > 0 && size <= UINT32_MAX) s->size = (uint32_t)size;
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

/* ---- types ---- */

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
    {24, 4, 4, CHARACTER}, {25, 1, 1, CHARACTER}, {26, 2, 2, CHARACTER}, {27, 4, 4, CHARACTER}, /* wchar_t, char8_t to char32_t */
    {32, 1, 1, UNSIGNED}, {33, 16, 16, UNREAD}, {34, 16, 16, UNREAD}, /* byte, 128-bit integers */
    {42, 2, 2, HALF}, {43, 4, 4, FLOATING}, {44, 8, 8, FLOATING}, {45, 16, 16, UNREAD}, {50, 2, 2, BRAIN}, /* float16 to bfloat16 */
    {52, 4, 4, FLOATING}, /* TF32 */
    {68, 4, 4, UNSIGNED}, {69, 4, 4, UNSIGNED}, {70, 8, 8, UNSIGNED}, /* category, color, scope */
    {71, 4, 4, UNSIGNED}, {72, 8, 8, UNSIGNED}, {73, 4, 4, UNSIGNED}, {74, 8, 8, UNSIGNED}, /* pid and tid */
    {75, 1, 1, STRING}, {76, 1, 1, STRING}, {77, 2, 2, STRING}, {78, 4, 4, STRING}, /* strings of char, UTF-8, UTF-16, UTF-32 */
    {80, 8, 8, UNREAD}, /* handle of a registered string */
};

/* NCCL: src/init_nvtx.cc. */
static const struct known_enum KNOWN_ENUMS[] = {{"NCCL", "Reduction operation", {"Sum", "Product", "Max", "Min", "Avg"}}};

static bool find_known(const struct nsys *r, const char *domain, const struct payload_entry *e, struct layout *l) {
  const char *name = tk_string(r->d.t, e->name, NULL);
  for (size_t i = 0; i < sizeof KNOWN_ENUMS / sizeof *KNOWN_ENUMS; i++) {
    if (strcmp(KNOWN_ENUMS[i].domain, domain) != 0 || strcmp(KNOWN_ENUMS[i].entry, name) != 0) continue;
    *l = (struct layout){.size = 4, .align = 4, .reading = UNSIGNED, .known = &KNOWN_ENUMS[i]};
    return true;
  }
  return false;
}

bool schemas_layout(const struct nsys *r, const char *domain, const struct payload_entry *e, struct layout *l) {
  const struct payloads *all = &r->payloads;
  *l = (struct layout){.size = 8, .align = 8, .reading = UNREAD, .is_pointer = true};
  const bool is_string = e->type >= 75 && e->type <= 78;
  if (e->flags & (ENTRY_POINTER | ENTRY_FROM_BASE | ENTRY_FROM_HERE | ENTRY_DEEP_COPY)) return true;
  if (is_string && !(e->flags & ENTRY_ARRAY) && !e->detail) return true;
  for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
    if (TYPES[i].type != e->type) continue;
    const enum reading reading = (enum reading)TYPES[i].reading;
    *l = (struct layout){.size = TYPES[i].size, .align = TYPES[i].align, .reading = reading, .is_string = is_string};
    return true;
  }
  const uint64_t key = schema_key(e->domain, e->type);
  const uint32_t *size = map_get(&all->enums, key);
  const struct payload_schema *nested = schema_of(all, e->domain, e->type);
  if (size) *l = (struct layout){.size = *size, .align = *size, .reading = UNSIGNED, .enumeration = key};
  else if (nested) *l = (struct layout){.size = nested->size, .align = nested->align, .nested = nested};
  return size || nested || find_known(r, domain, e, l);
}

tk_id schemas_value(const struct payloads *x, uint64_t enumeration, uint64_t value) {
  const uint32_t *name = map_get(&x->names, value_key(enumeration, value));
  return name ? *name : 0;
}

/* ---- sizes ---- */

/* Returns the number of elements of an entry, if the schema determines it; 0 otherwise. */
static uint64_t fixed_count(const struct payload_entry *e, const struct layout *l) {
  const uint64_t array = e->flags & ENTRY_ARRAY;
  if (l->is_pointer || (array == 0 && !l->is_string)) return 1;
  return (array == 0 || array == ENTRY_FIXED) && e->detail > 0 && e->detail <= UINT32_MAX ? (uint64_t)e->detail : 0;
}

/* Finds the alignment of a structure, and its size unless the schema states it. Leaves them unknown if they depend on a type whose
 * alignment or size is unknown. */
static void measure(const struct nsys *r, struct payload_schema *s) {
  const struct payload_entry *entries = schemas_entries(&r->payloads, s);
  uint64_t end = 0, most = 0;
  uint32_t align = 1;
  bool is_known = s->kind != SCHEMA_DYNAMIC;
  for (uint32_t i = 0; i < s->n; i++) {
    struct layout l;
    if (!schemas_layout(r, "", &entries[i], &l) || !l.align) return;
    const uint32_t own = s->packed && s->packed < l.align ? s->packed : l.align;
    const uint64_t count = fixed_count(&entries[i], &l);
    if (own > align) align = own;
    is_known = is_known && l.size && count && entries[i].offset >= 0 && entries[i].offset <= UINT32_MAX;
    if (!is_known) continue;
    const uint64_t at = entries[i].offset || s->kind == SCHEMA_UNION ? (uint64_t)entries[i].offset : schemas_align(s, l.align, end);
    end = at + count * l.size;
    if (end > most) most = end;
    is_known = end <= UINT32_MAX;
  }
  most = (most + align - 1) / align * align;
  s->align = align;
  if (!s->size && is_known && most <= UINT32_MAX) s->size = (uint32_t)most;
}

/* Computes the size and alignment of all schemas. Each pass handles the schemas whose nested schemas were handled by earlier
 * passes. */
static void measure_all(struct nsys *r) {
  struct payload_schema *v = (struct payload_schema *)(void *)r->payloads.schemas.data;
  const size_t n = r->payloads.schemas.len / sizeof *v;
  for (int pass = 0; pass <= SCHEMAS_NESTED_MOST; pass++)
    for (size_t i = 0; i < n; i++)
      if (!v[i].align && !v[i].unreadable) measure(r, &v[i]);
}

/* ---- reading ---- */

bool schemas_read(struct nsys *r) {
  static const char *const ENTRY[] = {"domainId", "schemaId", "idx", "flags", "type", "name", "arrayOrUnionDetail", "offset", NULL};
  static const char *const SCHEMA[] = {"domainId", "schemaId", "type", "alignTo", "payloadSize", NULL};
  static const char *const ENUM[] = {"domainId", "schemaId", "size", NULL};
  static const char *const VALUE[] = {"domainId", "schemaId", "name", "value", NULL};
  if (!database_each(&r->d, "NVTX_PAYLOAD_SCHEMA_ENTRIES", ENTRY, take_entry, r)) return false;
  add_schemas(&r->payloads);
  const bool ok = database_each(&r->d, "NVTX_PAYLOAD_SCHEMAS", SCHEMA, take_schema, r) &&
    database_each(&r->d, "NVTX_PAYLOAD_ENUMS", ENUM, take_enum, r) &&
    database_each(&r->d, "NVTX_PAYLOAD_ENUM_ENTRIES", VALUE, take_value, r);
  measure_all(r);
  return ok;
}
