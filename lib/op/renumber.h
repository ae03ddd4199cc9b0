/* renumber.h - adjusts one rank's graph so that it can be combined with others. */
#ifndef OP_RENUMBER_H
#define OP_RENUMBER_H

#include "graph/origin.h"
#include "graph/trace.h"
#include "label.h"

/* Ids in use, shared by all ranks. */
struct merge_ids {
  struct mem *mem;
  struct map pids;   /* pids in use */
  int64_t next_pid;  /* next pid for a process whose own pid is in use */
  int64_t first_id;  /* first id for flows and async events: rank k of n uses first_id + k, first_id + k + n and so on */
  uint32_t graphs, ordinal;
};

/* Old and new pid of a process. Pids are assigned in rank order, because a new pid must not be used by a previous rank. Afterwards,
 * different OS processes can write the ranks. */
struct pid_change {
  int64_t was, now;
};

/* Appends the original pids of processes with events, records or flow points, except pids that are strings. Returns the number of these
 * processes, including those with string pids. */
uint32_t renumber_pids_of(struct tk_trace *t, struct buf *pids);
/* Assigns a pid to each of n processes: its own or, if that is in use, a new one. Returns false if memory runs out. */
bool renumber_give_pid(struct merge_ids *ids, const int64_t *pids, uint32_t n, struct pid_change *changes);


void renumber_ids_init(struct merge_ids *ids, struct mem *mem);
void renumber_ids_free(struct merge_ids *ids);

struct merge_place {
  const char *label;  /* template for names of processes (label.h), which was checked */
  struct label_values values; /* values of template fields that all processes of the rank share */
  const char *machine; /* name of the machine: "rank 3 - host42" */
  const char *suffix; /* appended to string pids: " [rank 3]" */
  int64_t order;      /* sort position of the rank, or of its host; may be any number */
  const struct track_origin *origins; /* by track: rank and host; set only if the trace is merged and its processes are renamed */
  const struct pid_change *pids; /* pids assigned beforehand */
  uint32_t n_pids;
  bool by_kind;       /* sort all CPUs before all accelerators before the rest, each group by `order` */
};

/* Identity of a process before and after renumbering, for the report. */
struct merge_pid {
  tk_id track;
  struct tk_ident was;
  int64_t order; /* sort position among the processes of its rank */
  int64_t kind;  /* 0 = CPU, 1 = accelerator, 2 = neither */
};

/* Renumbers pids and ids of flows and async events; names and sorts the processes, and hides empty ones. Does not change times and
 * other args. Marks the graph as renamed. Stores the visible processes in `was`, which has room for t->n_tracks entries, and their
 * number in *n_was. */
bool renumber(struct tk_trace *t, struct merge_ids *ids, const struct merge_place *place, struct merge_pid *was, uint32_t *n_was,
              struct tk_err *err);

/* Names the processes of a graph whose ids must not change. Marks the graph as named. */
bool renumber_names(struct tk_trace *t, const struct merge_place *place, struct tk_err *err);

#endif
