/* early.h - leaves out packets, while reading, that a cut to a time range will remove anyway. */
#ifndef FORMAT_PERFETTO_READ_EARLY_H
#define FORMAT_PERFETTO_READ_EARLY_H

#include "reader.h"

/* Place of a time on the trace clock relative to the range of the cut. EARLY_NEAR: in the range, or so close to it that only the cut
 * can decide. */
enum early_place { EARLY_BEFORE, EARLY_NEAR, EARLY_AFTER };
enum early_place early_place_of(const struct perfetto *r, int64_t ns);
/* Notes the clock by which times are classified. Called before anything is left out. */
void early_note_clock(struct perfetto *r);

struct packet_head;
/* True if the time of a packet is on the trace clock, and needs no conversion. */
bool early_is_direct(const struct perfetto *r, const struct sequence *q, const struct packet_head *h);

/* True if times with this clock id are on the trace clock. */
bool early_is_trace_clock(const struct perfetto *r, const struct packet_head *h, uint32_t clock);

/* Reads the time of an ftrace event. Returns false if it has none. */
bool early_event_ns(const struct pb_field *event, int64_t *ns);

/* Appends the fields of the packet about itself and the state of its sequence, and `content` in place of its own; NULL = no content. */
void early_copy_packet(const struct pb_field *packet, const struct packet_head *h, const struct buf *content, struct buf *to);

/* Reduces the packet r->copy to the parts that the cut may keep. Returns false if nothing of it is left. */
bool early_packet(struct perfetto *r, const struct sequence *q);

/* Called at the end of the file. Sets trace_early.failed if the trace clock or its zero changed after packets or events were
 * classified by that clock. */
void early_check(struct perfetto *r);

#endif
