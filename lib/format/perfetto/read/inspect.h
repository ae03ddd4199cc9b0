/* inspect.h - counts a Trace's sequences and clocks, and its packets by type. */
#ifndef FORMAT_PERFETTO_READ_INSPECT_H
#define FORMAT_PERFETTO_READ_INSPECT_H

#include "format/perfetto/perfetto.h"
#include "reader.h"

/* Describes the file from which the trace was read: packets by kind, sequences and clocks. `keep`: memory of the result. */
void perfetto_inspect(const struct tk_trace *t, struct tk_inspection *p, struct arena *keep);
void perfetto_count(struct perfetto *r, const struct packet *k, size_t n);
void perfetto_add_counts(struct perfetto *r);

#endif
