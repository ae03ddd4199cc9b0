/* findings.h - finds the figures of a report that exceed their thresholds, and describes each in a sentence.
 *
 *     findings.c         rules: which figures exceed thresholds, where, and in which order
 *     findings_idle.c    figures about idle time and launches that both need
 *     findings_memory.c  what they say about memory
 *     findings_words.c   the sentences */
#ifndef ANALYSIS_FINDINGS_H
#define ANALYSIS_FINDINGS_H

#include "report.h"
#include "thresholds.h"

/* Data for the sentence of a finding. The finding is about the row with the highest figure. `others`: number of other rows beyond the
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
  const struct tk_report_function *function; /* the function, if the finding is a dominant function */
  const struct tk_report_memory *memory;
  const struct report_oom *oom;            /* the first allocation that failed */
  const struct tk_report_meeting *meeting; /* the slow rank, if the finding is a straggler */
};

/* Longest idle gap of a device, in the range from which its figures are computed: its steps or its window. */
struct finding_gap {
  tk_time at, length; /* at: since the trace's first event */
  bool in_step;       /* the gap is the longest within steps; a gap between steps may be longer */
  uint64_t most;      /* number of the longest gaps, at most 4, that together exceed half of the idle time; 0 = more than 4 are
                         needed */
};
struct finding_gap findings_gap_of(const struct tk_report_rank *row);
/* Returns the percentage of the idle time during which the next work was already launched, in the range of findings_gap_of. Idle time
 * before work with an unknown launch counts as time in which it was not launched. */
double findings_queued(const struct tk_report_rank *row);
/* True if the next work was already launched during most of the idle time. Then calls that wait for the work are not the cause. */
static inline bool findings_is_stuck(const struct tk_report_rank *row) { return findings_queued(row) >= 50; }

/* The activity of the host during the largest part of a device's idle time. */
struct finding_cause {
  tk_time time;
  const char *words;
};
struct finding_cause findings_main_cause(const struct tk_report_split *s);
/* True if the trace does not show what the host did: the row counts no operator and no call and most of the idle time is without host
 * activity, or nearly all of it is. */
bool findings_lacks_host(const struct tk_report_rank *row);
/* Returns the end of the advice on idle time: how to shorten it, or how to record what caused it. */
const char *findings_remedy(const struct tk_report_rank *row);
/* Returns the number of blocks of a grid such as "8,1,1"; 0 if it is unknown, NULL or too large to be of interest. */
uint64_t findings_blocks(const char *grid);
/* With fewer blocks, a launch cannot use a device: every GPU for data centers has at least 40 multiprocessors. */
enum { FINDINGS_FEW_BLOCKS = 40 };

/* Finds all findings of a complete report. Returns false if memory runs out. */
bool findings_make(struct tk_report *r);
/* Copies `advice` to `text`, and adds the input files to the commands in it. */
void findings_commands(const struct finding_case *c, const char *advice, char *text, size_t n);
/* What the trace shows about the launches of a kernel. */
enum finding_launchers { LAUNCHED_BY_OPERATORS, LAUNCHED_BY_ANNOTATIONS, LAUNCHED_BY_UNKNOWN };
enum finding_launchers findings_launchers(const struct finding_case *c);
/* Returns the advice to compare a straggler with another rank. */
const char *findings_compare(const struct finding_case *c);
/* Writes the advice for matrix products and convolutions in fp32 that do not use tensor cores. */
void findings_fp32(const struct finding_case *c, char *text, size_t n);
/* Writes the sentence on a peak of memory, without the threshold. */
void findings_memory(const struct finding_case *c, char *text, size_t n);
/* True if nearly all of the peak was allocated before the recording began, which therefore does not show how to lower it. */
bool findings_is_early(const struct finding_case *c);
/* Writes the sentence on allocations that failed. */
#define FINDINGS_OOM_ADVICE \
  "the table of memory at the peak lists what was allocated; if much more was reserved than allocated, memory is fragmented " \
  "(in PyTorch: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True)"
void findings_oom(const struct finding_case *c, char *text, size_t n);
/* Writes the sentence to `text`, and the advice to `advice`. Commands in the advice have no input files yet (findings_commands). */
void findings_say(const struct finding_case *c, char *text, size_t n, char *advice, size_t n_advice);

#endif
