/* short_text.h - parts of a name, and a string of limited length that is built from parts. */
#ifndef ANALYSIS_SHORT_TEXT_H
#define ANALYSIS_SHORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { SHORT_NAME_ROOM = 160 };

/* A string of limited length; any excess is cut off. */
struct short_text {
  char text[SHORT_NAME_ROOM];
  size_t n;
  bool cut;
};

/* Part of a name. */
struct short_span {
  const char *p, *end;
};

void short_put(struct short_text *to, const char *p, size_t n);
void short_put_text(struct short_text *to, const char *text);
bool short_has(struct short_span s, const char *word);
bool short_begins(struct short_span s, const char *word);
bool short_is(struct short_span s, const char *word);

#endif
