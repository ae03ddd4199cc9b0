/* merging.h - options that merge shares with plan and view, which also merge traces: the option rows, and their translation to options
 * of the library.
 *
 * Each option row belongs to one family, and a command lists the families that it supports. plan has no ROWS_MERGE_ANCHORS, because a
 * scan has recorded the collectives already, and view has no ROWS_MERGE_PART, because it selects ranks and times as filter does. */
#ifndef CLI_SHARED_MERGING_H
#define CLI_SHARED_MERGING_H

#include "run.h"

struct merging {
  struct opt_choice align;
  struct opt_offsets offsets;
  struct opt_ranges ranks;
  const char *reference, *offsets_from, *anchor, *collectives, *label, *step, *time;
  uint64_t to;
  int64_t clock_error;
  int group_by, every_rank;
  bool link_collectives, require_align, to_zero;
};

extern const struct opt_word merging_align_words[], merging_group_words[];

/* These rows work for any command whose params struct has a member `merging`. */
#define MERGING(params, field) offsetof(params, merging.field)

#define ROWS_MERGE_CLOCKS(params, align_words)                                                                                 \
  { OPT_WORD, 0, "align", "HOW", "how to align the clocks of the hosts", MERGING(params, align), align_words, 0, 0 },          \
  { OPT_OFFSETS, 0, "offset", "RANK=TIME",                                                                                     \
    "shift this rank or host by this time instead of aligning it, such as 3=+1.5ms or host42=-20us",                           \
    MERGING(params, offsets), 0, 0, 0 },                                                                                       \
  { OPT_FILE, 0, "offsets-from", "REPORT",                                                                                     \
    "use the clock offsets in this report (see merge --align-report) or plan instead of measuring them",                       \
    MERGING(params, offsets_from), 0, 0, 0 },                                                                                  \
  { OPT_STRING, 0, "reference", "WHO",                                                                                         \
    "use the clock of this rank or host as the reference (default: that of the first input)", MERGING(params, reference), 0, 0, \
    0 },                                                                                                                       \
  { OPT_TIME, 0, "clock-error", "TIME", "typical difference between the wall clocks of hosts (default: 1ms)",                  \
    MERGING(params, clock_error), 0, 0, 0 }

#define ROWS_MERGE_ANCHORS(params)                                                                                             \
  { OPT_STRING, 0, "anchor", "REGEX",                                                                                          \
    "also treat spans with a matching name as collectives that all ranks leave together, such as barriers of your own library",\
    MERGING(params, anchor), 0, 0, 0 },                                                                                        \
  { OPT_FLAG, 0, "link-collectives", 0,                                                                                        \
    "add flows from the last rank that reached a collective to the ranks that waited for it",                                  \
    MERGING(params, link_collectives), 0, 0, 0 }

#define ROWS_MERGE_PART(params)                                                                                                \
  { OPT_FLAG, 0, "require-align", 0, "exit with status 1 unless the alignment of every host is reliable",                      \
    MERGING(params, require_align), 0, 0, 0 },                                                                                 \
  { OPT_FILE, 0, "collectives", "FILE",                                                                                        \
    "write a table of the collectives to this .csv or .json file: arrival times, and who waited for whom",                     \
    MERGING(params, collectives), 0, 0, 0 },                                                                                   \
  { OPT_RANGES, 0, "rank", "N..M", "keep only ranks in this range; clocks are compared using all ranks that are read",         \
    MERGING(params, ranks), 0, 0, 0 },                                                                                         \
  { OPT_STRING, 0, "step", "N..M", "keep only these training steps, counted per rank",                                         \
    MERGING(params, step), 0, 0, 0 },                                                                                          \
  { OPT_STRING, 0, "time", "A..B", "keep only this time range of the merged timeline, in the syntax of filter",                \
    MERGING(params, time), 0, 0, 0 },                                                                                          \
  { OPT_SIZE, 0, "to", "SIZE", "shrink the output to at most this size (100MB, 64KiB), as shrink does", MERGING(params, to), 0, \
    0, 0 }

#define ROWS_MERGE_LAYOUT(params)                                                                                              \
  { OPT_INT, 0, "every-rank", "N", "keep ranks 0, N, 2 N and so on", MERGING(params, every_rank), 0, 1, 1000000000 },          \
  { OPT_FLAG, 0, "to-zero", 0, "put the first event of all ranks at time 0", MERGING(params, to_zero), 0, 0, 0 },              \
  { OPT_STRING, 0, "label", "TEXT",                                                                                            \
    "name of each process (default: \"rank {rank} - {host} - {process}\"); other fields: {pid}, {input}, {run}, {step}",       \
    MERGING(params, label), 0, 0, 0 },                                                                                         \
  { OPT_WORD, 0, "group-by", "WHAT", "order of the rows of the timeline", MERGING(params, group_by), merging_group_words, 0, 0 }

/* Sets the fields of `options` from the values of these rows; the params still own the texts and lists. */
void merging_options(const struct merging *m, struct tk_merge_options *options);

#endif
