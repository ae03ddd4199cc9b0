/* parts_spans.h - joins the pieces of spans that cross the edges of parts (parts.h). */
#ifndef FORMAT_PERFETTO_READ_PARTS_SPANS_H
#define FORMAT_PERFETTO_READ_PARTS_SPANS_H

#include "reader.h"

/* Called at the end of the file, before any time is converted. */
void parts_join_spans(struct perfetto *r);

#endif
