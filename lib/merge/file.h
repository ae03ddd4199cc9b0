/* file.h - tk_merge: merges inputs into a file. */
#ifndef MERGE_FILE_H
#define MERGE_FILE_H

#include "merge.h"

/* Same as tk_merge, for the inputs `in`. */
bool merge_inputs(const struct merge_inputs *in, const char *path, const struct tk_merge_options *opt,
                  struct tk_merge_report *report, struct tk_err *err);

#endif
