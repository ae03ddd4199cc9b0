/* file.h - tk_merge: a merge whose sink writes a file. */
#ifndef MERGE_FILE_H
#define MERGE_FILE_H

#include "merge.h"

/* Merges these inputs into the file `path`, like tk_merge. */
bool merge_inputs(const struct merge_inputs *in, const char *path, const struct tk_merge_options *opt,
                  struct tk_merge_report *report, struct tk_err *err);

#endif
