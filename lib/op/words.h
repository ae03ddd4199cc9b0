/* words.h - a set of words that redaction replaces in all strings: names of hosts and users.
 *
 * The time to find a word does not depend on the number of words: prefixes of the string are looked up by hash, up to the length of the
 * longest word. */
#ifndef OP_WORDS_H
#define OP_WORDS_H

#include "base/map.h"

enum { WORDS_LEAST = 3, WORDS_MOST = 255 }; /* bytes of a word: shorter ones are too common, longer ones are not file names */

struct word {
  const char *text; /* not NUL-terminated */
  size_t n;
  const char *kind; /* kind of pseudonym: "host" */
};

struct words {
  struct mem *mem;
  struct word *v;
  uint32_t n, cap;
  struct map by_hash; /* hash of the text -> index + 1 */
  size_t longest;
  uint8_t starts[1 << 13]; /* bit set indexed by a 16-bit hash of a word's first three bytes, for a quick test */
};

void words_init(struct words *w, struct mem *mem);
void words_free(struct words *w);

/* Adds a word, whose text must outlive the set. Words that are too short or too long are ignored. Returns false if memory runs
 * out. */
bool words_add(struct words *w, const char *text, size_t n, const char *kind);

/* Returns the longest word that begins at p, does not reach beyond `end`, and is not followed by a letter or digit; NULL if there is
 * none. */
const struct word *words_at(const struct words *w, const char *p, const char *end);

/* True for a letter or digit, and for every byte of a multi-byte UTF-8 sequence. */
static inline bool words_byte(char c) {
  return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || (unsigned char)c >= 0x80;
}

#endif
