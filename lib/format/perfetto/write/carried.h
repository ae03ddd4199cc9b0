/* carried.h - writes the block that other formats embed for Perfetto. */
#ifndef FORMAT_PERFETTO_WRITE_CARRIED_H
#define FORMAT_PERFETTO_WRITE_CARRIED_H

#include "graph/sink.h"
#include "io/out.h"

struct sink *perfetto_carrier(struct out *out, const struct sink_options *opt);

#endif
