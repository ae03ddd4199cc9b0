/* posterior.h - estimates a clock's offset and the certainty of the estimate.
 *
 * No key (sequence number, step number, order within a step) decides by itself. Each is evidence for or against the hypotheses
 * in a common list. Each hypothesis pairs collectives of the clock with collectives of the common timeline, and thereby implies
 * an offset:
 *
 *     by sequence number                  equal numbers are paired
 *     by order, shifted by any number     the k-th of one side is paired with the (k + s)-th of the other
 *     by step, shifted by any number      counted from the start of the step, and from its end
 *     by vote                             offsets on which many pairs of equal label agree, even if collectives are missing
 *     none                                the recordings are unrelated
 *
 * All hypotheses are compared by one number (posterior.c), the sum of the evidence from ends, causality, missing partners, the
 * wall clock and the keys. No source of evidence excludes a hypothesis by itself, and a weak source cannot settle a doubt that
 * a strong key leaves. Ends do not outvote sequence numbers: an answer that contradicts sequence numbers is never trusted.
 *
 *     log W = tau (ends + causality + missing) + ln p(wall clock) + ln p(keys) + cost of a precise fit */
#ifndef ALIGN_SOLVE_POSTERIOR_H
#define ALIGN_SOLVE_POSTERIOR_H

#include "pieces.h"
#include "timeline.h"

#define ALIGN_TRUSTED 0.999
#define ALIGN_SLACK (4 * US) /* tolerance for causality: clocks count in us, and the recorded start is not exactly the kernel's */
enum { HYPOTHESES = 64, ALIGN_FEWEST = 4, ALIGN_ENOUGH_FOR_RUNS = 12 };

struct hypothesis {
  uint32_t *partner;  /* by collective of the clock (sight): index of its partner on the common timeline; ALIGN_NONE = no partner */
  uint32_t n;         /* number of pairs */
  uint64_t hash;      /* hash of the partners */
  uint32_t missed;    /* number of sights (recorded collectives) of both sides that should have a partner but have none */
  uint32_t outside;   /* number of other sights without a partner: before or after the common time */
  double offset;      /* ns: offset between the wall clocks, in the middle of the recording */
  double ends, causality, missing, keys, wall; /* nats: evidence by source; keys and wall are logarithms of probabilities */
  double scatter;     /* nats^2: variance of `ends` by chance */
  double log_weight, weight;
  struct pieces fit;
};

/* The question of how far a clock is ahead of the common timeline, with the prior knowledge about this clock. */
struct question {
  struct view *view;
  struct mem *mem;
  double base;         /* ns: pivot of the clock minus pivot of the common timeline */
  double clock_error;  /* ns: typical difference of wall clocks */
  double other_job;    /* prior probability that the two belong to two jobs */
  bool no_wall;        /* true if the wall clocks cannot be compared */
  double same;         /* prior probability that both clocks are the same; 0 = known to be two clocks */
};

/* A change from one residual to the next, in ns, and the time between them in octaves of us. */
struct beat {
  uint32_t octave;
  double step, residual;
};

struct hypotheses {
  const struct question *q;
  bool self;           /* true if the clock is paired with itself, to measure how regular its program is */
  struct hypothesis v[HYPOTHESES];
  uint32_t n;
  uint32_t aliases;    /* number of shifts by which the labels agree, that is, of answers that may be confused */
  uint32_t *partner;   /* scratch for one pairing */
  uint32_t *numbered;  /* by sight: partner by sequence number */
  struct point *points;
  double *room;        /* scratch, twice the size of the others */
  struct beat *beats;  /* scratch for one hypothesis */
};

struct alternative {
  double offset, weight; /* offset in ns between the wall clocks */
};

enum { ALTERNATIVES = 3 };

struct posterior {
  bool any;               /* true if there is at least one hypothesis */
  struct hypothesis best;
  double none;            /* weight of the answer that the recordings share nothing */
  double unless;          /* ns: the answer assumes a smaller difference of wall clocks; 0 = no assumption */
  struct alternative others[ALTERNATIVES]; /* other answers with the most weight, one per offset */
  uint32_t n_others;
  uint32_t n_points;
  struct point *points;   /* all points of the best answer, in the arena */
  uint32_t first, last;   /* range of points that agree with one another; outside of it, the clock may have been set */
  double mad, p95;        /* ns: median and 95th percentile of the residuals */
  double spread;          /* ns: approximately the largest residual, if so many ranks are late that it is the error; otherwise 0 */
  double shape;           /* ns: size of a pattern in the residuals that exceeds noise */
  uint32_t outliers;
  uint32_t numbered, kept; /* numbered: sights with a partner by sequence number; kept: those with the same partner in the answer */
  double by_number;       /* ns: offset between the wall clocks if equal sequence numbers are paired; valid if numbered > 0 */
  const char *doubt;      /* why the answer may be wrong; NULL = no objection */
};

/* Finds the most probable offset for the question, with its weight and its alternatives. Returns false when memory runs out. */
bool posterior_find(const struct question *q, struct arena *arena, struct posterior *out);

/* Returns by how many ns an offset exceeds the bounds that a pair implies; 0 if it does not. */
static inline double pair_beyond(const struct sight *a, const struct sight *b, double offset) {
  double low = fmax(b->last_sent - a->first_end, b->last_start - a->first_received);
  double high = fmin(b->first_end - a->last_sent, b->first_received - a->last_start);
  return fmax(0, fmax(low - offset, offset - high));
}

/* Returns the density, per us, of a difference between two clocks that are only related through wall time. */
double posterior_wall(const struct question *q, double offset);
/* Returns the probability density, per us, that unrelated recordings are `gap` us apart by wall clock. `span`: length of the
 * recordings. */
double posterior_gap(double gap, double span);

#endif
