/* programs.h - the collectives of the programs that an input holds itself. */
#ifndef ALIGN_PROGRAMS_H
#define ALIGN_PROGRAMS_H

#include "align.h"

/* The HLO of XPlane: fills from->ops, which live in the arena.  False when memory runs out. */
bool align_programs(const struct tk_trace *t, struct align_source *from, struct arena *arena);

#endif
