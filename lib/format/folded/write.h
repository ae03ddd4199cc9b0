/* write.h - writes folded stacks. */
#ifndef FORMAT_FOLDED_WRITE_H
#define FORMAT_FOLDED_WRITE_H

#include "format/format.h"

struct sink *folded_writer(struct out *out, const struct sink_options *opt);

#endif
