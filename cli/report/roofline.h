/* roofline.h - FLOP/s and bytes/s relative to the device's peak, as text and as a section of the page. */
#ifndef CLI_REPORT_ROOFLINE_H
#define CLI_REPORT_ROOFLINE_H

#include "tracekit.h"

#include <stdio.h>

/* Print the roofline section of a report, as text and as HTML: at most `top` operators, and nothing if no FLOP or memory traffic is
 * known. roofline_print returns false if memory runs out. */
bool roofline_print(const struct tk_report *r, size_t top);
void roofline_draw(FILE *to, const struct tk_report *r, size_t top);

#endif
