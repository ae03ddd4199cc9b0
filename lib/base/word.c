/* word.c - "did you mean": finds the valid word nearest to a mistyped one. */
#include <string.h>

#include "tracekit.h"

enum { MAX_WORD = 64 };

/* Returns the edit distance of two short words; swapping two letters counts as 2. */
static size_t distance(const char *a, const char *b) {
  size_t row[MAX_WORD + 1], na = strlen(a), nb = strlen(b);
  if (na > MAX_WORD || nb > MAX_WORD) return MAX_WORD;
  for (size_t j = 0; j <= nb; j++) row[j] = j;
  for (size_t i = 1; i <= na; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      size_t changed = diagonal + (a[i - 1] != b[j - 1]), moved = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      diagonal = row[j];
      row[j] = changed < moved ? changed : moved;
    }
  }
  return row[nb];
}

const char *tk_nearest(const char *word, const char *const *valid) {
  const char *best = NULL;
  const size_t n = strlen(word + strspn(word, "-")); /* the dashes of options do not count */
  size_t best_distance = n / 3 + 2; /* with a larger distance, the words are unrelated */
  if (best_distance > n / 2 + 1) best_distance = n / 2 + 1; /* at least half of the letters of a short word must match */
  for (; *valid; valid++) {
    size_t d = distance(word, *valid);
    if (d >= best_distance) continue;
    best = *valid;
    best_distance = d;
  }
  return best;
}
