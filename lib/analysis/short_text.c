/* short_text.c - see short_text.h. */
#include "short_text.h"

#include <string.h>

void short_put(struct short_text *to, const char *p, size_t n) {
  const size_t room = sizeof to->text - to->n, most = room < n ? room : n;
  memcpy(to->text + to->n, p, most);
  to->n += most;
  to->cut = to->cut || most < n;
}

void short_put_text(struct short_text *to, const char *text) { short_put(to, text, strlen(text)); }

bool short_begins(struct short_span s, const char *word) {
  const size_t n = strlen(word);
  return (size_t)(s.end - s.p) >= n && memcmp(s.p, word, n) == 0;
}

bool short_is(struct short_span s, const char *word) { return (size_t)(s.end - s.p) == strlen(word) && short_begins(s, word); }

bool short_has(struct short_span s, const char *word) { return memmem(s.p, (size_t)(s.end - s.p), word, strlen(word)) != NULL; }
