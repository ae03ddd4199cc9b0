/* load.h - what the drivers share of loading. */
#ifndef COMMAND_LOAD_H
#define COMMAND_LOAD_H

#include "graph/trace.h"
#include "io/in.h"

/* The limit for one trace: what the caller asked for, else 75% of RAM or cgroup. */
uint64_t load_memory_limit(uint64_t asked);

/* Keeps with the trace what its place tells ("" = nothing). */
void load_place(struct tk_trace *t, const char *host, const char *run);

/* Keeps which files it was read from. */
void load_files(struct tk_trace *t, const char *const *paths, size_t n);

/* Reads `in` (closed here, NULL = opening failed with err set) into t, which holds at most notes.  On failure t is freed and NULL
 * returned. */
struct tk_trace *load_input(struct in *in, const char *source, const struct tk_load_options *opt, struct tk_trace *t,
                            struct tk_err *err);

#endif
