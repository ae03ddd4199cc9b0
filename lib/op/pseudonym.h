/* pseudonym.h - texts that say nothing, the same one for the same text: "name-1f3a...", "path-...", "host-...". */
#ifndef OP_PSEUDONYM_H
#define OP_PSEUDONYM_H

#include <stdbool.h>

#include "base/mem.h"
#include "base/siphash.h"

/* Words that must not be left standing in any text: hosts, users.  Shorter ones than three bytes are passed over, since they stand in
 * words of every language. */
struct secret_word {
  const char *text;
  const char *kind; /* "host" */
};

struct pseudonyms {
  struct siphash_key key;
  const struct secret_word *words;
  size_t n_words;
};

/* "KIND-" and 16 hexadecimal digits, to the end of b.  False when memory runs out. */
bool pseudonym_append(const struct pseudonyms *p, struct buf *b, const char *kind, const void *text, size_t n);

/* The text, to the end of b, with pseudonyms for the paths of files and the secret words in it; *found counts them. */
bool pseudonym_scrub(const struct pseudonyms *p, struct buf *b, const char *text, size_t n, uint64_t *found);

#endif
