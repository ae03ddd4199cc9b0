/* load_ahead.h - the inputs of a merge, in their order, by threads that load while their caller is busy with the ones before.
 *
 * Whoever takes an input that no thread has begun with loads it itself, and who waits for one loads the next one in the meantime, so
 * with two cores one thread is enough to keep both busy.
 * Only inputs that are files of their own are loaded ahead: archives are read from front to back, and a pipe once.  What comes out does
 * not depend on the number of threads. */
#ifndef COMMAND_LOAD_AHEAD_H
#define COMMAND_LOAD_AHEAD_H

#include "tracekit.h"

struct load_ahead;

enum { LOAD_AHEAD_MOST = 16 };

/* Of the n inputs from `first` on those that are not `unwanted` (by input, from 0; NULL = all are wanted).  At most `most` threads (up
 * to LOAD_AHEAD_MOST) and at most opt->threads, the caller's own among these, are busy; at most as many traces are held beside the
 * caller's, and each gets its share of opt->max_memory.
 * NULL when nothing can be gained by it, or there is no memory: load_ahead_take does without. */
struct load_ahead *load_ahead_start(struct tk_sources *s, size_t first, size_t n, const bool *unwanted,
                                    const struct tk_load_options *opt, unsigned most);

/* Input i, which comes behind those that were taken before; the caller frees it.  NULL: `err` says why.  `opt` is that of an input that
 * is loaded here. */
struct tk_trace *load_ahead_take(struct load_ahead *a, struct tk_sources *s, size_t first, size_t i, const struct tk_load_options *opt,
                                 struct tk_err *err);

/* Stops the threads and frees what nobody took.  `a` may be NULL. */
void load_ahead_stop(struct load_ahead *a);

#endif
