/* runs.h - tracekit diff of several runs: their names, and the comparison as text, JSON, CSV or an HTML page. */
#ifndef CLI_DIFF_RUNS_H
#define CLI_DIFF_RUNS_H

#include "options/opt.h"
#include "tracekit.h"

#include <stdio.h>

struct runs {
  size_t n;
  struct operands *inputs; /* by run */
  char **names;
};

/* Adds a run of n inputs. Like the functions below, returns false if memory runs out. */
bool runs_add_inputs(struct runs *r, const char *const *v, size_t n);
/* Takes each operand as a run. */
bool runs_of_operands(struct runs *r, const struct operands *in);
/* Takes each entry of a folder as a run, in natural order: its folders, and its files with the extension of a trace. Returns false with
 * err if there are none. */
bool runs_of_folder(struct runs *r, const char *folder, struct tk_err *err);
/* Names the runs: the given labels, or else the shortest part of their paths that differs. Returns false if memory runs out. */
bool runs_name(struct runs *r, const struct opt_list *labels);
void runs_free(struct runs *r);

/* How to print a comparison. */
struct runs_view {
  const char *by;
  size_t top; /* number of rows to print */
  bool over;  /* the runs are in the order of time: show trends */
};

bool runs_print_text(const struct tk_compare_report *r, const struct runs_view *v, bool remarks);
void runs_print_json(const struct tk_compare_report *r, const struct runs_view *v);
void runs_print_csv(const struct tk_compare_report *r, const struct runs_view *v);
void runs_write_html(const struct tk_compare_report *r, const struct runs_view *v, FILE *to);

/* Shared by text and page. */
const char *runs_path_end(const char *path, char *text, size_t n); /* the last three names of a path: "... > a > b > c" */
const char *runs_time(double ps, char *text);                      /* "12.3 ms"; `text` has at least 48 bytes */
/* Formats the change against the first run: "+12.3%", "~ -0.1%", "new"; `text` has at least 48 bytes. */
const char *runs_change(const struct tk_compare_row *row, size_t run, char *text);
const char *runs_p(double p, char *text);                          /* "0.012", "<0.001" */

#endif
