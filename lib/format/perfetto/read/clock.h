/* clock.h - converts every time to ns on the trace clock. */
#ifndef FORMAT_PERFETTO_READ_CLOCK_H
#define FORMAT_PERFETTO_READ_CLOCK_H

#include "reader.h"

/* Reads a ClockSnapshot. Returns how many clocks it has. */
struct snapshot_clocks clock_snapshot(struct perfetto *r, struct sequence *q, uint32_t machine, const struct pb_field *f);
/* True if the id is local to a sequence. */
bool clock_is_local(uint64_t id);

/* True if the packet's time is on a clock of its sequence. */
bool clock_of_sequence(const struct sequence *q, const struct packet *k);

/* True if the packet's clock is incremental; a packet without a timestamp then has the time of the previous packet. */
bool clock_counts_on(struct perfetto *r, struct sequence *q, const struct packet *k);

/* Converts the packet's time to ns on the trace clock. Returns false if this is not possible yet; *ns is then a time on the
 * clock with index *clock. */
bool clock_time(struct perfetto *r, struct sequence *q, const struct packet *k, int64_t *ns, uint32_t *clock);
bool clock_to_trace(struct perfetto *r, uint32_t clock, int64_t own, int64_t *ns);
uint32_t clock_builtin(struct perfetto *r, uint32_t machine, uint32_t id);

#endif
