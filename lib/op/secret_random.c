/* secret_random.c - see secret_random.h.
 *
 * Names consist of words, so most neighbouring characters have the same class (upper, lower, digit). If characters are drawn at random
 * from the 62 letters and digits, 62% of neighbours differ in class. Mangled C++ names come closest to this rate; they
 * are recognised by their prefix. Suffixes such as "0d1d2d3de4", which Triton appends to kernel names, are hexadecimal but contain few
 * different letters. */
#include "secret_random.h"

#include <stdbool.h>
#include <string.h>

enum { LEAST_MIXED = 24, LEAST_LOWER = 32, LEAST_HEX = 32, MOST = 4096 };
enum class { OTHER, UPPER, LOWER, DIGIT };

static enum class secret_class_of(char c) {
  if (c >= '0' && c <= '9') return DIGIT;
  if (c >= 'a' && c <= 'z') return LOWER;
  return c >= 'A' && c <= 'Z' ? UPPER : OTHER;
}

static bool in_run(char c) { return secret_class_of(c) != OTHER || (c && strchr("+/_-", c)); }

struct census {
  size_t n, of[4]; /* number of characters in all, and by class */
  size_t changes;  /* number of class changes between neighbours */
  size_t distinct, letters, digits; /* numbers of distinct characters among the first 40, of hexadecimal letters, of digits */
  bool hex;
};

static struct census take(const char *p, size_t n) {
  struct census c = {.n = n, .hex = true};
  bool seen[128] = {false};
  for (size_t i = 0; i < n; i++) {
    const enum class class = secret_class_of(p[i]);
    const bool fresh = !seen[(unsigned char)p[i] & 127], letter = (p[i] | 32) >= 'a' && (p[i] | 32) <= 'f';
    seen[(unsigned char)p[i] & 127] = true;
    c.of[class]++;
    c.changes += i > 0 && class != secret_class_of(p[i - 1]);
    c.distinct += fresh && i < 40;
    c.letters += fresh && letter && class != OTHER;
    c.digits += fresh && class == DIGIT;
    c.hex = c.hex && (class == DIGIT || letter);
  }
  return c;
}

/* True if all characters are hexadecimal digits in one case: a hash or a key. */
static bool is_hex_key(const struct census *c) {
  return c->hex && c->n >= LEAST_HEX && !(c->of[UPPER] && c->of[LOWER]) && c->letters >= 4 && c->digits >= 5;
}

/* True if all characters are lower-case letters and digits, without a separator, and look random. */
static bool is_lower_key(const struct census *c) {
  return c->n >= LEAST_LOWER && !c->of[OTHER] && !c->of[UPPER] && c->of[DIGIT] >= 4 && c->distinct >= 16 && 4 * c->changes >= c->n;
}

static bool is_mixed_key(const struct census *c) {
  const size_t most = c->n < 40 ? c->n : 40;
  return c->n >= LEAST_MIXED && c->of[UPPER] >= 2 && c->of[LOWER] >= 2 && c->of[DIGIT] >= 2 && 12 * c->of[OTHER] <= c->n &&
         20 * c->changes >= 9 * c->n && 20 * c->distinct >= 11 * most;
}

static size_t alnum_run(const char *p, const char *end) {
  size_t n = 0;
  while (p + n < end && n < MOST && secret_class_of(p[n]) != OTHER) n++;
  return n;
}

size_t secret_random_at(const char *start, const char *p, const char *end) {
  if (secret_class_of(*p) == OTHER && *p != '_' && *p != '/' && *p != '+') return 0;
  size_t n = alnum_run(p, end);
  struct census c;
  if (n >= LEAST_HEX) {
    c = take(p, n);
    if (is_hex_key(&c) || is_lower_key(&c)) return n;
  }
  if (p > start && in_run(p[-1])) return 0;
  for (n = 0; p + n < end && n < MOST && in_run(p[n]);) n++;
  if (n < LEAST_MIXED || (*p == '_' && (p[1] == 'Z' || p[1] == 'R' || p[1] == '_'))) return 0;
  c = take(p, n);
  if (!is_mixed_key(&c)) return 0;
  while (p + n < end && p[n] == '=') n++;
  return n;
}
