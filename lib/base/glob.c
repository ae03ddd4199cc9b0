/* glob.c - see glob.h. */
#include "glob.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "utf8.h"

/* Returns the character at *p and advances *p past it. */
static uint32_t next_char(const char **p) {
  const uint8_t *s = (const uint8_t *)*p;
  unsigned n = utf8_sequence(s, strnlen(*p, 4));
  *p += n ? n : 1;
  return n ? utf8_char(s, n) : 0x110000u + s[0];
}

/* ---- sets ---- */

static bool between(uint32_t c, char from, char to) { return c >= (uint8_t)from && c <= (uint8_t)to; }
static bool is_digit(uint32_t c) { return between(c, '0', '9'); }
static bool is_lower(uint32_t c) { return between(c, 'a', 'z'); }
static bool is_upper(uint32_t c) { return between(c, 'A', 'Z'); }
static bool is_alpha(uint32_t c) { return is_lower(c) || is_upper(c); }
static bool is_alnum(uint32_t c) { return is_alpha(c) || is_digit(c); }
static bool is_xdigit(uint32_t c) { return is_digit(c) || between(c, 'a', 'f') || between(c, 'A', 'F'); }
static bool is_space(uint32_t c) { return c == ' ' || between(c, '\t', '\r'); }
static bool is_punct(uint32_t c) { return between(c, '!', '~') && !is_alnum(c); }

static const struct {
  const char *name;
  bool (*has)(uint32_t c);
} sets[] = {
  {"[:alnum:]", is_alnum}, {"[:alpha:]", is_alpha}, {"[:digit:]", is_digit}, {"[:lower:]", is_lower},
  {"[:punct:]", is_punct}, {"[:space:]", is_space}, {"[:upper:]", is_upper}, {"[:xdigit:]", is_xdigit},
};

/* Returns true if there is a named class such as [:digit:] at *p, and advances *p past it. Sets *has if the class contains
 * c. */
static bool named_set(const char **p, uint32_t c, bool *has) {
  for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
    size_t n = strlen(sets[i].name);
    if (strncmp(*p, sets[i].name, n)) continue;
    *has |= sets[i].has(c);
    *p += n;
    return true;
  }
  return false;
}

static uint32_t member(const char **p) {
  if (**p == '\\' && (*p)[1]) ++*p;
  return next_char(p);
}

/* True if c is in the set whose opening bracket precedes *p. Advances *p past the closing bracket; sets *closed to false if
 * there is none. */
static bool in_set(const char **p, uint32_t c, bool *closed) {
  const char *at = *p;
  bool negated = *at == '!' || *at == '^', has = false;
  const char *first = at += negated;
  while (*at && (*at != ']' || at == first)) {
    if (*at == '[' && named_set(&at, c, &has)) continue;
    uint32_t from = member(&at), to = from;
    if (*at == '-' && at[1] && at[1] != ']') {
      at++;
      to = member(&at);
    }
    has |= c >= from && c <= to;
  }
  *closed = *at == ']';
  if (*closed) *p = at + 1;
  return has != negated;
}

/* ---- texts ---- */

/* True if the element at *glob, which is not a star, matches c. Advances *glob past it. */
static bool element_matches(const char **glob, uint32_t c) {
  const char *at = *glob;
  bool closed;
  if (*at == '?') {
    ++*glob;
    return true;
  }
  if (*at == '[') {
    at++;
    bool in = in_set(&at, c, &closed);
    if (closed) {
      *glob = at;
      return in;
    }
  }
  return member(glob) == c;
}

bool glob_matches(const char *glob, const char *text) {
  const char *star = NULL, *from = NULL; /* star: position after the last star; from: text at which this star may extend its match */
  while (*text || *glob) {
    if (*glob == '*') {
      star = ++glob;
      from = text;
      continue;
    }
    const char *next = text;
    if (*text && *glob && element_matches(&glob, next_char(&next))) {
      text = next;
      continue;
    }
    if (!star || !*from) return false;
    next_char(&from);
    glob = star;
    text = from;
  }
  return true;
}
