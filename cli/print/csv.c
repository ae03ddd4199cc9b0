/* csv.c - see csv.h. */
#include "csv.h"

void csv_text(FILE *to, const char *text, size_t n) {
  fputc('"', to);
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '"') fputc('"', to);
    fputc(text[i], to);
  }
  fputc('"', to);
}
