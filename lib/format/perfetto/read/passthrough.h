/* passthrough.h - passes through packets that are not modelled (ftrace, process stats, samples, configuration, ...).  The
 * writer returns them to their original sequences, and puts its own packets on other sequences. */
#ifndef FORMAT_PERFETTO_READ_PASSTHROUGH_H
#define FORMAT_PERFETTO_READ_PASSTHROUGH_H

#include "reader.h"

/* Passes a packet through that is not modelled (passthrough.c). `ns`: the packet's time if it uses a clock of its
 * sequence, otherwise NULL. */
void passthrough_packet(struct perfetto *r, struct sequence *q, const struct packet *k, const int64_t *ns);

/* Passes through an event that the graph cannot represent, unchanged, after passthrough_packet has handled the rest of its
 * packet. `ns` as above. */
void passthrough_event(struct perfetto *r, struct sequence *q, const struct packet *k, const int64_t *ns);

/* Keeps a descriptor of the track; `late`: it follows the first event of the track. */
void passthrough_descriptor(struct perfetto *r, const struct sequence *q, const struct packet *k, struct node *n, bool late);
void passthrough_extension(struct perfetto *r, const struct sequence *q, const struct packet *k);

/* Keeps a field of the file that is not a packet. */
void passthrough_other(struct perfetto *r, const uint8_t *p, size_t n);
void passthrough_descriptors(struct perfetto *r);
void passthrough_interned(struct perfetto *r);
void passthrough_clock(struct perfetto *r);
/* Keeps how the clocks of the packets relate. */
void passthrough_readings(struct perfetto *r);

/* Keeps a packet whose event has no usable time, in a form that never gives it one. `whole`: it is not damaged; damaged ones
 * are dropped. */
void passthrough_untimed(struct perfetto *r, struct sequence *q, const struct packet *k, bool whole);

/* Keeps a packet that was written in that form. Returns false if the private packet is of another kind. */
bool passthrough_untimed_again(struct perfetto *r, struct sequence *q, const struct packet *k);

/* Keeps data embedded for another format. Returns false if the private packet contains none. */
bool passthrough_block(struct perfetto *r, const struct packet *k);

#endif
