/* renumber.h - adjusts one rank's graph so that it can be combined with others. */
#ifndef OP_RENUMBER_H
#define OP_RENUMBER_H

#include "graph/origin.h"
#include "graph/trace.h"
#include "label.h"

/* Ids that are taken, shared by all ranks. */
struct merge_ids {
  struct mem *mem;
  struct map pids;   /* taken process ids */
  int64_t next_pid;  /* next pid for a process whose pid is taken */
  int64_t first_id;  /* of flows and async events: a rank uses first_id + its ordinal, and every graphs-th id from there on */
  uint32_t graphs, ordinal;
};

/* New pid of a process. Pids are assigned in the order of the ranks, whatever process writes them, because the free pids depend
 * on the ranks before. */
struct pid_change {
  int64_t was, now;
};

/* Appends the original pids of processes that have events, records or flow points; string pids are left out. Returns the number
 * of these processes, including those with string pids. */
uint32_t renumber_pids_of(struct tk_trace *t, struct buf *pids);
/* Assigns a pid to each of n processes: its own, or a new one if that is taken. False if memory runs out. */
bool renumber_give_pid(struct merge_ids *ids, const int64_t *pids, uint32_t n, struct pid_change *changes);


void renumber_ids_init(struct merge_ids *ids, struct mem *mem);
void renumber_ids_free(struct merge_ids *ids);

struct merge_place {
  const char *label;  /* a valid template */
  struct label_values values; /* values that are the same for all processes of the rank */
  const char *machine; /* name of the machine: "rank 3 - host42" */
  const char *suffix; /* appended to string pids: " [rank 3]" */
  int64_t order;      /* position of the rank, or of its host's rows; may be any number */
  const struct track_origin *origins; /* for a merged trace: rank by track; its processes already have names; or NULL */
  const struct pid_change *pids; /* assigned pids */
  uint32_t n_pids;
  bool by_kind;       /* all CPUs, then all accelerators, then the rest, each by `order` */
};

/* Identity of a process before and after, for the report. */
struct merge_pid {
  tk_id track;
  struct tk_ident was;
  int64_t order; /* position among the processes of its rank */
  int64_t kind;  /* 0 = CPU, 1 = accelerator, 2 = neither */
};

/* Renumbers pids and the ids of flows and async events; labels and orders the processes, and hides those without events. Times
 * and other args stay unchanged; the graph is marked as renamed. `was` has room for t->n_tracks entries; *n_was becomes the
 * number of visible processes. */
bool renumber(struct tk_trace *t, struct merge_ids *ids, const struct merge_place *place, struct merge_pid *was, uint32_t *n_was,
              struct tk_err *err);

#endif
