/* posterior.h - estimates a clock's offset and the certainty of the estimate.
 *
 * A key (a sequence number, a step number, the order within a step) does not win or lose. It is evidence on one common list of
 * hypotheses. Each hypothesis pairs what the clock saw with collectives of the common timeline, and thereby implies an offset:
 *
 *     by sequence number                  equal numbers are paired
 *     by order, shifted by any number     the k-th of one is the (k + s)-th of the other
 *     by step, shifted by any number      counted from the front of the step, and from its end
 *     by vote                             the offsets on which many pairs of equal label agree, whatever is missing
 *     none                                the recordings are unrelated
 *
 * All are compared by one number (posterior.c), which adds the evidence of ends, causality, missing partners, the wall clock
 * and the keys. No source of evidence excludes a hypothesis, and a weak one overrules nothing: what a strong key leaves in
 * doubt stays in doubt. Ends do not outvote sequence numbers: an answer that contradicts them is never trusted.
 *
 *     log W = tau (ends + causality + missing) + ln p(wall clock) + ln p(keys) + cost of a precise fit */
#ifndef ALIGN_SOLVE_POSTERIOR_H
#define ALIGN_SOLVE_POSTERIOR_H

#include "pieces.h"
#include "timeline.h"

#define ALIGN_TRUSTED 0.999
#define ALIGN_SLACK (4 * US) /* tolerance for causality: clocks count us, and their start is not exactly the kernel's */
enum { HYPOTHESES = 64, ALIGN_FEWEST = 4, ALIGN_ENOUGH_FOR_RUNS = 12 };

struct hypothesis {
  uint32_t *partner;  /* by sight of the clock: index of its partner on the common timeline; ALIGN_NONE = none */
  uint32_t n;         /* pairs */
  uint64_t hash;      /* hash of the partners */
  uint32_t missed;    /* sights of either side that should have a partner and have none */
  uint32_t outside;   /* the same before or after the time that both recorded */
  double offset;      /* ns between the wall clocks, in the middle of the recording */
  double ends, causality, missing, keys, wall; /* nats; keys and wall are log probabilities */
  double scatter;     /* nats^2: variance of `ends` due to chance */
  double log_weight, weight;
  struct pieces fit;
};

/* The clock to place and what is known about it beforehand. */
struct question {
  struct view *view;
  struct mem *mem;
  double base;         /* ns: difference of the pivots of the clock and the common timeline */
  double clock_error;  /* ns: typical difference of wall clocks */
  double other_job;    /* prior probability that they belong to two jobs */
  bool no_wall;        /* the wall clocks cannot be compared */
  double same;         /* prior probability that both are one clock; 0 = known to be two */
};

/* A step from one residual to the next, in ns, after a time in octaves of us. */
struct beat {
  uint32_t octave;
  double step, residual;
};

struct hypotheses {
  const struct question *q;
  bool self;           /* the clock is paired with itself, to measure the regularity of its program */
  struct hypothesis v[HYPOTHESES];
  uint32_t n;
  uint32_t aliases;    /* number of shifts by which the labels agree: answers that may be confused */
  uint32_t *partner;   /* scratch for one pairing */
  uint32_t *numbered;  /* partners by sequence number */
  struct point *points;
  double *room;        /* scratch, twice the size */
  struct beat *beats;  /* scratch for one hypothesis */
};

struct alternative {
  double offset, weight; /* offset in ns between the wall clocks */
};

enum { ALTERNATIVES = 3 };

struct posterior {
  bool any;               /* at least one hypothesis exists */
  struct hypothesis best;
  double none;            /* weight of the answer that nothing is shared */
  double unless;          /* ns: the answer assumes that the wall clocks differ by less than this; 0 = no assumption */
  struct alternative others[ALTERNATIVES]; /* other answers with the most weight, one per offset */
  uint32_t n_others;
  uint32_t n_points;
  struct point *points;   /* all points of the best answer, in the arena */
  uint32_t first, last;   /* range of points that agree with the rest: outside, the clock may have been set */
  double mad, p95;        /* ns: of the residuals */
  double spread;          /* ns: largest residual, or nearly, if so many ranks are late that it is the error; else 0 */
  double shape;           /* ns: pattern in the residuals beyond noise */
  uint32_t outliers;
  uint32_t numbered, kept; /* number of sights with a partner by sequence number; number of these to which the best answer gives it */
  double by_number;       /* ns: offset between the wall clocks if equal numbers are paired; valid if numbered */
  const char *doubt;      /* objection to the answer; NULL = none */
};

/* Returns false when memory runs out. */
bool posterior_find(const struct question *q, struct arena *arena, struct posterior *out);

/* Returns the distance in ns of an offset beyond what the pair allows. */
static inline double pair_beyond(const struct sight *a, const struct sight *b, double offset) {
  double low = fmax(b->last_sent - a->first_end, b->last_start - a->first_received);
  double high = fmin(b->first_end - a->last_sent, b->first_received - a->last_start);
  return fmax(0, fmax(low - offset, offset - high));
}

/* Returns the density, per us, of a difference of two clocks that are related only through wall time. */
double posterior_wall(const struct question *q, double offset);
/* Returns the density of recordings that are `gap` us apart by the wall clock and share nothing but their length `span`. */
double posterior_gap(double gap, double span);

#endif
