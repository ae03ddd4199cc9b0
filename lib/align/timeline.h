/* timeline.h - collectives as one clock saw them, and the common timeline that clocks are placed upon.
 *
 *     anchors of a host -> its sights, by time          a sight: one collective, whatever number of the host's ranks were in it
 *     sights of all hosts that are placed -> the common timeline, on the clock of the one that was placed first
 *
 * A host is compared with the common timeline, not with another host: what one rank lost another one has, and the evidence of all that
 * are placed already counts at once. */
#ifndef ALIGN_TIMELINE_H
#define ALIGN_TIMELINE_H

#include "align.h"
#include "base/map.h"

#define US 1e3 /* ns */
enum { ALIGN_NONE = UINT32_MAX };

struct sight {
  uint64_t label, exact;
  int64_t step;
  uint32_t nth, of;    /* of its label in its step, counted from 0; how many there are */
  uint32_t ranks;      /* that were in it */
  uint32_t collective; /* which one of the common timeline; ALIGN_NONE = not known */
  uint32_t nth_in_view; /* room for whoever looks at some of them */
  uint32_t next;       /* on the common timeline: another one of this label, ALIGN_NONE = none */
  uint32_t anchor, n_anchors; /* of the host's */
  double end;          /* ns from the pivot: of the rank in the middle */
  double last_start, last_sent;     /* of all its ranks, of those that the others wait for; -INFINITY = of none */
  double first_end, first_received; /* of all its ranks, of those that wait for the others; INFINITY = of none */
  double variance;     /* ns^2, on the common timeline: of where the clock was placed that brought it */
  bool equal, vague, coarse, stepped;
  bool program;        /* its step is an execution of an XLA program: a number of its own device */
};

struct timeline {
  struct mem *mem;
  struct sight *v;
  uint32_t n, cap;
  struct map labels; /* label -> the last sight that has it */
};

/* A clock beside the common timeline: the sights that may have been barriers, of labels that both have, by time. */
struct view {
  struct arena *arena;
  struct sight **a, **b; /* of the common timeline; of the clock */
  uint32_t n_a, n_b, n_labels;
  bool vague;            /* for want of better ones, of those of which nobody knows who took part */
  bool coarse;           /* ... and which are rows of CPUs */
};

void timeline_init(struct timeline *t, struct mem *mem);
void timeline_free(struct timeline *t);

/* True if another of the n anchors of a sight claims the same device as v[i] does. */
bool timeline_claims_twice(const struct align_anchor *v, uint32_t n, uint32_t i);
/* Writes the sights of n anchors of one host to out, which has room for n, in order of time, and returns their number.  Reorders the
 * anchors. */
uint32_t timeline_sights(struct align_anchor *v, uint32_t n, int64_t pivot_ns, struct sight *out);

/* The common sights of all labels that a host's n sights have, as their numbers, in *out.  Returns how many; UINT32_MAX: no memory. */
uint32_t timeline_alike(const struct timeline *common, const struct sight *host, uint32_t n, struct arena *arena, uint32_t **out);

/* Fills the view of a host's n sights. */
bool timeline_view(const struct timeline *common, struct sight *host, uint32_t n, struct arena *arena, struct view *out);

/* The host's sights become a part of the common timeline, by a curve that takes its readings there: those that are matched to a
 * collective join it, the others are new ones. */
bool timeline_join(struct timeline *common, struct sight *host, uint32_t n, const struct curve *curve, double variance);

#endif
