/* shifts.h - finds lasting changes in a series of means, one per run.
 *
 * A change divides the series into two parts of at least two runs each. For each possible place of the change, Student's t-test
 * compares the means of the two parts; its noise is the spread of the runs within the parts, but at least the standard error of the
 * single means. The smallest probability of all places, multiplied by the number of places, is the probability that the change is due
 * to chance. If this is low enough, the change is accepted, and each part is searched for further changes. */
#ifndef ANALYSIS_SHIFTS_H
#define ANALYSIS_SHIFTS_H

#include "tracekit.h"

struct series {
  const double *v;     /* n means */
  const double *error; /* standard errors of the means; negative = unknown */
  uint32_t n;
};

/* Returns the corrected probability of the best change of the whole series; 1 if there are too few runs. */
double shifts_probability(const struct series *s);
/* Finds the changes with a corrected probability of at most `limit`. Stores them in `found`, which has room for n / 2, in the order of
 * the runs. Returns their number. */
uint32_t shifts_find(const struct series *s, double limit, struct tk_compare_shift *found);
/* Returns the two-sided probability of Student's t with `freedom` degrees of freedom. */
double shifts_of_t(double t, uint32_t freedom);
/* Returns the limit for probabilities at which the expected share of false positives among the accepted ones is `share` (Benjamini and
 * Hochberg). Sorts p. */
double shifts_limit(double *p, size_t n, double share);

#endif
