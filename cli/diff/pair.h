/* pair.h - the comparison of two runs as a table, JSON (schemas/diff.schema.json) or CSV: the first `top` rows. */
#ifndef CLI_DIFF_PAIR_H
#define CLI_DIFF_PAIR_H

#include "tracekit.h"

/* Prints the table. full: print names of kernels as recorded, not shortened. */
bool pair_print_table(const struct tk_diff_report *r, const char *by, size_t top, bool full);
void pair_print_remarks(const struct tk_diff_report *r, size_t top);
void pair_print_json(const struct tk_diff_report *r, const char *by, size_t top);
void pair_print_csv(const struct tk_diff_report *r, size_t top);

#endif
