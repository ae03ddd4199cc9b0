/* diff_lines.h - matches Python functions by file and name if only their lines differ between runs, as in two versions of a library. */
#ifndef ANALYSIS_DIFF_LINES_H
#define ANALYSIS_DIFF_LINES_H

#include "diff_set.h"

/* Joins rows whose names differ only in lines, if each run has at most one of them, and rows below joined rows. A joined row has a * in
 * place of the line. Returns false if memory runs out. */
bool diff_lines_join(struct diff_set *set);

#endif
