/* write.h - writes Perfetto's TrackEvent protobuf from one or several graphs. */
#ifndef FORMAT_PERFETTO_WRITE_WRITE_H
#define FORMAT_PERFETTO_WRITE_WRITE_H

#include "format/perfetto/perfetto.h"

struct sink *perfetto_writer(struct out *out, const struct sink_options *opt);

#endif
