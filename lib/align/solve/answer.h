/* answer.h - fits the points of the hypothesis with the most weight, and measures their distances from the fit. */
#ifndef ALIGN_SOLVE_ANSWER_H
#define ALIGN_SOLVE_ANSWER_H

#include "hypotheses.h"

/* Fits out->best, and sets its offset, the points, their residuals and out->doubt. Returns false when memory runs out. */
bool answer_fit(const struct hypotheses *h, struct arena *arena, struct posterior *out);

#endif
