/* write.h - writes spans for speedscope: each track becomes an evented profile, and each name becomes a frame. */
#ifndef FORMAT_SPEEDSCOPE_WRITE_H
#define FORMAT_SPEEDSCOPE_WRITE_H

#include "speedscope.h"

struct sink *speedscope_writer(struct out *out, const struct sink_options *opt);

#endif
