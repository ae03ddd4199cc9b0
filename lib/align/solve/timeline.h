/* timeline.h - collectives as one clock saw them, and the common timeline on which clocks are placed.
 *
 *     anchors of a host -> its sights, by time          a sight: one collective, however many of the host's ranks took part
 *     sights of all placed hosts -> the common timeline, on the clock of the host placed first
 *
 * A host is compared with the common timeline instead of with another host: collectives that one rank lost were recorded by
 * another, and the evidence of all placed hosts counts at once. */
#ifndef ALIGN_SOLVE_TIMELINE_H
#define ALIGN_SOLVE_TIMELINE_H

#include "solve.h"
#include "base/map.h"

#define US 1e3 /* ns */
enum { ALIGN_NONE = UINT32_MAX };

struct sight {
  uint64_t label, exact;
  int64_t step;
  uint32_t nth, of;    /* index among the sights of its label in the step, from 0; their number */
  uint32_t ranks;      /* number of ranks in it */
  uint32_t collective; /* index on the common timeline; ALIGN_NONE = unknown */
  uint32_t next;       /* common timeline: next sight of this label; ALIGN_NONE = none */
  uint32_t anchor, n_anchors; /* range of the host's anchors */
  double end;          /* ns from the pivot: median over the ranks */
  double last_start, last_sent;     /* maximum over all ranks, and over awaited ranks; -INFINITY = none */
  double first_end, first_received; /* minimum over all ranks, and over waiting ranks; INFINITY = none */
  double variance;     /* common timeline, ns^2: variance of the placement of the clock that contributed it */
  bool equal, vague, coarse, loose, stepped;
  bool program;        /* its step is an execution of an XLA program, numbered by each device */
};

struct timeline {
  struct mem *mem;
  struct sight *v;
  uint32_t n, cap;
  struct map labels; /* label -> last sight that has it */
};

/* The part of a sight that every hypothesis reads, side by side in memory. */
struct head {
  uint64_t label;
  double end;
};

/* Sights of a clock and of the common timeline that may have been barriers and whose labels both have, by time. */
struct view {
  struct arena *arena;
  struct sight **a, **b; /* sights of the common timeline; sights of the clock */
  struct head *a_head, *b_head;
  uint32_t n_a, n_b, n_labels;
  bool vague;            /* includes sights with unknown members, for want of better ones */
  bool coarse;           /* the same, and from rows of CPUs */
};

void timeline_init(struct timeline *t, struct mem *mem);
void timeline_free(struct timeline *t);

/* True if another of the n anchors of a sight claims the same device as v[i] does. */
bool timeline_claims_twice(const struct align_anchor *v, uint32_t n, uint32_t i);
/* Writes the sights of n anchors of one host to out, which has room for n, in order of time, and returns their number.  Reorders the
 * anchors. */
uint32_t timeline_sights(struct align_anchor *v, uint32_t n, int64_t pivot_ns, struct sight *out);

/* Writes to *out the indices of the common sights whose labels occur among the host's n sights. Returns their number;
 * UINT32_MAX: out of memory. */
uint32_t timeline_alike(const struct timeline *common, const struct sight *host, uint32_t n, struct arena *arena, uint32_t **out);

/* Fills the view of a host's n sights. Returns false when memory runs out. */
bool timeline_view(const struct timeline *common, struct sight *host, uint32_t n, struct arena *arena, struct view *out);

/* Adds the host's sights to the common timeline, converted by a curve: sights matched to a collective join it, the others
 * become new ones. */
bool timeline_join(struct timeline *common, struct sight *host, uint32_t n, const struct curve *curve, double variance);

#endif
