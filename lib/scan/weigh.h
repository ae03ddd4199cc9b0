/* weigh.h - estimates the size that a rank would have as a separate file. A plan divides a requested size according to these
 * estimates. */
#ifndef SCAN_WEIGH_H
#define SCAN_WEIGH_H

#include "scan.h"

/* Estimates the size of the trace in the format `only`; if it is NULL, in each format that can be written in parts. Returns
 * false with err on failure. */
bool scan_weigh(struct scan *s, const struct tk_trace *t, const struct format *only, struct tk_err *err);

#endif
