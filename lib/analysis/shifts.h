/* shifts.h - finds lasting changes in a series of means of runs.
 *
 * A change divides the series in two parts of at least two runs each. For each possible place of the change, Student's t compares
 * the means of both parts; the spread within them is the noise, and is at least the standard error of the single means. The
 * smallest probability, multiplied by the number of places, is the probability of the change by chance. If that is low enough, the
 * change is kept, and both parts are searched for more changes in the same way. */
#ifndef ANALYSIS_SHIFTS_H
#define ANALYSIS_SHIFTS_H

#include "tracekit.h"

struct series {
  const double *v;     /* n means */
  const double *error; /* their standard errors; negative = unknown */
  uint32_t n;
};

/* Returns the corrected probability of the best change of the whole series; 1 if there are too few runs. */
double shifts_probability(const struct series *s);
/* Stores the changes with a corrected probability of at most `limit` in `found`, which has room for n / 2, in the order of the runs.
 * Returns their number. */
uint32_t shifts_find(const struct series *s, double limit, struct tk_compare_shift *found);
/* Returns the two-sided probability of Student's t with `freedom` degrees of freedom. */
double shifts_of_t(double t, uint32_t freedom);
/* Returns the limit up to which probabilities are accepted, so that `share` is the expected share of false positives among
 * them (Benjamini and Hochberg). Sorts p. */
double shifts_limit(double *p, size_t n, double share);

#endif
