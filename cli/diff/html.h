/* html.h - writes a comparison of runs as one HTML page, with the style of a report. */
#ifndef CLI_DIFF_HTML_H
#define CLI_DIFF_HTML_H

#include "diff/text.h"

#include <stdio.h>

/* Writes a self-contained page. The caller checks `to` for errors. */
void runs_write_html(const struct tk_compare_report *r, const struct runs_view *v, FILE *to);

#endif
