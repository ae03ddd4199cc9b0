/* solve.h - puts the clocks of several hosts onto one, using the collectives that their ranks share.
 *
 *     graphs -> anchors -> sights: what one clock saw (timeline.c) -> hypotheses of where that belongs on the common timeline
 *     (hypotheses.c) -> their weights (posterior.c) -> a map for each host (pieces.c, solve.c) -> causality (check.c) -> the graphs
 *
 * Only the ENDS of collectives are compared: an early rank starts early and waits, but all ranks leave within microseconds. A
 * host's clock reads c(t) = t + offset; its map removes the offset. The map is a constant, a line if the clock drifts, or
 * several lines if the clock was set. It is always monotone, so order and nesting survive. All functions here are pure: numbers
 * in, numbers out.
 *
 * A result is not trusted just because it was computed. Every possible answer gets a weight, including the answer that the
 * hosts share nothing. A host is trusted if one answer outweighs the sum of all others, keeps causality, and leaves residuals
 * that noise explains. Otherwise it stays on its wall clock. */
#ifndef ALIGN_SOLVE_SOLVE_H
#define ALIGN_SOLVE_SOLVE_H

#include <math.h>

#include "base/intern.h"
#include "base/mem.h"
#include "curve.h"

/* Constraints that the end and the start of an anchor impose. */
enum align_says {
  ALIGN_EQUAL = 1,    /* all members leave it together */
  ALIGN_SENDS = 2,    /* no other member leaves before this one arrives */
  ALIGN_RECEIVES = 4, /* it does not leave before all the others have arrived */
  ALIGN_BARRIER = 7,
  ALIGN_VAGUE = 8,    /* at best as good as EQUAL: the members are unknown */
  ALIGN_COARSE = 16,  /* with VAGUE: a CPU row, which records when it was launched or awaited */
  ALIGN_LOOSE = 32    /* ranks of one host leave it farther apart than ranks of NCCL do */
};

/* One collective on one device of a rank. Keys are hashes of what the trace records about it; 0 = not recorded. */
struct align_anchor {
  uint64_t exact;     /* group and sequence number */
  uint64_t label;     /* name and sizes */
  uint64_t module;    /* XLA: the program that contains it */
  int64_t start, end; /* ns since the epoch, on the input's clock */
  int64_t run;        /* XLA: the device's own counter of executions of the program, if recorded */
  int64_t step;       /* number of its step; valid if stepped */
  uint32_t input, device; /* index of the device within the input */
  uint32_t execution; /* XLA: ordinal of the execution among the device's executions with anchors, from 1 */
  uint32_t op;        /* scratch of the collector */
  uint32_t name, group; /* ids in align_anchors.texts; 0 = unknown */
  int64_t seq, bytes; /* as recorded; -1 = not recorded */
  uint8_t says;
  bool has_run, stepped;
};

struct align_anchors {
  struct mem *mem;
  struct align_anchor *v;
  uint32_t n, cap;
  bool all;            /* keep every anchor: no thinning out */
  bool described;      /* record names, sequence numbers and bytes */
  struct intern texts; /* names of anchors and groups */
};

/* Offset of a clock as a function of its reading: `offset_ns` plus a curve over (reading - pivot_ns). */
struct align_map {
  int64_t pivot_ns, offset_ns;
  struct curve curve;
};

enum align_state {
  ALIGN_ALONE,     /* shares no collective with another host */
  ALIGN_REFERENCE, /* its clock defines the timeline */
  ALIGN_GOOD,
  ALIGN_APART,     /* as GOOD, but only relative to hosts that are not connected to the reference */
  ALIGN_ROUGH,     /* as POOR, but the wall clock is certainly wrong: by it the collectives never met */
  ALIGN_POOR       /* has an estimate that is not trusted */
};

/* A stretch of a clock's readings during which its offset is a line; errors are 95% bounds. */
struct align_stretch {
  int64_t from_ns, to_ns;
  double error_ns;       /* in the middle of the stretch */
  double slope_error;
};

/* Readings between two stretches: the clock was set there, at an unknown moment. If it was set back, it showed some readings
 * twice, and the gap reaches into both stretches. */
struct align_gap {
  int64_t from_ns, to_ns;
  double error_ns; /* the jump and the error beside it */
};

/* By how much the GPU clock of an input may be ahead of its CPU clock, in ns, as launches and waits bound it; infinite = unknown. */
struct align_gpu {
  double low, high;
};

struct align_other {
  double offset_ns, weight;
};

enum { ALIGN_OTHERS = 3 };

struct align_host {
  enum align_state state;
  const char *why;        /* ROUGH and POOR: the objection to the estimate; other states: NULL, or what its trust depends on */
  uint32_t root;          /* host whose clock it was put on: the reference, itself, or the leader of a group without connection
                           * to the reference */
  struct align_map map;   /* valid for GOOD, APART, ROUGH and POOR */
  uint32_t anchors, rejected;
  double mad_ns, p95_ns;  /* of the residuals against other hosts */
  double error_ns;        /* 95% bound at the worse end of the worst stretch */
  struct align_stretch *stretches; /* owned by the solution */
  uint32_t n_stretches;
  struct align_gap *gaps;          /* n_stretches - 1 */
  bool cut_front, cut_back;        /* collectives before the first or after the last stretch disagree: the clock may have been set */
  double weight;          /* of the estimate among all possible answers, 0..1 */
  double unless_ns;       /* the estimate is right unless the wall clocks differed by more than this; 0 = unconditionally */
  struct align_other others[ALIGN_OTHERS];
  uint32_t n_others;      /* other hosts behind the estimate */
  bool bounded, feasible; /* whether collectives bound the clock at all; whether the bounds are consistent */
  double low_ns, high_ns; /* range by which the offset may grow before a rank leaves a collective that another has not reached
                           */
  uint32_t before, after; /* number of causality violations, by wall clock and after alignment */
  uint32_t never_met;     /* number of collectives during which, by wall clock, no other host was in the same one */
  double moved_ns;        /* shift applied to restore causality */
  bool assumed;           /* only the host name suggests that all its inputs share a clock */
  bool of_gpu;            /* its GPU clock is, or may be, off from its CPU clock: the estimate is for the GPU rows */
  struct align_gpu gpu;   /* of its inputs, together */
  double spread_ns;       /* largest distance of a collective from the estimate, if that is the error; else 0 */
  double trend_ns;        /* part of the error: its ranks are as much later than the reference's as a trend along ranks predicts */
  bool contradicts;       /* sequence numbers do not support the estimate, but: */
  double by_number_ns;    /* this offset */
  uint32_t joined;        /* number of hosts that were merged into it because they share a clock */
  bool by_messages;       /* bounded by messages alone: the error is half of the interval */
  bool numbered, executed, stepped; /* whether sequence numbers, executions and step numbers agree with the estimate */
};

struct align_problem {
  struct mem *mem;
  struct align_anchors *anchors; /* reordered by align_solve */
  uint32_t *host_of;             /* by input; rewritten when inputs turn out to share a clock, or not to */
  bool *known;                   /* by host: its name is known; otherwise it is one input that may share a clock. Has room for
                                  * all inputs */
  const int64_t *rank;           /* by input: its number in the job; -1 = unknown. NULL = all are */
  const uint32_t *origin;        /* by input: inputs with equal numbers have one host name. Set by align_solve */
  const struct align_gpu *gpu;   /* by input; NULL = unknown */
  const bool *wall;              /* by input: its timestamps are comparable with the reference's; NULL = all are */
  uint32_t n_inputs, n_hosts;    /* n_hosts shrinks when hosts are joined, and grows when inputs of one name are separated */
  uint32_t reference;            /* index of a host */
  bool marker;                   /* aligning by a marker: one event is enough */
  unsigned threads;              /* number of threads, the caller's among them; 0 = 1 */
  bool placed;                   /* all inputs are on one timeline already: only find who met */
  double other_job;              /* prior probability that two inputs belong to different jobs; 0 = one in a thousand */
  double clock_error_ns;         /* typical difference of wall clocks; 0 = 1 ms */
};

/* A member of a collective of at least two ranks in which all members wait for all. */
struct align_meeting {
  uint32_t collective; /* ordinal of the collective by its earliest end; the array is sorted by it */
  uint32_t anchor;     /* index into the problem's anchors */
};

struct align_solution {
  struct mem *mem;
  struct align_meeting *met; /* set if the problem's anchors are described; owned by the solution */
  uint32_t n_met;
  struct arena arena;
  struct align_host *hosts; /* n_hosts entries, with room for all inputs */
  uint32_t cap;
  uint32_t collectives;     /* number of collectives seen on at least two hosts */
  uint32_t before, after;
};

static inline double align_clock_error(const struct align_problem *p) { return p->clock_error_ns > 0 ? p->clock_error_ns : 1e6; }
static inline double align_other_job(const struct align_problem *p) { return p->other_job > 0 ? p->other_job : 1e-3; }

bool align_solve(struct align_problem *p, struct align_solution *s, struct tk_err *err);
void align_solution_free(struct align_solution *s);

/* ---- between the parts of align ---- */

/* One collective as one host saw it, in ns from the host's pivot (align/solve/timeline.h). */
struct align_member {
  uint32_t host, collective;
  double last_start, last_sent, first_end, first_received;
};

struct align_work {
  struct align_problem *p;
  struct arena arena;
  int64_t *pivot;               /* by host */
  struct curve *curve;          /* by host, over time from its pivot: maps its readings to the common timeline */
  uint32_t *root;               /* by host */
  struct align_member *members; /* by collective */
  uint32_t n_members, n_collectives;
  uint32_t *first;              /* by collective, plus a final entry: index of its first member */
  uint8_t *denied;              /* by host: it contradicts the others and is excluded from bounding them */
};

/* Returns a member's time on the reference clock, in ns from the pivot. */
static inline double align_true(const struct align_work *w, uint32_t host, double t) {
  return isfinite(t) ? t - curve_at(&w->curve[host], t) : t;
}

#endif
