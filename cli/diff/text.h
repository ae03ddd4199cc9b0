/* text.h - prints a comparison of several runs as text, JSON or CSV. */
#ifndef CLI_DIFF_TEXT_H
#define CLI_DIFF_TEXT_H

#include "tracekit.h"

struct runs_view {
  const char *by;
  size_t top; /* number of rows to print */
  bool full;  /* print names of kernels as recorded */
  bool over;  /* the runs are in the order of time: show trends */
};

bool runs_print_text(const struct tk_compare_report *r, const struct runs_view *v, bool remarks);
void runs_print_json(const struct tk_compare_report *r, const struct runs_view *v);
void runs_print_csv(const struct tk_compare_report *r, const struct runs_view *v);

/* Prints the table of runs. `sides`: a word to print before the name of each run, such as "before"; NULL = none. */
bool runs_print_head(const struct tk_compare_run *runs, size_t n, bool by_step, const char *const *sides);

/* The kernels, copies or fills of a row in one run: the name with the most time, and the number of different names. */
struct runs_work {
  const char *name;
  uint64_t names;
};
/* Writes the names of the work in n runs, in the order of the runs and each once: "a", "a -> b"; "a (+2)" if a run has two more
 * names. Writes "" if the row has no such work. */
const char *runs_works(const struct runs_work *v, size_t n, char *text, size_t room);
/* Writes the names of the work in all runs of a row, as runs_works() does. full: the names as recorded, not shortened. */
const char *runs_works_of(const struct tk_compare_row *row, bool full, char *text, size_t room);
/* Returns the name of a row; for a kernel, the short name unless v->full. */
const char *runs_name_of(const struct tk_compare_row *row, const struct runs_view *v);

/* Functions that the HTML page (html.c) also uses. */
const char *runs_path_end(const char *path, char *text, size_t n); /* the last three names of a path: "... > a > b > c" */
const char *runs_time(double ps, char *text);                      /* "12.3 ms"; `text` has at least 48 bytes */
/* Formats the change against the first run: "+12.3%", "~ -0.1%", "new"; `text` has at least 48 bytes. */
const char *runs_change(const struct tk_compare_row *row, size_t run, char *text);
const char *runs_p(double p, char *text); /* "0.012", "<0.001" */

#endif
