/* merger.h - one merge: what its ranks share, and what becomes of each.
 *
 *     merge_plan.c    what is settled before any rank is written: clocks, places, pids, names
 *     merge_rank.c    a rank is made fit to stand beside the others, and goes into the sink
 *     merge.c         all ranks in their turn, in one process; apply.c: one of them; concat.c: what was written of each */
#ifndef COMMAND_MERGER_H
#define COMMAND_MERGER_H

#include "graph/diagnostics.h"
#include "merge.h"
#include "merge_align.h"
#include "op/renumber.h"
#include "op/window.h"

/* Of one rank among all, what is known without the others. */
struct merge_place_of {
  int64_t slot; /* its rank, or the next one that nobody has claimed */
  const struct pid_change *pids;
  uint32_t n_pids, first_row, rows; /* as a sink has them */
};

/* What each may spend of the size that is asked for (merge_share.h). */
struct merge_shares {
  uint64_t *of;   /* by input, bytes; NULL = no size is asked for */
  uint8_t *roles; /* enum merge_role */
};

/* Events of one name on one kind of track that are no longer there. */
struct merge_gone_row {
  uint32_t kind, name;
  uint64_t count;
  i128 total_ps;
  const struct intern_str *text; /* the name, when rows are sorted */
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
  const struct tk_input *inputs; /* those of the sources that are merged */
  size_t first, n_inputs, n_merged;
  uint64_t n_events; /* of those that were merged */
  struct tk_merge_report *report;
  struct tk_err *err;
  struct merge_alignment alignment;
  unsigned folders;         /* of an input's path that tell it from the others, in labels */
  uint32_t *places;         /* of the rows, by input; NULL = by rank */
  struct mem mem;
  struct merge_ids ids;
  struct map ranks;        /* ranks that are taken -> input + 1 */
  struct map fingerprints; /* of contents -> input + 1 */
  struct tk_trace *first_trace; /* metas of the first input; its zero of time, or that of the earliest event */
  struct merge_base base;  /* the first input's */
  struct window window;    /* of the output, from its first event on; */
  bool has_window;
  uint32_t next_row;       /* of the next input's processes */
  int64_t first_link;      /* id of the first flow between ranks */
  struct buf blocks;       /* JSON of the ranks, comma-separated */
  struct merge_scans *scans;    /* in place of the inputs, which are not at hand; NULL = they are */
  struct scan_pids own_pids;   /* of the input at hand, where the alignment knows none */
  const struct merge_place_of *planned; /* of the one rank that is written; NULL = of each when it comes */
  struct merge_shares shares;
  struct merge_gone gone;
  const struct format *weighed; /* as in merge_inputs */
  bool packed;
  bool opened;
};

/* Of a merge that merger_begin began; merger_end frees what it holds in any case. */
bool merger_begin(struct merger *m, const struct merge_inputs *in, struct tk_err *err);
void merger_end(struct merger *m);

/* A single input stays as it is, unless more is asked for: merging one trace is converting it. */
bool merger_joins(const struct merger *m);
static inline bool merger_asks_for_time(const struct merger *m) { return m->opt->steps || m->opt->time; }
const char *merger_label(const struct merger *m);

static inline const char *merger_text(struct merger *m, const char *text) {
  return diagnostics_text(m->report->notes, text);
}

static inline void merger_note(struct merger *m, const char *input, const char *text) {
  diagnostics_say(m->report->notes, input, TK_NOTE_INFO, text);
}

/* ---- merge_plan.c ---- */

/* Clocks, the order of inputs and rows, and how much of names tells inputs apart. */
bool merger_plan(struct merger *m);
/* The place of an input that claims this rank, -1 = none; *claimed becomes what it claims, *other the input that did so before, + 1. */
int64_t merger_slot(struct merger *m, size_t input, int64_t rank, int64_t *claimed, uint32_t *other);
/* Which pids its processes get, of which these are those that show: the next input's, behind those that were given.  NULL when memory
 * runs out; the caller frees it. */
struct pid_change *merger_pids(struct merger *m, const int64_t *pids, uint32_t n);

/* ---- merge_rank.c ---- */

/* Makes the trace of an input fit to stand beside the others, and writes it. */
bool merger_write(struct merger *m, size_t input, struct tk_trace *t);
/* Begins the output, whose top-level keys are those of this trace. */
bool merger_open(struct merger *m, const struct tk_trace *t);

/* ---- merge.c ---- */

/* The output ends: what is said of all ranks, and what is of no rank. */
bool merger_close(struct merger *m);

#endif

