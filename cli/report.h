/* report.h - the forms in which a report is printed. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "tracekit.h"

#include <stdio.h>

/* "rank 3 - GPU 3", as far as it is known. */
void report_name(const struct tk_report *r, const struct tk_report_rank *row, char *text, size_t n);

/* `top`: kernels that are listed. */
bool report_print_text(const struct tk_report *r, size_t top);
void report_print_json(const struct tk_report *r, size_t top);
/* Writes a self-contained page.  The caller checks `to` for errors. */
void report_write_html(const struct tk_report *r, size_t top, FILE *to);

#endif
