/* histogram.h - drawings for the page: durations and launch delays on a logarithmic axis, step times on a linear one. */
#ifndef CLI_REPORT_HISTOGRAM_H
#define CLI_REPORT_HISTOGRAM_H

#include "tracekit.h"

#include <stdio.h>

/* Bins first to first + n - 1 of histograms that share an axis; n 0: there are none. */
struct histogram_axis {
  size_t first, n;
};

/* Extends the axis so that it includes all bins of a histogram that are not empty. bins: may be NULL. */
void histogram_widen(struct histogram_axis *axis, const uint64_t *bins);
/* Draws a histogram; the height of a bar is its count relative to the largest. Draws nothing if bins is NULL. */
void histogram_draw(FILE *to, const struct histogram_axis *axis, const uint64_t *bins, const char *label);
/* Formats the ends of an axis: "from 1.02 us to 2.05 ms". */
const char *histogram_ends(const struct histogram_axis *axis, char *text, size_t n);

/* Draw the section of launch delays, and the step times of a rank as a histogram whose axis goes from `from` to `end`. */
void histogram_delays(FILE *to, const struct tk_report *r);
void histogram_steps(FILE *to, const struct tk_report_rank *row, tk_time from, tk_time end);

#endif
