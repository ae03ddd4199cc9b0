/* intern.h - a table of distinct byte strings: bytes <-> 32-bit id.
 *
 * Ids count from 1 in order of first appearance; 0 means none. Bytes do not move until the table is freed, and are followed by
 * a NUL. The table does not validate the bytes. Callers that add text validate each distinct string once, which costs almost
 * nothing. */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include "hash.h"
#include "mem.h"

struct intern_str {
  const uint8_t *bytes;
  uint32_t len;
  uint32_t hash;
};

struct intern {
  struct mem *mem;
  struct arena arena;
  struct intern_str *strs; /* [1..n]; [0] is "" unless the table is empty */
  uint32_t n, cap;
  uint32_t *slots; /* open addressing with linear probing; at most half full */
  uint32_t mask;
};

void intern_init(struct intern *in, struct mem *mem);
void intern_free(struct intern *in);

/* Returns the id of the bytes, or 0 if they are not in the table. */
uint32_t intern_find(const struct intern *in, const void *p, size_t n, uint32_t hash);
static inline uint32_t intern_id(const struct intern *in, const void *p, size_t n) {
  return intern_find(in, p, n, (uint32_t)hash_text(p, n));
}
/* Returns the id of the bytes, adding them if necessary; 0 only if memory runs out (recorded in mem) or n exceeds 4 GiB. */
uint32_t intern_add(struct intern *in, const void *p, size_t n, uint32_t hash);
static inline uint32_t intern(struct intern *in, const void *p, size_t n) {
  return intern_add(in, p, n, (uint32_t)hash_text(p, n));
}

/* Removes all strings but the first n. */
void intern_forget(struct intern *in, uint32_t n);

/* Adds text that should be UTF-8. Each invalid byte becomes U+FFFD and sets *repaired. `mixed`: the table also contains bytes
 * that are not text. Only new strings are validated, and distinct strings are few. */
uint32_t intern_text(struct intern *in, const uint8_t *p, size_t n, bool mixed, bool *repaired);
/* Appends the text to `b`, repaired in the same way as by intern_text. */
void intern_repaired(struct buf *b, const uint8_t *p, size_t n);

#endif
