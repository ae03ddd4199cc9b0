/* ranks.h - finds the ranks of a database that covers several processes. */
#ifndef FORMAT_ROCM_READ_RANKS_H
#define FORMAT_ROCM_READ_RANKS_H

#include "format/format.h"

/* Finds the processes with work on devices (format->ranks). */
bool rocm_ranks(struct in *in, struct parts *parts, struct tk_err *err);

#endif
