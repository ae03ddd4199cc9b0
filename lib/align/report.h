/* report.h - the report of an alignment: table rows, a sentence for each host, JSON, and warnings. */
#ifndef ALIGN_REPORT_H
#define ALIGN_REPORT_H

#include "apply.h"

/* State that the first pass of a merge keeps for an input. */
struct align_input {
  const char *name, *host; /* host: "" = unknown */
  int64_t rank, start_ns, given_ns;
  int64_t from_ns, to_ns; /* range of times that is kept */
  struct align_gpu gpu;
  uint32_t copy_of; /* index + 1 of the input whose recording it contains as well; 0 = none */
  int64_t copy_ns;  /* ns by which its times are later than the times of that input */
  int64_t world; /* number of ranks in its job; 0 = unknown */
  const struct align_map *map; /* map supplied by the user; NULL = use given_ns */
  int64_t barrier_ns; /* a barrier that all ranks recorded */
  bool has_barrier, by_barrier; /* by_barrier: given_ns follows from it */
  bool starts_on_host; /* the barrier is the zero of the host's clock, which tells nothing if the inputs are of several hosts */
  bool merged;     /* contains several ranks */
  bool read, given, wanted; /* wanted: part of the output */
  bool stated;     /* the rank comes from the input or its file name */
  bool comparable; /* its clock can be compared with the first input's */
};

struct align_reporter {
  struct tk_merge_report *report;
  enum tk_align align;
  const struct align_input *inputs;
  const struct align_problem *problem;
  const struct align_solution *solution;
  const struct align_map *maps; /* by input */
  const bool *mapped;
};

/* Fills report->align. Its strings are owned by the report's notes, to which warnings are added. Returns false when memory runs
 * out. */
bool align_report(const struct align_reporter *r);
/* The same for a merge that did not compare clocks. */
bool align_report_none(struct tk_merge_report *report, enum tk_align align, bool one_host);
void align_report_free(struct tk_merge_report *report);

#endif
