/* write.h - writes spans for speedscope: an evented profile for each track, frames for the names. */
#ifndef FORMAT_SPEEDSCOPE_WRITE_H
#define FORMAT_SPEEDSCOPE_WRITE_H

#include "speedscope.h"

struct sink *speedscope_writer(struct out *out, const struct sink_options *opt);

#endif
