/* report.h - prints a report as text, JSON or HTML. */
#ifndef CLI_REPORT_REPORT_H
#define CLI_REPORT_REPORT_H

#include "tracekit.h"

#include <stdio.h>

/* Formats the name of a row, "rank 3, GPU 3", as far as the rank and the device are known. */
void figure_report_name(const struct tk_report *r, const struct tk_report_rank *row, char *text, size_t n);

/* top: number of kernels to list; as text, also of copies, launches and collectives.  report_print_text() returns false if out
 * of memory. */
bool report_print_text(const struct tk_report *r, size_t top);
void report_print_json(const struct tk_report *r, size_t top);
/* Writes a self-contained page.  The caller checks `to` for errors. */
void report_write_html(const struct tk_report *r, size_t top, FILE *to);

#endif
