/* rank.h - one rank of a merge: identifies it, places it in time, names and numbers its processes, and writes it to the
 * sink. */
#ifndef MERGE_RANK_H
#define MERGE_RANK_H

#include "merger.h"

/* Adjusts the trace of an input to the other inputs, and writes it. Returns false on failure, with the error in m->err. */
bool merge_write(struct merger *m, size_t input, struct tk_trace *t);

/* Opens the output with the top-level keys of this trace. */
bool merge_open(struct merger *m, const struct tk_trace *t);

#endif
