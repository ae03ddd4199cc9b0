/* kinds.h - the kinds of packets: names, and how a cut in time treats each one. */
#ifndef FORMAT_PERFETTO_KINDS_H
#define FORMAT_PERFETTO_KINDS_H

#include <stdint.h>

enum kind_rule {
  KIND_TIMED, /* stays if its time is in the range, or if it has none */
  KIND_STATE, /* stays: other packets depend on it, wherever it is in the file */
  KIND_LAST,  /* stays unless it is after the range: a value that applies until the next one */
  KIND_ITEMS  /* contains items, each with a time of its own; those in the range stay */
};

/* One kind of packet: the field of TracePacket that holds its content. */
struct kind_of_packet {
  uint32_t field;
  enum kind_rule rule;
  const char *name;
  uint32_t items, time; /* KIND_ITEMS: field of the items; field of the time in each */
  uint32_t clock, unit; /* KIND_ITEMS: clock of this time; 0 = a clock that the bundle names. ns per unit */
  uint32_t state;       /* content with this field is state, whatever its time; 0 = none */
};

/* Returns the row of this field, or NULL. */
const struct kind_of_packet *kind_find(uint32_t field);

#endif
