/* names.h - collects names and steps for a scan, to find the names and steps in which a slow rank spends more time than
 * another. */
#ifndef SCAN_NAMES_H
#define SCAN_NAMES_H

#include "scan.h"

/* Returns a quantile (0..1) of the durations, in ns. */
uint64_t scan_quantile(const struct scan_name *name, double q);

/* Collect the steps and the names into `keep`; texts of names live as long as the trace. Return false if memory runs out. */
bool scan_take_steps(struct scan *s, const struct tk_trace *t, struct arena *keep);
bool scan_take_names(struct scan *s, const struct tk_trace *t, struct arena *keep);

/* Finds the time range of the steps first..last, from the start of their first span to the end of the last. Returns false if
 * there are none. */
bool scan_steps_range(const struct scan *s, int64_t first, int64_t last, int64_t *start_ns, int64_t *end_ns);

#endif
