/* kinds.h - table of the kinds of packets: their names, and how a cut in time treats them. */
#ifndef FORMAT_PERFETTO_KINDS_H
#define FORMAT_PERFETTO_KINDS_H

#include <stdbool.h>
#include <stdint.h>

enum kind_rule {
  KIND_TIMED, /* kept if its time is in the range, or if it has no time */
  KIND_STATE, /* always kept, because other packets may depend on it */
  KIND_LAST,  /* kept unless it is after the range, because its value applies until the next packet of this kind */
  KIND_ITEMS, /* contains items, each with its own time; items in the range are kept */
  KIND_LISTS  /* contains a list of items and a list of their times; items in the range are kept. KIND_TIMED without these times */
};

/* A kind of packet. `field`: the field of TracePacket that contains the content. */
struct kind_of_packet {
  uint32_t field;
  enum kind_rule rule;
  const char *name;
  uint32_t items, time; /* for KIND_ITEMS: field of the items; field of the time in an item. For KIND_LISTS: fields of the lists */
  uint32_t clock, unit; /* for KIND_ITEMS: clock of this time (0 = a clock that the bundle names); ns per unit. For KIND_LISTS: clock
                           of the times; 0 = ns since the time of the packet */
  bool packed;          /* for KIND_LISTS: the items are numbers */
  uint32_t duration;    /* field of the content with its duration in ns; 0 = none */
  uint32_t state;       /* content with this field is always kept; 0 = none */
};

/* Returns the row for this field; NULL if there is none. */
const struct kind_of_packet *kind_find(uint32_t field);

#endif
