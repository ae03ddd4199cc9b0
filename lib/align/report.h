/* report.h - what is said of an alignment: rows, a sentence for each host, JSON, and the warnings. */
#ifndef ALIGN_REPORT_H
#define ALIGN_REPORT_H

#include "align.h"

/* What the first pass of a merge keeps of an input. */
struct align_input {
  const char *name, *host; /* host: "" = unknown */
  int64_t rank, start_ns, given_ns;
  int64_t from_ns, to_ns; /* of what is kept of it */
  int64_t world; /* ranks of its job, 0 = unknown */
  const struct align_map *map; /* that was given; NULL = given_ns is */
  bool merged;     /* of several ranks */
  bool read, given, wanted; /* wanted: it goes into the output */
  bool stated;     /* its rank is what it says, or its name */
  bool comparable; /* its clock with that of the first input */
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

/* Fills report->align; its strings live with the report's notes, among which the warnings go.  False when memory runs out. */
bool align_report(const struct align_reporter *r);
/* ... of a merge that compared no clocks. */
bool align_report_none(struct tk_merge_report *report, enum tk_align align, bool one_host);
void align_report_free(struct tk_merge_report *report);

#endif
