/* filed_stacks.h - stacks as the file describes them, for queries that must return the same rows as trace_processor. */
#ifndef FORMAT_PERFETTO_READ_FILED_STACKS_H
#define FORMAT_PERFETTO_READ_FILED_STACKS_H

#include "reader.h"

void filed_stacks_init(struct perfetto *r);
void filed_stacks_free(struct perfetto *r);

/* Reads the build ids, mappings, frames and callstacks of interned data. */
void filed_stacks_intern(struct perfetto *r, struct sequence *q, const struct pb_field *f);

/* Returns the stack with an iid, for a sample of a process; 0 if a part of the stack was never interned. */
tk_id filed_stacks_find(struct perfetto *r, struct sequence *q, uint64_t process, uint64_t iid);

#endif
