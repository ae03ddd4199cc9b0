/* head.h - the fields of a packet that determine whether a cut in time keeps it; for the reader, which leaves out packets early, and
 * for the writer. */
#ifndef FORMAT_PERFETTO_HEAD_H
#define FORMAT_PERFETTO_HEAD_H

#include "format/pb.h"
#include "kinds.h"

struct packet_head {
  uint64_t timestamp, sequence, flags;
  uint32_t clock, machine;
  bool has_timestamp, has_clock, has_state;
  struct pb_field content, defaults;
  const struct kind_of_packet *kind;
};

void head_read(const struct pb_field *packet, struct packet_head *h);

/* True for fields about the packet itself: its time, sequence, machine and producer. */
bool head_is_transport(uint32_t field);
/* True for fields that change the state of the packet's sequence. */
bool head_is_state(uint32_t field);

/* True for content of a packet that consists of samples. `number`: field number of the content. */
bool head_has_samples(uint32_t number);

/* True if the content has this field; false for field 0. */
bool head_has(const struct pb_field *content, uint32_t field);
/* Returns the number in this field of the content; `otherwise` if the content lacks it. */
uint64_t head_number(const struct pb_field *content, uint32_t field, uint64_t otherwise);
/* The clock of the items in a bundle. */
struct head_clock {
  uint32_t id;
  uint64_t shift; /* ns to add to the times of items to get times on the clock `id`, modulo 2^64 */
};
/* Returns the clock of the items in a bundle. A bundle of ftrace may be on a clock that no snapshot contains; it then states one
 * moment on that clock and on BOOTTIME, which is the clock returned. MONOTONIC_RAW may be in snapshots, so it is returned itself if
 * `raw`. */
struct head_clock head_bundle_clock(const struct packet_head *h, bool raw);

#endif
