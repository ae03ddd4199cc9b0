/* text.h - tests characters and words of a text, whatever the locale. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "int128.h"

static inline bool text_begins(const char *s, const char *word) { return strncmp(s, word, strlen(word)) == 0; }

/* True if the text begins with one of the words; the list ends with NULL. */
static inline bool text_any_begins(const char *s, const char *const *words) {
  while (*words && !text_begins(s, *words)) words++;
  return *words != NULL;
}

/* True if the text contains one of the words. */
static inline bool text_any_holds(const char *s, const char *const *words) {
  while (*words && !strstr(s, *words)) words++;
  return *words != NULL;
}

/* Returns an ASCII letter in lower case, and other characters unchanged. */
static inline char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

static inline bool ascii_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool ascii_hex(char c) { return ascii_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); }
static inline bool ascii_letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

/* True if the n bytes are equal, ignoring the case of ASCII letters. */
static inline bool ascii_equal(const char *a, const char *b, size_t n) {
  size_t i = 0;
  while (i < n && ascii_lower(a[i]) == ascii_lower(b[i])) i++;
  return i == n;
}

/* True if all bytes are printable ASCII or whitespace. */
bool text_is_plain(const uint8_t *p, size_t n);

/* Parses "2026-11-20T10:37:52.123456789Z" into ps since the epoch. The fraction and the Z are optional; an offset from UTC such as
 * +05:30 may replace the Z. */
bool text_parse_absolute(const char *text, i128 *ps);
/* Parses a duration as tk_parse_duration does, of up to 10^18 days. */
bool text_parse_duration(const char *text, i128 *ps);

#endif
