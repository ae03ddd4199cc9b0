/* carried.h - writes the block with which other formats preserve parents and properties of Perfetto tracks. */
#ifndef FORMAT_PERFETTO_WRITE_CARRIED_H
#define FORMAT_PERFETTO_WRITE_CARRIED_H

#include "graph/sink.h"
#include "io/out.h"

struct sink *perfetto_carrier(struct out *out, const struct sink_options *opt);

#endif
