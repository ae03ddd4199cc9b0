/* diff_annotations.h - removes annotations that are not in all compared runs from the paths of operators.
 *
 * If a record_function or an NVTX range was added around operators, all paths below it differ from the paths of the other run.
 * After its row is removed, the operators of both runs have the same paths. */
#ifndef ANALYSIS_DIFF_ANNOTATIONS_H
#define ANALYSIS_DIFF_ANNOTATIONS_H

#include "diff_set.h"

/* Records that the row (1 + its index) is an annotation in the run `side`. Does nothing if memory runs out. */
void diff_annotations_see(struct diff_set *set, uint32_t side, uint32_t row);
/* Removes annotations that are missing in one of the runs from paths: moves the rows below each to the row above it. Work that was
 * launched directly by an annotation, without an operator, stays below it. Returns false if memory runs out. */
bool diff_annotations_splice(struct diff_set *set);
/* Adds a note on the annotations that were left out. */
void diff_annotations_say(const struct diff_set *set, struct tk_diagnostics *notes);

#endif
