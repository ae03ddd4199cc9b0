/* early.h - leaves out packets, while reading, that a cut to a time range will remove anyway. */
#ifndef FORMAT_PERFETTO_READ_EARLY_H
#define FORMAT_PERFETTO_READ_EARLY_H

#include "reader.h"

/* Reduces the packet r->copy to the parts that the cut may keep. Returns false if nothing of it is left. */
bool early_packet(struct perfetto *r, const struct sequence *q);

/* Checks at the end of the file that the clock and the zero on which packets were judged did not change. */
void early_check(struct perfetto *r);

#endif
