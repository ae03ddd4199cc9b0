/* perfetto.h - what the row of Perfetto is made of: detection, the reader, what `info` tells, the writer. */
#ifndef FORMAT_PERFETTO_PERFETTO_H
#define FORMAT_PERFETTO_PERFETTO_H

#include "format/format.h"

/* detect.c: verified structure in the first bytes of a file. */
unsigned perfetto_bid(const uint8_t *p, size_t n);
/* What its messages look like. */
extern const struct pb_shape perfetto_shape;

bool perfetto_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);
struct sink *perfetto_writer(struct out *out, const struct sink_options *opt);

/* inspect.c: packets by kind, sequences, clocks of the file that the trace was read from. */
void perfetto_inspect(const struct tk_trace *t, struct tk_inspection *p, struct arena *keep);

/* passthrough.c: machines of the Perfetto file that a graph was read from, if there are several: the `at`-th, false behind the last. */
bool perfetto_machine(const struct tk_trace *t, uint32_t at, struct format_machine *m);
/* ... and which clock its times count on. */
struct sink_start perfetto_start(const struct tk_trace *first);

#endif
