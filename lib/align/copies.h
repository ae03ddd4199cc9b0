/* copies.h - inputs that are another recording's copy.
 *
 * A file that is there twice, perhaps under another name or with another base time, fits itself perfectly. It has the clock of its
 * original, shifted, and is no witness for anything else. */
#ifndef ALIGN_COPIES_H
#define ALIGN_COPIES_H

#include "report.h"

/* Sets `copy_of` and `copy_ns` of inputs that state the rank of another one and contain its collectives, to the nanosecond. Anchors
 * are ordered by input. Returns false when memory runs out. */
bool copies_find(struct align_input *inputs, uint32_t n, const struct align_anchors *anchors);
/* Gives the host of each copy the result of its original. Returns false when memory runs out. */
bool copies_place(const struct align_problem *p, struct align_solution *s, const struct align_input *inputs);

#endif
