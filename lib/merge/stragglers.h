/* stragglers.h - finds the slow rank of a job. Uses only data that is collected before any rank is written.
 *
 * The terms are the same as in the report on collectives (analysis/report.h): a rank waits from its own arrival until the last
 * one arrives, and the cost of the last rank is the time by which it arrives after the next-to-last. */
#ifndef MERGE_STRAGGLERS_H
#define MERGE_STRAGGLERS_H

#include "merger.h"

struct stragglers {
  struct merge_tally *tally; /* by input: sums over its collectives */
  uint32_t slow, typical;    /* indices of the slow input and a typical one; UINT32_MAX = too few ranks */
  uint32_t compared;         /* number of ranks compared */
  bool met;                  /* true: judged by waits in collectives; false: judged by duration */
};

/* Finds the slow rank (highest cost) and a typical rank (median wait). If fewer than three ranks took part in collectives, the slow
 * rank is the one with the longest duration, and the typical rank the one with the median duration. Returns false with m->err set if
 * memory runs out. */
bool stragglers_find(struct stragglers *s, struct merger *m);
void stragglers_free(struct stragglers *s, struct merger *m);

/* Fills report->stragglers for a plan, from scans. stragglers_free_report frees the result. Returns false on failure, with the
 * error in m->err. */
bool stragglers_report(struct merger *m, const struct scan_list *list);
void stragglers_free_report(struct tk_merge_report *report);
/* Appends the report as a JSON object. */
void stragglers_print(struct buf *b, const struct tk_stragglers *s);

#endif
