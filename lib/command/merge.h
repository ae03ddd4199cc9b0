/* merge.h - what the drivers share of merging. */
#ifndef COMMAND_MERGE_H
#define COMMAND_MERGE_H

#include "tracekit.h"

/* Inputs that are found already: those from `first` on, n of them. */
struct merge_inputs {
  struct tk_sources *sources;
  size_t first, n;
};

/* tk_merge of these. */
bool merge_inputs(const struct merge_inputs *in, const char *output, const struct tk_merge_options *opt,
                  struct tk_merge_report *report, struct tk_err *err);

#endif
