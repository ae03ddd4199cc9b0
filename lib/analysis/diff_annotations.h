/* diff_annotations.h - leaves annotations that only some of the compared runs have out of the paths of operators.
 *
 * A record_function or an NVTX range around operators makes all paths below it new. Without its row, the operators of both runs have
 * the same paths. */
#ifndef ANALYSIS_DIFF_ANNOTATIONS_H
#define ANALYSIS_DIFF_ANNOTATIONS_H

#include "diff_set.h"

/* Records that a row (1 + its index) of a path is an annotation of a run. Does nothing if memory runs out. */
void diff_annotations_see(struct diff_set *set, uint32_t side, uint32_t row);
/* Moves the rows below annotations that some run does not have to the rows above. Work that an annotation launched without an operator
 * remains below it. Returns false if memory runs out. */
bool diff_annotations_splice(struct diff_set *set);
/* Adds a note on the annotations that were left out. */
void diff_annotations_say(const struct diff_set *set, struct tk_diagnostics *notes);

#endif
