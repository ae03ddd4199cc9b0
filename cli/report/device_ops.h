/* device_ops.h - device time by operator. */
#ifndef CLI_REPORT_DEVICE_OPS_H
#define CLI_REPORT_DEVICE_OPS_H

#include "tracekit.h"

#include <stdio.h>

/* Print the `top` operators with the most device time, as text and on the page; nothing if no work has an operator. device_ops_print
 * returns false with a message if out of memory. */
bool device_ops_print(const struct tk_report *r, size_t top);
void device_ops_draw(FILE *to, const struct tk_report *r, size_t top);

#endif
