/* html.h - prints a report as one HTML page: charts first, then the tables of text.c. */
#ifndef CLI_REPORT_HTML_H
#define CLI_REPORT_HTML_H

#include "tracekit.h"

#include <stdio.h>

/* Writes a self-contained page, with `top` kernels. The caller checks `to` for errors. */
void report_write_html(const struct tk_report *r, size_t top, FILE *to);

#endif
