/* cut_times.h - times of packets and their items relative to the range of a cut, and the sequences of packets. */
#ifndef FORMAT_PERFETTO_WRITE_CUT_TIMES_H
#define FORMAT_PERFETTO_WRITE_CUT_TIMES_H

#include "cut.h"
#include "format/perfetto/head.h"

struct cut_sequence {
  struct buf state; /* stored frames with changes of the state */
  uint32_t default_clock;
};

enum verdict { STAYS, GOES, PART };
enum side { BEFORE, INSIDE, AFTER, UNKNOWN };

/* Returns the sequence of a packet; NULL if memory runs out. */
struct cut_sequence *cut_sequence_of(struct cut *c, const struct packet_head *h);
/* Applies the changes of the sequence's state by a packet. */
void cut_follow_state(struct cut_sequence *q, const struct packet_head *h);

static inline bool cut_to_trace(const struct cut *c, uint32_t machine, uint32_t clock, uint64_t time, int64_t *ns) {
  return readings_to_trace(&c->readings, machine, clock, time, ns);
}
/* Converts the time of a packet to the trace clock. Returns false if it has none, or if no snapshot relates its clock. */
static inline bool cut_packet_time(const struct cut *c, const struct cut_sequence *q, const struct packet_head *h, int64_t *ns) {
  return h->has_timestamp && cut_to_trace(c, h->machine, h->has_clock ? h->clock : q->default_clock, h->timestamp, ns);
}
/* Converts a time on the trace clock to the graph's time in ps. */
i128 cut_graph_ps(const struct cut *c, int64_t ns);
/* Returns where a time is relative to the range. A span is inside if a part of it is inside, as in the graph. */
enum side cut_side_of(const struct cut *c, int64_t ns, uint64_t dur_ns);

/* Returns the clock of a bundle, as the reader chooses it. */
struct head_clock cut_bundle_clock(const struct cut *c, const struct packet_head *h);
/* Converts the time of an item in a bundle to the trace clock. Returns false if it has none. */
bool cut_item_time(const struct cut *c, const struct packet_head *h, const struct pb_field *item, struct head_clock clock, int64_t *ns);

#endif
