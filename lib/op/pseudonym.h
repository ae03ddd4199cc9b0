/* pseudonym.h - texts that say nothing, the same one for the same text: "name-1f3a...", "path-...", "host-...". */
#ifndef OP_PSEUDONYM_H
#define OP_PSEUDONYM_H

#include <stdbool.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "words.h"

struct pseudonyms {
  struct siphash_key key;
  const struct words *words; /* that get pseudonyms in every text */
};

/* "KIND-" and 16 hexadecimal digits, to the end of b.  False when memory runs out. */
bool pseudonym_append(const struct pseudonyms *p, struct buf *b, const char *kind, const void *text, size_t n);

/* Appends the text to b, with pseudonyms for paths of files, for what secret.h finds, and for the words. Adds their number to
 * *found. False when memory runs out. */
bool pseudonym_scrub(const struct pseudonyms *p, struct buf *b, const char *text, size_t n, uint64_t *found);

#endif
