/* inspect.h - composition of a Trace: packets by content, sequences, clocks. */
#ifndef FORMAT_PERFETTO_READ_INSPECT_H
#define FORMAT_PERFETTO_READ_INSPECT_H

#include "format/perfetto/perfetto.h"
#include "reader.h"

/* read/inspect.c: packets by kind, sequences and clocks of the file that the trace was read from. */
void perfetto_inspect(const struct tk_trace *t, struct tk_inspection *p, struct arena *keep);
void perfetto_count(struct perfetto *r, const struct packet *k, size_t n);
void perfetto_add_counts(struct perfetto *r);

#endif
