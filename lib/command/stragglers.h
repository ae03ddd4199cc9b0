/* stragglers.h - which rank of a job is slow: told by what is known of all ranks before any is written.
 *
 * The words are those of a report on collectives (analysis/report.h): a rank waits from when it comes until the last one comes, and
 * what the last one costs is by how much it comes after the last but one. */
#ifndef COMMAND_STRAGGLERS_H
#define COMMAND_STRAGGLERS_H

#include "merger.h"

struct stragglers {
  struct merge_tally *tally; /* by input */
  uint32_t slow, typical;    /* inputs; UINT32_MAX = of so few ranks none is */
  uint32_t compared;         /* of which that is told */
  bool met;                  /* told by collectives, else by how long each lasts */
};

/* The slow one cost the others most by coming last; a typical one waited as long as half of the ranks did.  Where fewer than three met,
 * the slow one lasts longest, and a typical one as long as half of them. */
bool stragglers_find(struct stragglers *s, struct merger *m);
void stragglers_free(struct stragglers *s, struct merger *m);

/* What a plan says of them, by scans: in report->stragglers, which stragglers_free_report frees. */
bool stragglers_report(struct merger *m, const struct scan_list *list);
void stragglers_free_report(struct tk_merge_report *report);
/* Appends that as an object of JSON. */
void stragglers_print(struct buf *b, const struct tk_stragglers *s);

#endif
