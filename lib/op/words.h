/* words.h - a set of words that must not remain in any text: hosts, users.
 *
 * Finding a word costs no more with a million words than with one: prefixes of a text are looked up by hash, at most as many as
 * the longest word has bytes. */
#ifndef OP_WORDS_H
#define OP_WORDS_H

#include "base/map.h"

enum { WORDS_LEAST = 3, WORDS_MOST = 255 }; /* bytes of a word: shorter ones occur in every language, longer ones name no file */

struct word {
  const char *text; /* not NUL-terminated */
  size_t n;
  const char *kind; /* "host" */
};

struct words {
  struct mem *mem;
  struct word *v;
  uint32_t n, cap;
  struct map by_hash; /* hash of the text -> index + 1 */
  size_t longest;
  uint8_t starts[1 << 13]; /* bit of the first three bytes, folded to 16 bits: most texts contain no word */
};

void words_init(struct words *w, struct mem *mem);
void words_free(struct words *w);

/* Adds a word, whose text must outlive the set. Words of other lengths than above are ignored. False if memory runs out. */
bool words_add(struct words *w, const char *text, size_t n, const char *kind);

/* Returns the longest word that begins at p and ends where a run of letters and digits ends, before `end`; NULL = none. */
const struct word *words_at(const struct words *w, const char *p, const char *end);

/* True if the byte belongs to a word: a letter, a digit or part of a longer UTF-8 sequence. */
static inline bool words_byte(char c) {
  return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || (unsigned char)c >= 0x80;
}

#endif
