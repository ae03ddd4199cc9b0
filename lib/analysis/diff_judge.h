/* diff_judge.h - means over the samples of a run, and the noise of their differences.
 *
 * A sample without a row counts as 0. Samples that exist in both runs are compared in pairs, so that differences between steps do
 * not count as noise. */
#ifndef ANALYSIS_DIFF_JUDGE_H
#define ANALYSIS_DIFF_JUDGE_H

#include "diff_set.h"

struct diff_judge {
  struct diff_set *set;
  double **v;   /* by side: values of the current row, by sample */
  uint32_t *at; /* by side: index of the next cell to read */
};

/* Means of one row in one run. */
struct diff_mean {
  uint64_t events;
  double count, total, self; /* times in picoseconds */
};

/* How the samples of two sides are matched. */
struct diff_pair {
  bool paired;    /* each sample of one side is paired with a sample of the other */
  bool by_number; /* true: pairs have equal step and rank numbers; false: pairs by order */
};

/* Prepares a placed set. Returns false if memory runs out; the caller frees the judge even then. */
bool judge_open(struct diff_judge *j, struct diff_set *set);
void judge_free(struct diff_judge *j);
struct diff_pair judge_pair(const struct diff_judge *j, uint32_t before, uint32_t after);

/* Store the values of a side in j->v and return their means: of a row (rows in ascending order), of the self times of all events,
 * and of the steps. */
struct diff_mean judge_row(struct diff_judge *j, uint32_t side, uint32_t row);
struct diff_mean judge_all(struct diff_judge *j, uint32_t side);
struct diff_mean judge_steps(struct diff_judge *j, uint32_t side);
/* Returns the 95% error of the difference of the means in j->v: a paired t-interval if samples are paired, otherwise Welch's; -1 if
 * there are too few samples. */
double judge_noise(const struct diff_judge *j, uint32_t before, uint32_t after, bool paired);
/* Returns the standard error of the mean in j->v; -1 if there are too few samples. */
double judge_error(const struct diff_judge *j, uint32_t side);
/* Returns the distribution of the values in j->v, and sorts them. */
struct tk_report_spread judge_spread(struct diff_judge *j, uint32_t side);

/* Returns the 97.5th percentile of Student's t-distribution. */
double judge_student(double freedom);

#endif
