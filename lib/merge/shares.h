/* shares.h - computes how much of the requested size each rank may use (share.h). */
#ifndef MERGE_SHARES_H
#define MERGE_SHARES_H

#include "share.h"

/* Computes the shares of the inputs if a size is requested. Call after the clocks are aligned. */
bool merge_shares_plan(struct merger *m);

/* False with err set if an output of this many bytes is larger than requested. */
bool merge_fits(const struct tk_merge_options *opt, uint64_t bytes, struct tk_err *err);

/* Returns the bytes reserved for the table of dropped events, in an output of `to` bytes. */
uint64_t merge_gone_room(uint64_t to);

#endif
