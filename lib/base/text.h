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

#endif
