/* renumber.h - makes one rank's graph fit to stand beside others. */
#ifndef OP_RENUMBER_H
#define OP_RENUMBER_H

#include "graph/origin.h"
#include "graph/trace.h"
#include "label.h"

/* What all ranks share: the ids that are taken. */
struct merge_ids {
  struct mem *mem;
  struct map pids;   /* taken process ids */
  int64_t next_pid;  /* for those that are taken already */
  int64_t first_id;  /* of flows and async events: those of a rank are this + its ordinal, and every graphs-th from there */
  uint32_t graphs, ordinal;
};

/* What a process of a rank is called from now on.  Of all ranks in their order, whoever writes them: which pids are free depends on
 * those that came before. */
struct pid_change {
  int64_t was, now;
};

/* Appends the pids of the processes that have events, records or flow points of their own, as they are; strings are none.  Returns how
 * many such processes there are, those with strings too. */
uint32_t pids_of(struct tk_trace *t, struct buf *pids);
/* Gives each of n pids another one where it is taken. */
bool pids_give(struct merge_ids *ids, const int64_t *pids, uint32_t n, struct pid_change *changes);


void merge_ids_init(struct merge_ids *ids, struct mem *mem);
void merge_ids_free(struct merge_ids *ids);

struct merge_place {
  const char *label;  /* a template that has been checked */
  struct label_values values; /* what is the same for all processes of the rank */
  const char *machine; /* that its processes are of: "rank 3 - host42" */
  const char *suffix; /* of string pids: " [rank 3]" */
  int64_t order;      /* of the rank among all, or of its host's rows; any */
  const struct track_origin *origins; /* of a merged trace, by track: its processes are those of these ranks, and are named; or NULL */
  const struct pid_change *pids; /* what was given */
  uint32_t n_pids;
  bool by_kind;       /* all CPUs, then all accelerators, then the rest, each by `order` */
};

/* Which process became which: filled for the report. */
struct merge_pid {
  tk_id track;
  struct tk_ident was;
  int64_t order; /* its place among the processes of its rank */
  int64_t kind;  /* 0 CPU, 1 accelerator, 2 neither */
};

/* Renumbers pids, flow and async ids, labels and orders the processes, hides those that have no events.  Times and args stay as
 * they are; the graph is marked as renamed.  `was` has room for t->n_tracks entries; *n_was says how many processes are visible. */
bool renumber(struct tk_trace *t, struct merge_ids *ids, const struct merge_place *place, struct merge_pid *was, uint32_t *n_was,
              struct tk_err *err);

#endif
