/* passthrough.h - passes through packets that are not modelled (ftrace, process stats, samples, configuration, ...). The writer writes
 * these packets on their original sequences, and its own packets on new sequences. */
#ifndef FORMAT_PERFETTO_READ_PASSTHROUGH_H
#define FORMAT_PERFETTO_READ_PASSTHROUGH_H

#include "track_event.h"

/* Passes a packet through. `ns`: time of the packet if it uses a clock of its sequence, otherwise NULL. */
void passthrough_packet(struct perfetto *r, struct sequence *q, const struct packet *k, const int64_t *ns);

/* Passes through an event that the graph cannot represent. Called after passthrough_packet has handled the rest of its packet.
 * `on_sequence`: the packet uses a clock of its sequence. */
void passthrough_event(struct perfetto *r, struct sequence *q, const struct packet *k, const struct track_event *e, bool on_sequence);

/* Keeps a descriptor of the track. `late`: the descriptor came after the first event of the track. */
void passthrough_descriptor(struct perfetto *r, struct sequence *q, const struct packet *k, struct node *n, bool late);
void passthrough_extension(struct perfetto *r, struct sequence *q, const struct packet *k);

/* Keeps a field of the Trace message that is not a packet. */
void passthrough_other(struct perfetto *r, const uint8_t *p, size_t n);
void passthrough_descriptors(struct perfetto *r);
void passthrough_interned(struct perfetto *r);
void passthrough_clock(struct perfetto *r);
/* Stores how the clocks of the file relate to each other. */
void passthrough_readings(struct perfetto *r);

/* Keeps a packet whose event has no usable time, in a form in which no reader gives it a time. `whole`: the packet is not
 * damaged; damaged ones are dropped. */
void passthrough_untimed(struct perfetto *r, struct sequence *q, const struct packet *k, bool whole);

/* Keeps a packet that already has this form because tracekit wrote the input. Returns false for other private packets. */
bool passthrough_untimed_again(struct perfetto *r, struct sequence *q, const struct packet *k);

/* Keeps data that is embedded for another format. Returns false if the private packet contains none. */
bool passthrough_block(struct perfetto *r, const struct packet *k);

#endif
