/* text.h - words at the beginning of a text, and in it. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool text_begins(const char *s, const char *word) { return strncmp(s, word, strlen(word)) == 0; }

/* Does the text begin with one of the words, which NULL ends? */
static inline bool text_any_begins(const char *s, const char *const *words) {
  while (*words && !text_begins(s, *words)) words++;
  return *words != NULL;
}

/* ... hold one of them? */
static inline bool text_any_holds(const char *s, const char *const *words) {
  while (*words && !strstr(s, *words)) words++;
  return *words != NULL;
}

/* Letters of ASCII, whatever the locale says of others. */
static inline char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

/* Are these n bytes the same but for the case of letters? */
static inline bool ascii_equal(const char *a, const char *b, size_t n) {
  size_t i = 0;
  while (i < n && ascii_lower(a[i]) == ascii_lower(b[i])) i++;
  return i == n;
}

#endif
