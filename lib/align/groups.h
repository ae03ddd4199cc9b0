/* groups.h - the process groups that a rank lists in its metadata. */
#ifndef ALIGN_GROUPS_H
#define ALIGN_GROUPS_H

#include "align.h"

/* distributedInfo.pg_config[]: fills from->groups, which live in the arena.  False when memory runs out. */
bool align_groups(const struct tk_trace *t, struct align_source *from, struct arena *arena);

#endif
