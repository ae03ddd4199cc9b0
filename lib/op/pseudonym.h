/* pseudonym.h - replaces texts by pseudonyms: "name-1f3a...", "path-...", "host-...". Equal texts get equal pseudonyms. */
#ifndef OP_PSEUDONYM_H
#define OP_PSEUDONYM_H

#include <stdbool.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "words.h"

struct pseudonyms {
  struct siphash_key key;
  const struct words *words; /* words to replace in every string */
};

/* Appends "KIND-" and 16 hexadecimal digits to b. Returns false if memory runs out. */
bool pseudonym_append(const struct pseudonyms *p, struct buf *b, const char *kind, const void *text, size_t n);

/* Appends `text` to b, with pseudonyms in place of file paths, of the secrets that secret.h finds, and of p->words. Adds the number of
 * replacements to *found. Returns false if memory runs out. */
bool pseudonym_scrub(const struct pseudonyms *p, struct buf *b, const char *text, size_t n, uint64_t *found);

#endif
