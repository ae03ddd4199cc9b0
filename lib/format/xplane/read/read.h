/* read.h - reads an XSpace into a graph, in one pass over the bytes. */
#ifndef FORMAT_XPLANE_READ_READ_H
#define FORMAT_XPLANE_READ_READ_H

#include "format/xplane/xplane.h"

bool xplane_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif
