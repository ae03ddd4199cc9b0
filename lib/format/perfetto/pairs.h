/* pairs.h - table of the events outside of track events that apply after their own time: begin events of spans, until the end event
 * with the same key; events that state a value, until the next one with the same key. */
#ifndef FORMAT_PERFETTO_PAIRS_H
#define FORMAT_PERFETTO_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/pb.h"

enum pair_role {
  PAIR_BEGIN,  /* begins a span; spans with the same key are nested */
  PAIR_LATEST, /* applies until the next event with the same key */
  PAIR_END     /* ends the innermost span with the same key */
};

/* One key of an event, and what the event does with it. */
struct pair {
  uint64_t key; /* hash; without the machine */
  enum pair_role role;
};

/* Ways in which an event of ftrace can apply after its own time: as text that begins a span, until a later event with the same key
 * (pair), or as a part of a call between processes. */
enum lasting { LASTING_NOT, LASTING_TEXT, LASTING_PAIR, LASTING_CALL };
/* Returns how an event of ftrace can apply after its own time. `number`: field number of the event in FtraceEvent. */
enum lasting pair_lasting(uint32_t number);
/* Finds the key and role of an event of ftrace. Returns false if the event is not in the table. `tid`, `cpu`: thread and CPU that
 * wrote the event. */
bool pair_of_ftrace(const struct pb_field *content, uint64_t tid, uint64_t cpu, struct pair *pair);

enum { PAIR_KEYS = 2 }; /* maximum number of keys of a packet */
/* True for content of a packet in the table. `number`: field number of the content in TracePacket. */
bool pair_is_packet(uint32_t number);
/* Finds the keys of a packet's content. Returns their number. */
uint32_t pairs_of_packet(const struct pb_field *content, struct pair pairs[PAIR_KEYS]);

#endif
