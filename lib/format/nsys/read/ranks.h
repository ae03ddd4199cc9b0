/* ranks.h - finds the ranks of a report that covers several processes. */
#ifndef FORMAT_NSYS_READ_RANKS_H
#define FORMAT_NSYS_READ_RANKS_H

#include "format/format.h"

/* Finds the processes with work on devices, for the member `ranks` of struct format. */
bool nsys_ranks(struct in *in, struct parts *parts, struct tk_err *err);

#endif
