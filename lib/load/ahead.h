/* ahead.h - loads the inputs of a merge in order, by threads that work ahead while the caller is busy with earlier inputs.
 *
 * If no thread has started the input that the caller takes, the caller loads it itself. While the caller waits for an input, it
 * loads the next one. So on two cores, one additional thread is enough to keep both busy. Only inputs that are separate files
 * are loaded ahead: an archive is read from front to back, and a pipe only once. If a file contains several inputs, nothing is
 * loaded ahead, because that would read the file again. The result does not depend on the number of threads. */
#ifndef LOAD_AHEAD_H
#define LOAD_AHEAD_H

#include "tracekit.h"

struct load_ahead;

enum { LOAD_AHEAD_MOST = 16 };

/* Starts loading the n inputs from `first` on, except those marked in `unwanted` (by input, from 0; NULL = load all). At most
 * opt->threads threads are busy, including the caller's, and at most `most` of them are started here (up to LOAD_AHEAD_MOST).
 * In addition to the caller's trace, at most one trace per thread is in memory, each within its share of opt->max_memory.
 * Returns NULL if threads would not help or memory runs out; load_ahead_take accepts NULL. */
struct load_ahead *load_ahead_start(struct tk_sources *s, size_t first, size_t n, const bool *unwanted,
                                    const struct tk_load_options *opt, unsigned most);

/* Returns input i, which must come after all inputs taken before; the caller frees it. On failure returns NULL with err set.
 * `opt` applies if the input is loaded by the caller. */
struct tk_trace *load_ahead_take(struct load_ahead *a, struct tk_sources *s, size_t first, size_t i, const struct tk_load_options *opt,
                                 struct tk_err *err);

/* Stops the threads and frees all inputs that were not taken. `a` may be NULL. */
void load_ahead_stop(struct load_ahead *a);

#endif
