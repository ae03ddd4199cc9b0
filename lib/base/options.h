/* options.h - options of callers that were compiled with another version of tracekit.h.
 *
 * A struct of options that may grow begins with its size, as perf_event_attr, sched_attr and open_how of Linux do, and for the same
 * reason: a caller and a library of different versions understand each other without a version number.  Of these three we take the
 * rules that they have in common:
 *
 *   less than the first version   refused: that is no such struct
 *   0                             the first version (as perf_event_open and sched_setattr have it), so that { 0 } stays good
 *   less than ours                what is not there is zero, which is every option's default
 *   more than ours                good if what we do not know is zero, else refused (as openat2 does): an option is never ignored
 *
 * Structs that others contain cannot grow.  They end with reserved words instead, which have to be zero, as io_uring_params does. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include "err.h"

/* The caller's options, or the defaults for NULL, as `own`, of `size` bytes, of which the first version had `first`. */
bool options_take(void *own, size_t size, size_t first, const void *given, struct tk_err *err);

/* Of a struct that is still what it was in its first version. */
#define TAKE_OPTIONS(own, given, err) options_take(own, sizeof *(own), sizeof *(own), given, err)

/* Are the reserved words, n of them, zero? */
bool options_reserved(const uint64_t *reserved, size_t n, struct tk_err *err);
#define RESERVED(opt, err) options_reserved((opt)->reserved, sizeof (opt)->reserved / sizeof *(opt)->reserved, err)

#endif
