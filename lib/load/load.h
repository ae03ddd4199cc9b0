/* load.h - loads traces; shared by the commands. */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include "graph/trace.h"
#include "io/in.h"

/* Records the files from which the trace was read. */
void load_files(struct tk_trace *t, const char *const *paths, size_t n);

/* Limits the memory of the trace, as opt->max_memory demands. */
void load_limit(struct tk_trace *t, const struct tk_load_options *opt);

/* Sets the members of opt to which opt->settings refers, and checks the options. Returns false with err if they are invalid. */
bool load_take(struct tk_load_options *opt, struct tk_err *err);

/* Applies the memory limit to the trace, and stores the options that are needed after reading. */
void load_configure(struct tk_trace *t, const struct tk_load_options *opt);

enum { LOAD_KEPT_SHARE = 32 }; /* traces that are loaded before they are needed may use 1/32 of --max-memory */

/* Room for ranks of one file that are loaded together. */
struct load_ranks {
  struct tk_trace **v; /* by input after the requested one: NULL on entry */
  size_t n;
  uint64_t room; /* bytes that the graphs may use together */
};

/* Loads an input, as tk_sources_load does. If it is a rank of a file, also loads the next ranks->n inputs, which must be ranks of the
 * same file (sources_ranks_from), so that the file is read once. A rank for which there is no room, or that fails, stays NULL. */
struct tk_trace *load_ranks(struct tk_sources *s, size_t i, const struct load_ranks *ranks, const struct tk_load_options *opt,
                            struct tk_err *err);

/* Reads `in` into t, which may contain only notes, and closes `in`. `likely`: name of the format that an earlier look at the input
 * found (format_detect); NULL = none. `in` may be NULL if opening failed with err set. On failure, frees t and returns NULL. */
struct tk_trace *load_input(struct in *in, const char *source, const char *likely, const struct tk_load_options *opt,
                            struct tk_trace *t, struct tk_err *err);

#endif
