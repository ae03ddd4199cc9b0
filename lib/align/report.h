/* report.h - writes the report of an alignment: table rows, a sentence for each host, JSON, and warnings. */
#ifndef ALIGN_REPORT_H
#define ALIGN_REPORT_H

#include "apply.h"

/* Data that the first pass of a merge keeps about an input. */
struct align_input {
  const char *name, *host; /* host: "" = unknown */
  int64_t rank, start_ns, given_ns;
  int64_t from_ns, to_ns; /* range of the selected times */
  struct align_gpu gpu;
  uint32_t copy_of; /* 1 + index of the input that this one copies; 0 = not a copy */
  int64_t copy_ns;  /* time in the copy minus time in the original, in ns */
  int64_t world; /* number of ranks in the input's job; 0 = unknown */
  const struct align_map *map; /* map that the user gave; NULL = use given_ns */
  int64_t barrier_ns; /* time of a barrier that all ranks recorded */
  bool has_barrier, by_barrier; /* by_barrier: given_ns was computed from barrier_ns */
  bool starts_on_host; /* true: the barrier is the zero of the host's clock, which is meaningful only if all inputs are of one host */
  bool merged;     /* the input contains several ranks */
  bool read, given, wanted; /* wanted: selected for the output */
  bool stated;     /* the input or its file name contains the rank */
  bool comparable; /* true if its clock can be compared with the first input's clock */
  bool has_clock;  /* true if the input records an absolute time */
};

struct align_reporter {
  struct tk_merge_report *report;
  enum tk_align align;
  const struct align_input *inputs;
  const struct align_problem *problem;
  const struct align_solution *solution;
  const struct align_map *maps; /* by input: clock map; valid if `mapped` */
  const bool *mapped;
  unsigned folders; /* number of folders before the name of a file that make all names different */
};

/* Fills in report->align. The report's notes own its strings and receive warnings. Returns false when memory runs out. */
bool align_report(const struct align_reporter *r);
/* Like align_report, for clocks that were not compared. Leaves out collectives even if they were collected for another purpose: a plan
 * collects them, but its report must equal the report of a merge. */
bool align_report_uncompared(const struct align_reporter *r);
/* Fills in report->align for a merge that did not compare clocks. one_host: true if all inputs come from one host, whose clock
 * can be trusted. Returns false when memory runs out. */
bool align_report_none(struct tk_merge_report *report, enum tk_align align, bool one_host);
void align_report_free(struct tk_merge_report *report);

#endif
