/* merger.h - state of a merge that all ranks share.
 *
 *     plan.c          decides, before any rank is written, on clocks, places, pids and names
 *     rank.c          adjusts a rank to the others and writes it to the sink
 *     merge.c         writes all ranks in turn, in one process
 *
 * cluster/apply.c writes one rank, and cluster/concat.c joins the results. */
#ifndef MERGE_MERGER_H
#define MERGE_MERGER_H

#include "graph/diagnostics.h"
#include "merge.h"
#include "align.h"
#include "op/renumber.h"
#include "op/window.h"

/* Numbers and pids that were assigned to a rank. With them, the rank can be written without reading the other ranks. */
struct merge_place_of {
  int64_t slot; /* number of the rank, or if that is unknown the next free number */
  const struct pid_change *pids;
  uint32_t n_pids, first_row, rows; /* first_row, rows: as in struct sink (graph/sink.h) */
};

/* The part of the requested size that each input may use (share.h). */
struct merge_shares {
  uint64_t *of;   /* by input: bytes; NULL = the user requested no size */
  uint8_t *roles; /* by input: enum merge_role */
};

/* Sum of dropped events with the same name and kind of track. */
struct merge_gone_row {
  uint32_t kind, name;
  uint64_t count;
  i128 total_ps;
  const struct intern_str *text; /* the name; set only while rows are sorted */
};

struct merge_gone {
  struct mem *mem;
  struct intern names;
  struct map index;
  struct merge_gone_row *v;
  uint32_t n, cap;
};

struct merger {
  const struct tk_merge_options *opt;
  const struct merge_output *output;
  struct tk_sources *sources;
  const struct tk_input *inputs; /* the merged inputs, in `sources` */
  size_t first, n_inputs, n_merged;
  uint64_t n_events; /* events of the merged inputs */
  struct tk_merge_report *report;
  struct tk_err *err;
  struct merge_alignment alignment;
  unsigned folders;         /* number of parent folders that labels include so that input names differ */
  uint32_t *places;         /* by input: position of its processes; NULL = sorted by rank */
  struct mem mem;
  struct merge_ids ids;
  struct map ranks;        /* claimed rank -> 1 + input, or SLOT_RESERVED or SLOT_GIVEN (plan.c) */
  struct map fingerprints; /* hash of the contents -> 1 + input */
  struct tk_trace *first_trace; /* a trace with the top-level keys of the first input and the output's zero of time */
  struct merge_base base;  /* from the first input */
  struct window window;    /* selected time range, relative to the first event of the output */
  bool has_window;
  int64_t from_ns, to_ns;  /* time range of the inputs merged so far; valid if has_range */
  bool has_range;
  uint32_t next_row;       /* first row for the next input's processes */
  int64_t first_link;      /* id of the first flow between ranks */
  struct buf blocks;       /* blocks of the ranks as JSON, comma-separated */
  struct merge_scans *scans;    /* scans that replace the inputs; NULL = the inputs are available */
  struct scan_pids own_pids;   /* pids of the current input, if the alignment did not collect them */
  const struct merge_place_of *planned; /* place of the only rank to write; NULL = all ranks are written */
  struct merge_shares shares;
  struct merge_gone gone;
  const struct format *weighed; /* as in struct merge_inputs */
  bool packed;
  bool opened;
};

static inline bool merger_asks_for_time(const struct merger *m) { return m->opt->steps || m->opt->time; }

static inline const char *merger_text(struct merger *m, const char *text) {
  return diagnostics_text(m->report->notes, text);
}

static inline void merger_note(struct merger *m, const char *input, const char *text) {
  diagnostics_say(m->report->notes, input, TK_NOTE_INFO, text);
}

#endif

