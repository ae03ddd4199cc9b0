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

/* Limits the memory of the trace, and stores in it those options that matter after reading. */
void load_configure(struct tk_trace *t, const struct tk_load_options *opt);

/* Reads `in` into t, which may contain only notes, and closes `in`. `in` may be NULL if opening failed with err set. On
 * failure, frees t and returns NULL. */
struct tk_trace *load_input(struct in *in, const char *source, const struct tk_load_options *opt, struct tk_trace *t,
                            struct tk_err *err);

#endif
