/* programs.h - finds collectives in the programs that an input embeds. */
#ifndef ALIGN_COLLECT_PROGRAMS_H
#define ALIGN_COLLECT_PROGRAMS_H

#include "collect.h"

/* Fills from->ops from the HLO of an XPlane, allocated in the arena. Returns false when memory runs out. */
bool align_programs(const struct tk_trace *t, struct align_source *from, struct arena *arena);

#endif
