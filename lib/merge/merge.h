/* merge.h - merges inputs: loads each input as a graph, moves it to a common timeline, and writes it to a sink.
 *
 *     merge.c          identifies, aligns and renumbers each input, passes its graph to the sink, and frees it
 *     align.c          first pass: estimates the clock offset of each host
 *     select.c         selects the part of each input to keep
 *     order.c          orders the rows of the inputs
 *     block.c          prints the output's description of each rank
 *     file.c           merges to a file: tk_merge
 *     run_folder.c     merges to a folder with a file for each host
 *     graph.c          merges to a graph: tk_sources_load_all */
#ifndef MERGE_MERGE_H
#define MERGE_MERGE_H

#include "graph/sink.h"

struct format;
struct out;
struct saver;
struct run_folder;

struct merge_scans;

/* The inputs of a merge: n inputs of `sources`, beginning with index `first`. */
struct merge_inputs {
  struct tk_sources *sources;
  size_t first, n;
  struct merge_scans *scans; /* scans that replace the inputs; NULL = the inputs themselves are available */
  const struct format *weighed; /* format for which output sizes are estimated; NULL = no estimates */
  bool packed;                  /* true: estimate the sizes after gzip */
};

/* Destination of the merged graphs. */
struct merge_output {
  struct sink *sink;         /* opened, written to and closed by the merge */
  struct saver *saver;       /* owner of the sink, which counts losses; NULL = the sink represents everything */
  bool needs_start;          /* true if the start of the first event must be known before the sink is opened */
  enum format_ids (*keeps_ids)(const struct tk_trace *t); /* same as in struct format */
  bool own_order;            /* true if ranks must be written in rank order, because viewers of the format ignore sort indices */
  const struct mem *held;    /* memory used by the sink, which reduces the limit for inputs; NULL = negligible */
  struct manifest *manifest; /* instead of a sink: writes the unchanged inputs into a tar, with a manifest of their clocks */
  struct run_folder *run;    /* used instead of a sink: writes each input to a file of its own, on the common timeline */
  struct out *collectives;   /* destination of the table of collectives; NULL = no table */
  bool derive;               /* true to run tk_derive on each input */
};

/* Initialises a report, so that notes can be added before the merge. Returns false with err set if memory runs out. */
bool merge_report_init(struct tk_merge_report *report, size_t n_inputs, struct tk_err *err);
/* Replaces the rows of the report with n empty rows, one for each rank. Returns false with err set if memory runs out. */
bool merge_report_ranks(struct tk_merge_report *report, size_t n, struct tk_err *err);
void merge_report_clear(struct tk_merge_report *report);
/* Frees the report after a failure. Always returns false, as a shorthand for callers that fail. */
bool merge_report_drop(struct tk_merge_report *report);
/* Returns false with err set if the options are invalid for a merge of n inputs. */
bool merge_check_options(const struct tk_merge_options *opt, size_t n, struct tk_err *err);

/* Merges into an output that is ready for writing. The options must be checked, and the report must be initialised. Returns
 * false with err on failure. */
bool merge_into(const struct merge_inputs *in, const struct merge_output *output, const struct tk_merge_options *opt,
                struct tk_merge_report *report, struct tk_err *err);

struct merger;

/* Starts a merge. Returns false with err on failure; the caller calls merge_end in any case. */
bool merge_begin(struct merger *m, const struct merge_inputs *in, struct tk_err *err);
void merge_end(struct merger *m);

/* Completes the output: writes the blocks of all ranks, and the data that belongs to no rank. Returns false on failure, with the error
 * in m->err. */
bool merge_close(struct merger *m);

#endif
