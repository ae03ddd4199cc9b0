/* diff_judge.h - means over the samples of a run, and the noise of their differences.
 *
 * If a row has no events in a sample, its time there is 0. If both runs have equally many samples, these are compared in pairs, so that
 * differences between steps are not taken for noise. */
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
  bool paired;    /* true if each sample of one side is paired with a sample of the other */
  bool by_number; /* true: pairs have equal step and rank numbers; false: pairs by order */
};

/* Prepares to judge a set, after diff_set_place. Returns false if memory runs out; the caller frees the judge even then. */
bool judge_open(struct diff_judge *j, struct diff_set *set);
void judge_free(struct diff_judge *j);
struct diff_pair judge_pair(const struct diff_judge *j, uint32_t before, uint32_t after);

/* Each of these stores one value per sample of a side in j->v, and returns the means. judge_row: total times of a row; call it for rows
 * in ascending order. judge_all: self times of all events. judge_steps: durations of steps. */
struct diff_mean judge_row(struct diff_judge *j, uint32_t side, uint32_t row);
struct diff_mean judge_all(struct diff_judge *j, uint32_t side);
struct diff_mean judge_steps(struct diff_judge *j, uint32_t side);
/* Returns the half-width of the 95% confidence interval for the difference between the means of both sides' values in j->v. Uses a
 * paired t-test if samples are paired, otherwise Welch's t-test. Returns -1 if there are too few samples. */
double judge_noise(const struct diff_judge *j, uint32_t before, uint32_t after, bool paired);
/* Returns the standard error of the mean of the side's values in j->v; -1 if there are too few samples. */
double judge_error(const struct diff_judge *j, uint32_t side);
/* Returns the distribution of the side's values in j->v, and sorts these values. */
struct tk_report_spread judge_spread(struct diff_judge *j, uint32_t side);

/* Returns the 97.5th percentile of Student's t-distribution with `freedom` degrees of freedom. */
double judge_student(double freedom);

#endif
