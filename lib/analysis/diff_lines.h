/* diff_lines.h - matches Python functions by file and name if only their lines differ between runs, as in two versions of a library,
 * and graphs of TorchInductor, whose hashes differ. */
#ifndef ANALYSIS_DIFF_LINES_H
#define ANALYSIS_DIFF_LINES_H

#include "diff_set.h"

/* Returns the text id of a name without lines and hashes; the name itself if it has none. */
uint32_t diff_lines_bare(struct diff_set *set, uint32_t name);

/* Joins rows whose names differ only in lines, if each run has at most one of them, and rows below joined rows. A joined row has a * in
 * place of the line. Rows that differ only in hashes are joined in order if a run has several. Returns false if memory runs out. */
bool diff_lines_join(struct diff_set *set);

#endif
