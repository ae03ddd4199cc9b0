/* intern.h - a table of distinct byte strings: bytes <-> 32-bit id.
 *
 * Ids count from 1 in order of first appearance; 0 means none.  Bytes stay where they are until the table goes and are followed by
 * a NUL.  The table does not look into the bytes: whoever adds text has checked it (once per distinct string, which is why
 * validation is nearly free). */
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
  struct intern_str *strs; /* [1..n]; 0, once there are any, is none: "" */
  uint32_t n, cap;
  uint32_t *slots; /* open addressing, linear probing, at most half full */
  uint32_t mask;
};

void intern_init(struct intern *in, struct mem *mem);
void intern_free(struct intern *in);

/* The id of the bytes, or 0 if they are not there. */
uint32_t intern_find(const struct intern *in, const void *p, size_t n, uint32_t hash);
static inline uint32_t intern_id(const struct intern *in, const void *p, size_t n) {
  return intern_find(in, p, n, (uint32_t)hash_text(p, n));
}
/* The id of the bytes, added if need be.  0 only when memory has run out (sticky in mem) or n exceeds 4 GiB. */
uint32_t intern_add(struct intern *in, const void *p, size_t n, uint32_t hash);
static inline uint32_t intern(struct intern *in, const void *p, size_t n) {
  return intern_add(in, p, n, (uint32_t)hash_text(p, n));
}

/* Only the first n have ever been there. */
void intern_forget(struct intern *in, uint32_t n);

/* Text that a file says is UTF-8; of what is not, each wrong byte becomes U+FFFD, and *repaired.  `mixed`: the table holds bytes that
 * are no text, too.  Only text that was not met before is looked at: distinct strings are few. */
uint32_t intern_text(struct intern *in, const uint8_t *p, size_t n, bool mixed, bool *repaired);
/* Appends the text to `b` as intern_text would have it. */
void intern_repaired(struct buf *b, const uint8_t *p, size_t n);

#endif
