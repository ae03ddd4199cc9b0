/* merge.h - merging, shared by the commands: several inputs become graphs on one timeline, which are written to a sink one
 * after the other.
 *
 *     merge.c          identifies, aligns and renumbers each input, passes its graph to the sink, and frees it
 *     align.c          first pass: estimates the clock offset of each host
 *     select.c         selects the part of each input to keep
 *     order.c          orders the rows of the inputs
 *     block.c          prints the output's description of each rank
 *     file.c           the sink is a file: tk_merge
 *     run_folder.c     instead of a sink: a file for each host
 *     graph.c          the sink is a graph: tk_sources_load_all */
#ifndef MERGE_MERGE_H
#define MERGE_MERGE_H

#include "graph/sink.h"

struct format;
struct out;
struct saver;
struct run_folder;

struct merge_scans;

/* Inputs that were already found: n of them, starting at index `first`. */
struct merge_inputs {
  struct tk_sources *sources;
  size_t first, n;
  struct merge_scans *scans; /* scans that replace all inputs; NULL = the inputs themselves are available */
  const struct format *weighed; /* format for which output sizes are estimated; NULL = no estimates */
  bool packed;                  /* true: sizes with gzip */
};

/* Destination of the merged graphs. */
struct merge_output {
  struct sink *sink;         /* opened, written to and closed by the merge */
  struct saver *saver;       /* owner of the sink, counts what the format cannot represent; NULL = it represents everything */
  bool needs_start;          /* start of the first event must be known before it is opened */
  bool own_order;            /* its viewers ignore sort indices: ranks are written in rank order */
  const struct mem *held;    /* memory that the sink keeps, which inputs cannot use; NULL = negligible */
  struct manifest *manifest; /* instead of a sink: the inputs go into a tar unchanged, with a manifest that places them on one
                              * timeline */
  struct run_folder *run;    /* instead of a sink: each input becomes a file of its own, on the common timeline */
  struct out *collectives;   /* destination of the table of collectives; NULL = no table */
  bool derive;               /* run tk_derive on each input */
};

/* Initialises a report; notes can be added before the merge. False with err set if memory runs out. */
bool merge_report_init(struct tk_merge_report *report, size_t n_inputs, struct tk_err *err);
/* False with err set if the options are invalid for a merge of n inputs. */
bool merge_check_options(const struct tk_merge_options *opt, size_t n, struct tk_err *err);

/* Merges into an output that is ready, with checked options, and fills the report, which must be initialised. */
bool merge_into(const struct merge_inputs *in, const struct merge_output *output, const struct tk_merge_options *opt,
                struct tk_merge_report *report, struct tk_err *err);

struct merger;

/* Starts a merge. The caller calls merge_end even on failure. */
bool merge_begin(struct merger *m, const struct merge_inputs *in, struct tk_err *err);
void merge_end(struct merger *m);

/* Ends the output with the blocks of all ranks and the data that belongs to no rank. */
bool merge_close(struct merger *m);

#endif
