/* shares.h - computes how much of the requested size each rank may use (share.h). */
#ifndef MERGE_SHARES_H
#define MERGE_SHARES_H

#include "share.h"

/* Computes the shares of the inputs, if the user requested a size. Call after clocks are aligned. Returns false on failure,
 * with the error in m->err. */
bool merge_shares_plan(struct merger *m);

/* Returns false with err set if an output of this many bytes exceeds the requested size. */
bool merge_fits(const struct tk_merge_options *opt, uint64_t bytes, struct tk_err *err);

/* Returns the bytes reserved for the table of dropped events, in an output of `to` bytes. */
uint64_t merge_gone_room(uint64_t to);

#endif
