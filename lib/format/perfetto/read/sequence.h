/* sequence.h - state of a sequence of packets: interned text and defaults, until it is cleared. */
#ifndef FORMAT_PERFETTO_READ_SEQUENCE_H
#define FORMAT_PERFETTO_READ_SEQUENCE_H

#include "reader.h"

struct sequence *perfetto_sequence(struct perfetto *r, uint32_t machine, uint64_t id);
void sequence_clear(struct perfetto *r, struct sequence *q);
void sequence_defaults(struct sequence *q, const struct pb_field *f);

/* Returns the number of the interned data to which the event's fields may refer; 0 if there is none. */
uint32_t sequence_interned(struct perfetto *r, const struct sequence *q);
/* Interned data that sequence_intern does not read: the caller passes it to the functions for counters and stacks. */
enum interned_has { INTERNED_HAS_COUNTERS = 1, INTERNED_HAS_STACKS = 2 };
/* Reads interned data. Returns bits of enum interned_has. */
unsigned sequence_intern(struct perfetto *r, struct sequence *q, const struct pb_field *f);

/* Defines the value of an iid, unless it has one. */
void sequence_define(struct perfetto *r, struct sequence *q, enum iid_kind kind, uint64_t iid, tk_id value);

/* Returns the string with an iid; 0 if the iid has not been defined yet. */
tk_id sequence_find(const struct sequence *q, enum iid_kind kind, uint64_t iid);

/* Returns the text with an iid; "[iid 5]" if the iid was never defined. */
tk_id sequence_text(struct perfetto *r, struct sequence *q, enum iid_kind kind, uint64_t iid);

#endif
