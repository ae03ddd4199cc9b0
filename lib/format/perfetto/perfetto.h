/* perfetto.h - functions of the row of Perfetto: detection, reader, inspection for `info`, writer. */
#ifndef FORMAT_PERFETTO_PERFETTO_H
#define FORMAT_PERFETTO_PERFETTO_H

#include "format/format.h"

/* detect.c: bits of verified structure in the first bytes of a file. */
unsigned perfetto_bid(const uint8_t *p, size_t n);
/* Shape of its protobuf messages. */
extern const struct pb_shape perfetto_shape;

bool perfetto_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);
struct sink *perfetto_writer(struct out *out, const struct sink_options *opt);

/* inspect.c: packets by kind, sequences and clocks of the file that the trace was read from. */
void perfetto_inspect(const struct tk_trace *t, struct tk_inspection *p, struct arena *keep);

/* passthrough.c: machine number `at` of the Perfetto file that a graph was read from, if it had several; false after the last
 * one. */
bool perfetto_machine(const struct tk_trace *t, uint32_t at, struct format_machine *m);
/* passthrough.c: a track as the file describes it, if the trace was loaded without restoring. */
bool perfetto_track(const struct tk_trace *t, tk_id at, struct format_track *track);
/* passthrough.c: the clock of its times. */
struct sink_start perfetto_start(const struct tk_trace *first);

#endif
