/* collect.h - extracts anchors from graphs: the collectives of one input, in the form that the solver compares
 * (align/solve/solve.h). */
#ifndef ALIGN_COLLECT_COLLECT_H
#define ALIGN_COLLECT_COLLECT_H

#include "align/solve/solve.h"
#include "base/regexp.h"
#include "graph/origin.h"
#include "graph/trace.h"

/* A process group from the rank's metadata. Its list of ranks is complete, while the args of kernels may contain a truncated
 * list. */
struct align_group {
  const char *name;
  uint64_t members; /* hash of the member ranks */
  int64_t place;    /* position of the rank in the group; -1 = not a member */
};

/* A collective as its program defines it. This definition is complete, even if the kernels record less. */
struct align_op {
  uint64_t module, op;  /* hashes of their names, such as "jit_step" and "all-reduce.3" */
  uint64_t program;     /* id of the program in the process that ran it */
  const char *opcode;   /* HLO opcode, such as "all-reduce" */
  const char *groups;   /* replica groups in the syntax of HLO text (align/collect/replicas.h); NULL = unknown */
  bool global;          /* true: the groups list global device ids instead of replicas */
};

/* Properties of an input that its graph does not contain. */
struct align_source {
  uint32_t input;
  int64_t rank;       /* rank of the input; -1 = unknown */
  int64_t world;      /* number of ranks in the job; 0 = unknown */
  int64_t later_ns;   /* ns to add to the trace's timestamps */
  const struct track_origin *origins; /* for a merged trace: rank by track; NULL = the input has only one rank */
  const char *marker; /* glob for spans and instants to compare instead of collectives; NULL = compare collectives */
  struct regexp *anchor; /* spans whose names match also count as barriers; NULL = none */
  const struct align_group *groups;
  const struct align_op *ops;
  uint32_t n_groups, n_ops;
  bool one_group;     /* true if the job has only one process group, with all ranks */
  uint32_t most;      /* maximum number of anchors to keep, if the anchors have keys; 0 = 4,096 */
};

void align_anchors_init(struct align_anchors *a, struct mem *mem);
/* Collects the anchors of one input. Returns false when memory runs out. */
bool align_collect(struct align_anchors *a, const struct tk_trace *t, const struct align_source *from);
/* Thins out the anchors from index `first` on to at most `most`. Every rank keeps the same collectives. Does nothing if an anchor has
 * no key. */
void align_thin_out(struct align_anchors *a, uint32_t first, uint32_t most);
void align_anchors_free(struct align_anchors *a);

#endif
