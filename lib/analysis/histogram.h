/* histogram.h - counts durations in logarithmic bins (TK_REPORT_DURATIONS), for charts. */
#ifndef ANALYSIS_HISTOGRAM_H
#define ANALYSIS_HISTOGRAM_H

#include "base/mem.h"
#include "tracekit.h"

/* Returns the bin of a duration. */
size_t histogram_bin(tk_time time);
/* Counts a duration; the bins are allocated with the first duration. Returns false if memory runs out. */
bool histogram_add(uint64_t **bins, struct mem *mem, tk_time time);

#endif
