/* words.c - see words.h. */
#include "words.h"

#include <string.h>

#include "base/hash.h"

void words_init(struct words *w, struct mem *mem) {
  *w = (struct words){.mem = mem};
  map_init(&w->by_hash, mem);
}

void words_free(struct words *w) {
  map_free(&w->by_hash);
  mem_free(w->mem, w->v);
}

static uint64_t longer(uint64_t hash, char c) { return hash_fold(hash ^ (uint8_t)c, hash_secret[1]); }

static uint64_t words_hash_of(const char *p, size_t n) {
  uint64_t hash = hash_secret[0];
  for (size_t i = 0; i < n; i++) hash = longer(hash, p[i]);
  return hash;
}

static uint32_t start_of(const char *p) {
  return ((uint32_t)(uint8_t)p[0] ^ (uint32_t)(uint8_t)p[1] << 5 ^ (uint32_t)(uint8_t)p[2] << 10) & 0xffff;
}

bool words_add(struct words *w, const char *text, size_t n, const char *kind) {
  if (n < WORDS_LEAST || n > WORDS_MOST) return true;
  if (!mem_grow(w->mem, (void **)&w->v, &w->cap, (uint64_t)w->n + 1, sizeof *w->v)) return false;
  uint32_t *at = map_put(&w->by_hash, words_hash_of(text, n), w->n + 1);
  if (!at) return false;
  if (*at != w->n + 1) return true;
  w->v[w->n++] = (struct word){text, n, kind};
  w->starts[start_of(text) >> 3] |= (uint8_t)(1 << (start_of(text) & 7));
  if (n > w->longest) w->longest = n;
  return true;
}

const struct word *words_at(const struct words *w, const char *p, const char *end) {
  const struct word *found = NULL;
  uint64_t hash = hash_secret[0];
  if (end - p < WORDS_LEAST || !(w->starts[start_of(p) >> 3] >> (start_of(p) & 7) & 1)) return NULL;
  for (size_t n = 1; n <= w->longest && p + n <= end; n++) {
    hash = longer(hash, p[n - 1]);
    if (n < WORDS_LEAST || (p + n < end && words_byte(p[n]))) continue;
    const uint32_t *at = map_get(&w->by_hash, hash);
    const struct word *word = at ? &w->v[*at - 1] : NULL;
    if (word && word->n == n && memcmp(word->text, p, n) == 0) found = word;
  }
  return found;
}
