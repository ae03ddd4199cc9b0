/* copies.h - finds inputs that are copies of other inputs.
 *
 * If a file was given twice, perhaps under another name or with another base time, the two fit each other perfectly. The copy
 * has the clock of its original, shifted, and must not count as evidence for other clocks. */
#ifndef ALIGN_COPIES_H
#define ALIGN_COPIES_H

#include "report.h"

/* Sets `copy_of` and `copy_ns` of each input that has the same rank as another one and contains the same collectives, equal to
 * the nanosecond. Anchors are sorted by input. Returns false when memory runs out. */
bool copies_find(struct align_input *inputs, uint32_t n, const struct align_anchors *anchors);
/* Copies the result of each original to the host of its copy, shifted by copy_ns. Returns false when memory runs out. */
bool copies_place(const struct align_problem *p, struct align_solution *s, const struct align_input *inputs);

#endif
