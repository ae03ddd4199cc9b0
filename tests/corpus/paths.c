/* paths.c - reads each file twice, with and without prediction, and compares the two graphs as text.
 *
 * Prints one line per file: "same", or "differ at line N: ...", or the error. Errors must be equal, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracekit.h"

/* Returns the graph as text, or the error message; the caller frees it. */
static char *text_of(const char *path, bool no_templates) {
  struct tk_err err;
  struct tk_load_options opt = {.no_templates = no_templates, .check = true};
  struct tk_trace *t = tk_load(path, &opt, &err);
  if (!t) return strdup(err.msg);
  char *dump = tk_dump(t), *copy = dump ? strdup(dump) : NULL;
  tk_free_text(dump);
  tk_free(t);
  return copy;
}

static int report(const char *a, const char *b) {
  unsigned line = 1;
  const char *start = a;
  if (strcmp(a, b) == 0) return puts("same"), 0;
  for (; *a && *a == *b; a++, b++)
    if (*a == '\n') {
      line++;
      start = a + 1;
    }
  printf("differ at line %u: %.*s\n", line, (int)strcspn(start, "\n"), start);
  return 1;
}

int main(int argc, char **argv) {
  int status = 0;
  for (int i = 1; i < argc; i++) {
    char *a = text_of(argv[i], false), *b = text_of(argv[i], true);
    if (!a || !b) status = (puts("out of memory"), 1);
    else status |= report(a, b);
    free(a);
    free(b);
  }
  return status;
}
