/* html.h - prints a report as one HTML page: charts first, then the tables of text.c. */
#ifndef CLI_REPORT_HTML_H
#define CLI_REPORT_HTML_H

#include "tracekit.h"

#include <stdio.h>

/* Print the sections of the page. A section without rows is left out, except the findings. */
void html_findings(FILE *to, const struct tk_report *r);
void html_figures(FILE *to, const struct tk_report *r);
void html_gaps(FILE *to, const struct tk_report *r, size_t top, bool full_names);
void html_compilations(FILE *to, const struct tk_report *r, size_t top);
void html_parts(FILE *to, const struct tk_report *r);
void html_lines(FILE *to, const struct tk_report *r);
void html_flames(FILE *to, const struct tk_report *r);
void html_annotations(FILE *to, const struct tk_report *r, size_t top);
void html_operators(FILE *to, const struct tk_report *r, size_t top);
void html_memory(FILE *to, const struct tk_report *r, size_t top);

/* Writes the colours and names of the parts of a step (figure_part) that are shown. */
void html_part_key(FILE *to, const bool *shown);

/* Writes a self-contained page, with `top` kernels. The caller checks `to` for errors. */
void report_write_html(const struct tk_report *r, size_t top, bool full_names, FILE *to);

#endif
