/* functions.h - functions in stack samples, as text and as sections of the page. */
#ifndef CLI_REPORT_FUNCTIONS_H
#define CLI_REPORT_FUNCTIONS_H

#include "tracekit.h"

#include <stdio.h>

/* Both functions show, for each unit of weights, the `top` functions with the most self weight; nothing without stack samples.
 * functions_print() returns false if memory runs out. */
bool functions_print(const struct tk_report *r, size_t top);
void functions_draw(FILE *to, const struct tk_report *r, size_t top);

#endif
