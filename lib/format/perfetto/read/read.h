/* read.h - reads a Trace into a graph, one packet at a time, through a window. */
#ifndef FORMAT_PERFETTO_READ_READ_H
#define FORMAT_PERFETTO_READ_READ_H

#include "format/perfetto/perfetto.h"
#include "reader.h"

bool perfetto_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);
bool perfetto_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif
