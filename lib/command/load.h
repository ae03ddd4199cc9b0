/* load.h - what the drivers share of loading. */
#ifndef COMMAND_LOAD_H
#define COMMAND_LOAD_H

#include "graph/trace.h"
#include "io/in.h"

/* Keeps which files it was read from. */
void load_files(struct tk_trace *t, const char *const *paths, size_t n);

/* Reads `in` (closed here, NULL = opening failed with err set) into t, which holds at most notes.  On failure t is freed and NULL
 * returned. */
struct tk_trace *load_input(struct in *in, const char *source, const struct tk_load_options *opt, struct tk_trace *t,
                            struct tk_err *err);

#endif
