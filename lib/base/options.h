/* options.h - accepts option structs of callers that were compiled with another version of tracekit.h.
 *
 * A struct of options that may grow begins with its size, like Linux's perf_event_attr, sched_attr and open_how, so that
 * callers and libraries of different versions can work together without a version number. The size may be:
 *
 *      smaller than the first version   refused: it is not such a struct
 *      0                                the first version (as in perf_event_open and sched_setattr), so that { 0 } is valid
 *      smaller than ours                missing members are zero, which is every option's default
 *      larger than ours                 accepted if unknown members are zero, else refused (as in openat2): no option is ignored
 *
 * Structs embedded in others cannot grow. They end with reserved words instead, which must be zero, as in io_uring_params. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdlib.h>

#include "err.h"

/* Copies the caller's options, or the defaults if `given` is NULL, to `own`. size: current size of the struct; first: size of
 * its first version. Returns false with err if the struct is refused. */
bool options_take(void *own, size_t size, size_t first, const void *given, struct tk_err *err);

/* Same as options_take, for a struct that has not grown since its first version. */
#define TAKE_OPTIONS(own, given, err) options_take(own, sizeof *(own), sizeof *(own), given, err)

/* Returns true if all n reserved words are zero; otherwise false with err. */
bool options_reserved(const uint64_t *reserved, size_t n, struct tk_err *err);
#define RESERVED(opt, err) options_reserved((opt)->reserved, sizeof (opt)->reserved / sizeof *(opt)->reserved, err)

/* Allocates the report of a caller, with all members zero. Callers read reports through pointers that the library returns, so that
 * members can be added to the end of a struct. */
#define NEW_REPORT(report, err) \
  ((*(report) = calloc(1, sizeof **(report))) != NULL || err_set(err, TK_ELIMIT, "out of memory"))

#endif
