/* write.h - writes profiles of pprof. */
#ifndef FORMAT_PPROF_WRITE_H
#define FORMAT_PPROF_WRITE_H

#include "format/format.h"

struct sink *pprof_writer(struct out *out, const struct sink_options *opt);

#endif
