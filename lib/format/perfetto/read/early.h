/* early.h - leaves out packets, while reading, that a cut to a time range will remove anyway. */
#ifndef FORMAT_PERFETTO_READ_EARLY_H
#define FORMAT_PERFETTO_READ_EARLY_H

#include "reader.h"

/* Reduces the packet r->copy to the parts that the cut may keep. Returns false if nothing of it is left. */
bool early_packet(struct perfetto *r, const struct sequence *q);

/* Called at the end of the file. Sets trace_early.failed if the trace clock or its zero changed after packets were classified
 * by that clock. */
void early_check(struct perfetto *r);

#endif
