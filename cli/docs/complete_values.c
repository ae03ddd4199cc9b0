/* complete_values.c - lists completions of a value from a trace: `tracekit __complete FIELD WORD...`, which shells call.
 *
 * Errors are not printed and large files are skipped, because a user who presses Tab must not wait. */
#include "complete_values.h"
#include "docs.h"
#include "print/tty.h"

#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 32 << 20, MOST_VALUES = 200 };

/* Returns the last word that names a regular file of at most MOST_BYTES and is not the output; NULL if none does. */
static const char *trace_among(char **words) {
  const char *found = NULL, *before = "";
  struct stat st;
  for (; *words; before = *words++)
    if (strcmp(before, "-o") && strcmp(before, "--output") && stat(*words, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= MOST_BYTES)
      found = *words;
  return found;
}

static bool by_of(const char *field, enum tk_top_by *by) {
  static const struct {
    const char *field;
    enum tk_top_by by;
  } rows[] = { { "name", TK_TOP_NAME }, { "rank", TK_TOP_RANK }, { "step", TK_TOP_STEP }, { "cat", TK_TOP_CAT },
               { "track", TK_TOP_TRACK } };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].field, field)) {
      *by = rows[i].by;
      return true;
    }
  return false;
}

static void print_values(const struct tk_top_report *r) {
  for (size_t i = 0, shown = 0; i < r->n_rows && shown < MOST_VALUES; i++) {
    const struct tk_top_row *row = &r->rows[i];
    if (!row->name || !row->name_len || row->name[0] == '(') continue;
    tty_text(stdout, row->name, row->name_len);
    putchar('\n');
    shown++;
  }
}

int complete_main(char **argv) {
  struct tk_top_options options = { .sort = TK_TOP_SORT_COUNT };
  struct tk_top_report report = { 0 };
  if (!argv[0] || !by_of(argv[0], &options.by)) return 2;
  const char *path = trace_among(argv + 1);
  struct tk_trace *t = path ? tk_load(path, NULL, NULL) : NULL;
  if (t && tk_top(t, &options, &report, NULL)) print_values(&report);
  tk_top_report_free(&report);
  tk_free(t);
  return 0;
}
