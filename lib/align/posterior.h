/* posterior.h - where may this clock stand, and how sure is that?
 *
 * A key (a sequence number, the number of a step, the order within it) is no matcher that wins or loses.  It is evidence on one common
 * list of hypotheses, each of which pairs what the clock saw with collectives of the common timeline, and so says an offset:
 *
 *     by sequence number                  equal ones are one
 *     by order, shifted by any number     the k-th of the one is the (k + s)-th of the other
 *     by step, shifted by any number      counted from the front of the step, and from its end
 *     by vote                             the offsets that many pairs of equal label agree upon, whatever is missing
 *     none                                these collectives have nothing to do with each other
 *
 * All are compared by one number (posterior.c), which adds what the ends of collectives, causality, what is missing, the wall clock and
 * the keys say.  None removes another one, and a weak one overrules nobody: what a strong key leaves in doubt stays in doubt.
 *
 *     log W = tau (ends + causality + missing) + ln p(wall clock) + ln p(keys) + what a precise fit gives away */
#ifndef ALIGN_POSTERIOR_H
#define ALIGN_POSTERIOR_H

#include "pieces.h"
#include "timeline.h"

#define ALIGN_TRUSTED 0.999
#define ALIGN_SLACK (4 * US) /* of causality: clocks count us, and their begin is not their kernel's */
enum { HYPOTHESES = 64, ALIGN_FEWEST = 4, ALIGN_ENOUGH_FOR_RUNS = 12 };

struct hypothesis {
  uint32_t *partner;  /* by sight of the clock: which of the common timeline, ALIGN_NONE = none */
  uint32_t n;         /* pairs */
  uint64_t hash;      /* of the partners */
  uint32_t missed;    /* sights of either side that would have met and did not */
  uint32_t outside;   /* ... that were before or after what both recorded */
  double offset;      /* ns, of the wall clocks, in the middle */
  double ends, causality, missing, keys, wall; /* nats; keys and wall are logs of probabilities */
  double scatter;     /* nats^2: how much of `ends` is the luck of its pairs, as a variance */
  double log_weight, weight;
  struct pieces fit;
};

/* What is asked. */
struct question {
  struct view *view;
  struct mem *mem;
  double base;         /* ns: of the pivots of the clock and the common timeline */
  double clock_error;  /* ns: what the wall clocks are usually apart */
  double other_job;    /* how probable it is that they are of two jobs */
  bool no_wall;        /* they cannot be compared */
  double same;         /* how probable it is that they are one clock before anything is seen; 0 = they are known to be two */
};

/* A step from one residual to the next, ns, after a time of so many octaves of us. */
struct beat {
  uint32_t octave;
  double step, residual;
};

struct hypotheses {
  const struct question *q;
  bool self;           /* the clock is laid beside itself, to see how regular its program is */
  struct hypothesis v[HYPOTHESES];
  uint32_t n;
  uint32_t aliases;    /* shifts by which the labels agree: how many answers there are to confuse */
  uint32_t *partner;   /* room for one */
  uint32_t *numbered;  /* the partners by sequence number */
  struct point *points;
  double *room;        /* twice as many */
  struct beat *beats;  /* of one hypothesis */
};

/* All of them, not yet weighed (hypotheses.c). */
bool hypotheses_find(struct hypotheses *h, struct arena *arena);
/* The points that a hypothesis pairs, by time, every stride-th; of barriers alone.  Returns their number. */
uint32_t hypothesis_points(const struct hypotheses *h, const struct hypothesis *y, uint32_t stride, struct point *out);

struct alternative {
  double offset, weight; /* ns, of the wall clocks */
};

enum { ALTERNATIVES = 3 };

struct posterior {
  bool any;               /* there is a hypothesis at all */
  struct hypothesis best;
  double none;            /* weight of that there is nothing in common */
  double unless;          /* ns: it rests on the wall clocks being closer than that; 0 = it does not */
  struct alternative others[ALTERNATIVES]; /* those of most weight besides, each of one offset */
  uint32_t n_others;
  uint32_t n_points;
  struct point *points;   /* of the best, all of them, in the arena */
  uint32_t first, last;   /* of them that agree with the rest: beyond, the clock may have been set */
  double mad, p95;        /* ns: of its residuals */
  double shape;           /* ns: what is left of them besides noise */
  uint32_t outliers;
  const char *doubt;      /* what speaks against it, NULL = nothing */
};

/* False when memory runs out. */
bool posterior_find(const struct question *q, struct arena *arena, struct posterior *out);

/* How far an offset is beyond what the pair allows, ns. */
static inline double pair_beyond(const struct sight *a, const struct sight *b, double offset) {
  double low = fmax(b->last_sent - a->first_end, b->last_start - a->first_received);
  double high = fmin(b->first_end - a->last_sent, b->first_received - a->last_start);
  return fmax(0, fmax(low - offset, offset - high));
}

/* The density, per us, of a difference of two clocks that know nothing of each other but the wall clock. */
double posterior_wall(const struct question *q, double offset);
/* ... and of recordings that are so far apart, us by the wall clock, and have nothing in common but that each takes `span`. */
double posterior_gap(double gap, double span);

#endif
