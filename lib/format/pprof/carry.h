/* carry.h - the data of a profile that other formats embed. */
#ifndef FORMAT_PPROF_CARRY_H
#define FORMAT_PPROF_CARRY_H

#include "format/format.h"

struct sink *pprof_carrier(struct out *out, const struct sink_options *opt);
bool pprof_adopt(struct tk_trace *t);

#endif
