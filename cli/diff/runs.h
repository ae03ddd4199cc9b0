/* runs.h - finds and names the runs that tracekit diff compares. */
#ifndef CLI_DIFF_RUNS_H
#define CLI_DIFF_RUNS_H

#include "options/opt.h"
#include "tracekit.h"

struct runs {
  size_t n;
  struct operands *inputs; /* inputs of each run */
  char **names;
};

/* Adds a run of n inputs. Like the functions below, returns false if memory runs out. */
bool runs_add_inputs(struct runs *r, const char *const *v, size_t n);
/* Adds each operand as a run. */
bool runs_of_operands(struct runs *r, const struct operands *in);
/* Adds each subfolder of `folder`, and each file with the extension of a trace, as a run, in natural order. Returns false with
 * err if there are none. */
bool runs_of_folder(struct runs *r, const char *folder, struct tk_err *err);
/* Names the runs: the given labels, or else the shortest part of their paths that differs. Returns false if memory runs out. */
bool runs_name(struct runs *r, const struct opt_list *labels);
void runs_free(struct runs *r);

#endif
