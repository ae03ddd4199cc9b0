/* schemas.h - the schemas of NVTX payloads: entries, and how each is stored. */
#ifndef FORMAT_NSYS_READ_SCHEMAS_H
#define FORMAT_NSYS_READ_SCHEMAS_H

#include "reader.h"

enum { SCHEMAS_ENTRIES_MOST = 128, SCHEMAS_NESTED_MOST = 8 };

/* Values of NVTX_PAYLOAD_SCHEMA_TYPE_*. A schema without a row in NVTX_PAYLOAD_SCHEMAS has kind 0 and is read like SCHEMA_STATIC. */
enum schema_kind { SCHEMA_STATIC = 1, SCHEMA_DYNAMIC, SCHEMA_UNION };

/* Flags of an entry (NVTX_PAYLOAD_ENTRY_FLAG_*), and its kind of array. */
enum { ENTRY_POINTER = 1 << 1, ENTRY_FROM_BASE = 1 << 2, ENTRY_FROM_HERE = 1 << 3, ENTRY_ARRAY = 7 << 4, ENTRY_DEEP_COPY = 1 << 8 };
enum { ENTRY_FIXED = 1 << 4, ENTRY_ZERO_TERMINATED = 2 << 4, ENTRY_BY_INDEX = 3 << 4 };

struct payload_entry {
  int64_t domain, schema, idx, type, detail, offset;
  uint64_t flags;
  tk_id name;
};

/* A schema: the entries first to first + n - 1. */
struct payload_schema {
  uint32_t first, n;
  uint32_t packed;      /* maximum alignment of an entry; 0 = its natural alignment */
  uint32_t size, align; /* of the structure; 0 = unknown. The size of a dynamic schema is always unknown */
  uint8_t kind;         /* enum schema_kind */
  bool unreadable;      /* the kind is not read, or processes disagree on the entries */
};

enum reading { UNREAD, SIGNED, UNSIGNED, FLOATING, HALF, BRAIN, HEX, CHARACTER, STRING };

/* Enumerations that a producer registers, but that exports up to 2026.2 do not contain. */
struct known_enum {
  const char *domain, *entry;
  const char *values[5];
};

/* Storage of an entry in the payload. */
struct layout {
  uint32_t size, align; /* of an element; 0 = unknown */
  enum reading reading;
  bool is_pointer; /* the payload contains an address or offset instead of the value */
  bool is_string;  /* without a flag of an array, `detail` is the length of a string */
  uint64_t enumeration;                /* key; 0 = none */
  const struct known_enum *known;      /* NULL = none */
  const struct payload_schema *nested; /* NULL = none */
};

void schemas_init(struct payloads *x, struct mem *mem);
void schemas_free(struct payloads *x);

/* Reads the schemas. Returns false with an error on failure. */
bool schemas_read(struct nsys *r);

/* Returns a schema; NULL if there is none. */
const struct payload_schema *schemas_find(const struct payloads *x, int64_t domain, int64_t schema);
const struct payload_entry *schemas_entries(const struct payloads *x, const struct payload_schema *s);

/* Finds how an entry is stored. `domain` is the name of its domain. Returns false if its size is unknown; the offsets of later
 * entries are then unknown, too, unless the schema states them. */
bool schemas_layout(const struct nsys *r, const char *domain, const struct payload_entry *e, struct layout *l);

/* Returns the name of a value of an enumeration; 0 if there is none. */
tk_id schemas_value(const struct payloads *x, uint64_t enumeration, uint64_t value);

/* Returns `at` rounded up to the alignment of an entry in a structure of this schema. */
static inline uint64_t schemas_align(const struct payload_schema *s, uint32_t align, uint64_t at) {
  const uint64_t most = s->packed && s->packed < align ? s->packed : align;
  return most ? (at + most - 1) / most * most : at;
}

#endif
