/* groups.h - reads the process groups in a rank's metadata. */
#ifndef ALIGN_COLLECT_GROUPS_H
#define ALIGN_COLLECT_GROUPS_H

#include "collect.h"

/* Fills from->groups from distributedInfo.pg_config[], allocated in the arena. Returns false when memory runs out. */
bool align_groups(const struct tk_trace *t, struct align_source *from, struct arena *arena);

#endif
