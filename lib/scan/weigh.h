/* weigh.h - estimates the size of a rank as a file of its own; a plan divides a requested size by these estimates. */
#ifndef SCAN_WEIGH_H
#define SCAN_WEIGH_H

#include "scan.h"

/* Estimates the size of the trace in the format `only`, or, if it is NULL, in each format that can be written in parts. */
bool scan_weigh(struct scan *s, const struct tk_trace *t, const struct format *only, struct tk_err *err);

#endif
