/* timeline.h - collectives as one clock saw them, and the common timeline on which clocks are placed.
 *
 *     anchors of a host -> its sights, by time          a sight: one collective, for all ranks of the host together
 *     sights of all placed hosts -> the common timeline, on the clock of the host placed first
 *
 * A host is compared with the common timeline rather than with another host, because a collective that one rank lost was
 * recorded by another rank, and because the evidence of all placed hosts then counts at once. */
#ifndef ALIGN_SOLVE_TIMELINE_H
#define ALIGN_SOLVE_TIMELINE_H

#include "solve.h"
#include "base/map.h"

#define US 1e3 /* ns */
enum { ALIGN_NONE = UINT32_MAX };

struct sight {
  uint64_t label, exact;
  int64_t step;
  uint32_t nth, of;    /* index among the sights of its label in the step, from 0; number of these sights */
  uint32_t ranks;      /* number of ranks that took part */
  uint32_t collective; /* index of the collective on the common timeline; ALIGN_NONE = unknown */
  uint32_t next;       /* on the common timeline: next sight of this label; ALIGN_NONE = none */
  uint32_t anchor, n_anchors; /* range of anchors in the host's array */
  double end;          /* ns from the pivot: median of the ranks' ends */
  double last_start, last_sent;     /* latest start of all ranks, and of ranks for which others wait; -INFINITY = none */
  double first_end, first_received; /* earliest end of all ranks, and of ranks that wait; INFINITY = none */
  double variance;     /* on the common timeline, ns^2: variance of the clock that contributed the sight */
  bool equal, vague, coarse, loose, keyed, stepped;
  bool program;        /* true if its step is an execution of an XLA program, which each device numbers itself */
};

struct timeline {
  struct mem *mem;
  struct sight *v;
  uint32_t n, cap;
  struct map labels; /* label -> index of the last sight with this label */
};

/* The members of a sight that every hypothesis reads, stored contiguously. */
struct head {
  uint64_t label;
  double end;
};

/* The sights of a clock and of the common timeline that may be barriers and whose labels occur on both sides, by time. */
struct view {
  struct arena *arena;
  struct sight **a, **b; /* a: sights of the common timeline; b: sights of the clock */
  struct head *a_head, *b_head;
  uint32_t n_a, n_b, n_labels;
  bool vague;            /* true if it includes sights whose members are unknown, because there are no better ones */
  bool coarse;           /* true if it includes CPU spans, because there are no better sights */
  bool keyed;            /* true if it includes sights from CPUs, on which ranks leave a collective when they are scheduled */
};

void timeline_init(struct timeline *t, struct mem *mem);
void timeline_free(struct timeline *t);

/* True if another of the n anchors of a sight claims the same device as v[i] does. */
bool timeline_claims_twice(const struct align_anchor *v, uint32_t n, uint32_t i);
/* Writes the sights of n anchors of one host to out, which has room for n, in order of time, and returns their number. Reorders the
 * anchors. */
uint32_t timeline_sights(struct align_anchor *v, uint32_t n, int64_t pivot_ns, struct sight *out);

/* Writes to *out the indices of the common sights whose labels occur among the host's n sights. Returns their number;
 * UINT32_MAX if memory runs out. */
uint32_t timeline_alike(const struct timeline *common, const struct sight *host, uint32_t n, struct arena *arena, uint32_t **out);

/* Fills the view of a host's n sights. Returns false when memory runs out. */
bool timeline_view(const struct timeline *common, struct sight *host, uint32_t n, struct arena *arena, struct view *out);

/* Adds the host's sights to the common timeline, converted by a curve. Sights with a known collective join it; the others
 * become new collectives. Returns false when memory runs out. */
bool timeline_join(struct timeline *common, struct sight *host, uint32_t n, const struct curve *curve, double variance);

#endif
