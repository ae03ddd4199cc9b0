/* findings.h - finds the figures of a report that exceed their thresholds, and describes each in a sentence.
 *
 *     findings.c         which figures, where, and in which order
 *     findings_words.c   the sentences */
#ifndef ANALYSIS_FINDINGS_H
#define ANALYSIS_FINDINGS_H

#include "report.h"
#include "thresholds.h"

/* The subject of a sentence. A finding is about the row with the highest figure; `others`: number of other rows beyond the
 * threshold of a warning. */
struct finding_case {
  const struct tk_report *r;
  enum threshold limit;
  bool host; /* the figure is about the host, not its devices */
  double figure, threshold;
  const struct tk_report_rank *row; /* NULL = the whole job */
  const struct tk_report_rank *last; /* last row beyond the threshold of a warning */
  uint64_t others;
  const struct tk_report_step *step;       /* the step that shows the finding best; NULL = none */
  const struct tk_report_kernel *kernel;   /* the kernel, if the finding is a dominant kernel */
  const struct tk_report_memory *memory;
  const struct tk_report_meeting *meeting; /* the slow rank, if the finding is a straggler */
};

/* Longest idle time of a device within the range on which its figures are based: its steps or its window. */
struct finding_gap {
  tk_time at, length; /* at: since the trace's first event */
  bool in_step;       /* the longest within a step; a gap between steps may be longer */
  uint64_t most;      /* number of gaps, at most 4, that together are over half of the idle time in the range; 0 = none */
};
struct finding_gap findings_gap_of(const struct tk_report_rank *row);
/* Returns the percentage of the idle time, in the range of findings_gap_of, during which the next work had already been
 * launched. Idle time before work without a known launch does not count as such. */
double findings_queued(const struct tk_report_rank *row);
/* True if the device was idle mostly although the next work had been launched. Calls that wait for such work are not the cause. */
static inline bool findings_is_stuck(const struct tk_report_rank *row) { return findings_queued(row) >= 50; }

/* Finds all findings of a complete report. Returns false if memory runs out. */
bool findings_make(struct tk_report *r);
/* Copies `advice` to `text`, and adds the inputs to the commands in it. */
void findings_commands(const struct finding_case *c, const char *advice, char *text, size_t n);
/* Returns advice on how to see what launches a kernel: by operators or annotations, whichever the trace contains. */
const char *findings_launchers(const struct finding_case *c);
/* Returns the advice to compare a straggler with another rank. */
const char *findings_compare(const struct finding_case *c);
/* Writes the advice for matrix products and convolutions in fp32 that do not use tensor cores. */
void findings_fp32(const struct finding_case *c, char *text, size_t n);
/* Writes the sentence to `text`, and advice to `advice`; its commands have no inputs yet. */
void findings_say(const struct finding_case *c, char *text, size_t n, char *advice, size_t n_advice);

#endif
