/* merge.h - what the drivers share of merging: several inputs become graphs on one timeline, which go into a sink one after the
 * other.
 *
 *     merge.c          identifies, aligns and renumbers each input, hands its graph to the sink, and frees it
 *     merge_align.c    the first pass: what each host's clock is ahead
 *     merge_select.c   which part of the inputs is kept
 *     merge_order.c    in which order the rows of the inputs stand
 *     merge_block.c    what the output says of each rank
 *     merge_file.c     the sink is a file: tk_merge
 *     run_folder.c     instead of a sink: a file for each host
 *     load_merged.c    the sink is a graph: tk_sources_load_all */
#ifndef COMMAND_MERGE_H
#define COMMAND_MERGE_H

#include "graph/sink.h"

struct format;
struct out;
struct saver;
struct run_folder;

struct merge_scans;

/* Inputs that are found already: those from `first` on, n of them. */
struct merge_inputs {
  struct tk_sources *sources;
  size_t first, n;
  struct merge_scans *scans; /* what is known of them all, and none of them is at hand; NULL = they are */
  const struct format *weighed; /* how large they would be in this format is asked for; NULL = it is not */
  bool packed;                  /* ... and in gzip */
};

/* Where merged graphs go. */
struct merge_output {
  struct sink *sink;         /* is opened, written to and closed */
  struct saver *saver;       /* whose sink it is, which counts what its format cannot hold; NULL = it holds all */
  bool needs_start;          /* it has to know when the first of all events is before it is opened */
  bool own_order;            /* its viewers know nothing of sort indices: ranks come in their order */
  const struct mem *held;    /* memory that the sink holds on to, which is no longer there for inputs; NULL = none to speak of */
  struct manifest *manifest; /* instead of a sink: inputs go into a tar as they are, and it says where they stand */
  struct run_folder *run;    /* instead of a sink: each input becomes a file of its own, on the timeline of all */
  struct out *collectives;   /* the table of collectives goes here; NULL = nowhere */
  bool derive;               /* each input gets what tk_derive makes of it */
};

/* Begins a report, in which notes can be made before the merge.  False with err set when memory runs out. */
bool merge_report_init(struct tk_merge_report *report, size_t n_inputs, struct tk_err *err);
/* Are the options of a merge of n inputs such that they can be followed? */
bool merge_check_options(const struct tk_merge_options *opt, size_t n, struct tk_err *err);

/* Merges into an output that is ready, with options that have been checked, and tells in the report, which has been begun. */
bool merge_into(const struct merge_inputs *in, const struct merge_output *output, const struct tk_merge_options *opt,
                struct tk_merge_report *report, struct tk_err *err);

/* Merges into a graph that is new. */
bool merge_graph(struct tk_trace *t, const struct merge_inputs *in, const struct tk_merge_options *opt, struct out *collectives,
                 struct tk_merge_report *report, struct tk_err *err);
void merge_name(struct tk_trace *t, const char *source);

/* tk_merge of these inputs, into the file `path`. */
bool merge_inputs(const struct merge_inputs *in, const char *path, const struct tk_merge_options *opt,
                  struct tk_merge_report *report, struct tk_err *err);

#endif
