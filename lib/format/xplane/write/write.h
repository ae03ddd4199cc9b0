/* write.h - writes graphs to an XSpace file. */
#ifndef FORMAT_XPLANE_WRITE_WRITE_H
#define FORMAT_XPLANE_WRITE_WRITE_H

#include "format/xplane/xplane.h"

struct sink *xplane_writer(struct out *out, const struct sink_options *opt);

/* Returns a sink that writes the data which other formats embed for XPlane (format/carry.h). */
struct sink *xplane_carrier(struct out *out, const struct sink_options *opt);

/* Returns the base of the graph's times, if it was read from an XSpace. */
struct sink_start xplane_start(const struct tk_trace *first);

#endif
