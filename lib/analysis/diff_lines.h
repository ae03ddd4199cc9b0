/* diff_lines.h - matches names that differ between runs only in line numbers (Python functions in two versions of a library) or in
 * hashes (TorchInductor graphs). */
#ifndef ANALYSIS_DIFF_LINES_H
#define ANALYSIS_DIFF_LINES_H

#include "diff_set.h"

/* Returns the text id of a name with * in place of lines and hashes; the same id if it has none. */
uint32_t diff_lines_bare(struct diff_set *set, uint32_t name);

/* Joins rows below the same row whose names differ only in line numbers, if each run has at most one of them. A joined row has a * in
 * place of the line number. Rows that differ only in hashes are joined in order if a run has several of them. Returns false if memory
 * runs out. */
bool diff_lines_join(struct diff_set *set);

#endif
