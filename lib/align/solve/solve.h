/* solve.h - aligns the clocks of several hosts, using the collectives that their ranks share.
 *
 *     graphs -> anchors -> sights: collectives as one clock saw them (timeline.c) -> hypotheses about their common time
 *     (hypotheses.c) -> their weights (posterior.c) -> a map for each host (pieces.c, solve.c) -> causality (check.c) -> the graphs
 *
 * Only the ENDS of collectives are compared: an early rank starts early and waits, but all ranks leave within microseconds. A host's
 * clock reads c(t) = t + offset; its map removes the offset. The map is a constant, a line if the clock drifts, or several lines if the
 * clock was set. It is always monotone, so order and nesting survive. The functions of this folder compute results from numbers only,
 * and have no side effects.
 *
 * An estimate is not trusted without evidence. Every possible answer gets a weight, including the answer that the hosts share nothing.
 * A host is trusted if one answer outweighs the sum of all others, does not violate causality, and leaves residuals that noise
 * explains. Otherwise it stays on its wall clock. */
#ifndef ALIGN_SOLVE_SOLVE_H
#define ALIGN_SOLVE_SOLVE_H

#include <math.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/curve.h"

/* Constraints that an anchor imposes on its start and end. */
enum align_says {
  ALIGN_EQUAL = 1,    /* all members leave the collective together */
  ALIGN_SENDS = 2,    /* no other member leaves before this member arrives */
  ALIGN_RECEIVES = 4, /* this member does not leave before all others have arrived */
  ALIGN_BARRIER = 7,
  ALIGN_VAGUE = 8,    /* with EQUAL: uncertain, because the members are unknown */
  ALIGN_COARSE = 16,  /* with VAGUE: a CPU span, which shows when the collective was launched or awaited */
  ALIGN_LOOSE = 32,   /* ranks of one host leave the collective farther apart than NCCL's ranks do */
  ALIGN_KEYED = 64,   /* `exact` is equal on all members, and only there, even if their clocks cannot be aligned */
  ALIGN_MESSAGE = 128 /* with SENDS or RECEIVES: a message, whose label is equal only for its group, its sender and its receiver */
};

/* One collective on one device of a rank. Keys are hashes of its recorded properties; 0 = not recorded. */
struct align_anchor {
  uint64_t exact;     /* hash of group and sequence number */
  uint64_t label;     /* hash of name and sizes */
  uint64_t module;    /* for XLA: hash of the program that contains it */
  int64_t start, end; /* ns since the epoch, on the input's clock */
  int64_t run;        /* for XLA: the device's own counter of the program's executions, if recorded */
  int64_t step;       /* number of its step; valid if stepped */
  uint32_t input, device; /* index of the device within the input */
  uint32_t execution; /* for XLA: ordinal of the execution among the device's executions that have anchors, from 1 */
  uint32_t op;        /* used by the collector */
  uint32_t name, group; /* ids in align_anchors.texts; 0 = unknown */
  int64_t seq, bytes; /* as recorded; -1 = not recorded */
  uint8_t says;
  bool has_run, stepped;
};

struct align_anchors {
  struct mem *mem;
  struct align_anchor *v;
  uint32_t n, cap;
  bool all;            /* true: keep every anchor, without thinning out */
  bool described;      /* true: record names, sequence numbers and bytes */
  struct intern texts; /* names of anchors and groups */
};

/* Offset of a clock as a function of its reading: `offset_ns` plus a curve over (reading - pivot_ns). */
struct align_map {
  int64_t pivot_ns, offset_ns;
  struct curve curve;
};

enum align_state {
  ALIGN_ALONE,     /* the host shares no collective with another host */
  ALIGN_REFERENCE, /* the host's clock defines the timeline */
  ALIGN_GOOD,
  ALIGN_APART,     /* like GOOD, but relative to hosts that are not connected to the reference */
  ALIGN_ROUGH,     /* like POOR, but used because the wall clock is worse: by wall clock no collective overlaps, or it is implausibly
                    * far off */
  ALIGN_POOR       /* the estimate is not trusted */
};

/* A stretch of a clock's readings in which the offset is linear; errors are 95% bounds. */
struct align_stretch {
  int64_t from_ns, to_ns;
  double error_ns;       /* error in the middle of the stretch, in ns */
  double slope_error;
};

/* Readings between two stretches: the clock was set there, at an unknown moment. If it was set back, it showed some readings
 * twice; these belong to the gap, which then overlaps both stretches. */
struct align_gap {
  int64_t from_ns, to_ns;
  double error_ns; /* size of the jump, plus the errors on both sides of it */
};

/* Bounds for how far the GPU clock of an input is ahead of its CPU clock, in ns, from launches and waits; infinite =
 * unknown. */
struct align_gpu {
  double low, high;
};

struct align_other {
  double offset_ns, weight;
};

enum { ALIGN_OTHERS = 3 };

struct align_host {
  enum align_state state;
  const char *why;        /* ROUGH and POOR: why the estimate may be wrong; other states: NULL, or a condition under which it is
                             trusted */
  uint32_t root;          /* host to whose clock the host was aligned: the reference, the host itself, or a group's leader */
  struct align_map map;   /* valid for GOOD, APART, ROUGH and POOR */
  uint32_t anchors, rejected;
  double mad_ns, p95_ns;  /* median and 95th percentile of the residuals relative to other hosts */
  double error_ns;        /* 95% bound at the worst point of all stretches */
  struct align_stretch *stretches; /* owned by the solution */
  uint32_t n_stretches;
  struct align_gap *gaps;          /* the n_stretches - 1 gaps between the stretches */
  bool cut_front, cut_back;        /* collectives before the first stretch, or after the last one, disagree: the clock may have been set
                                    * there */
  double weight;          /* weight of the estimate among all possible answers, 0..1 */
  double unless_ns;       /* the estimate is right unless wall clocks differed by more than this; 0 = no condition */
  struct align_other others[ALIGN_OTHERS];
  uint32_t n_others;      /* number of alternative estimates */
  bool bounded, feasible; /* bounded: collectives bound the clock; feasible: these bounds are consistent */
  double low_ns, high_ns; /* how far the offset may change before a rank leaves a collective that another rank has not reached */
  uint32_t before, after; /* number of causality violations according to wall clocks, and after alignment */
  uint32_t never_met;     /* number of collectives in which, by wall clock, the host was never together with another host */
  double moved_ns;        /* shift that was applied to satisfy causality */
  bool assumed;           /* true if only the host name suggests that its inputs share a clock */
  bool of_gpu;            /* true if its GPU clock differs, or may differ, from its CPU clock; the estimate is for the GPU */
  struct align_gpu gpu;   /* bounds from all of its inputs */
  double spread_ns;       /* largest distance of a collective from the estimate, if this is the error; otherwise 0 */
  double trend_ns;        /* part of the error: lateness of its ranks that a trend over ranks predicts */
  bool contradicts;       /* true if sequence numbers contradict the estimate */
  double by_number_ns;    /* offset that the sequence numbers imply; valid if contradicts */
  uint32_t joined;        /* number of hosts merged into this one because they share a clock */
  bool by_messages;       /* true if only messages bound the offset; the error is then half the width of
                           * the interval that they allow, plus the error of the reference */
  bool numbered, executed, stepped; /* sequence numbers, executions, step numbers agree with the estimate */
};

struct align_problem {
  struct mem *mem;
  struct align_anchors *anchors; /* align_solve reorders them */
  uint32_t *host_of;             /* by input: its host; rewritten when inputs are found to share a clock or not to share one */
  bool *known;                   /* by host: true if its name is known. Has room for all inputs */
  const int64_t *rank;           /* by input: rank in the job; -1 = unknown. NULL = all are unknown */
  const uint32_t *origin;        /* by input: equal for inputs with the same host name; set by align_solve */
  const struct align_gpu *gpu;   /* by input: bounds of the GPU clock; NULL = all are unknown */
  const bool *wall;              /* by input: true if its timestamps can be compared with the reference's; NULL = all can */
  uint32_t n_inputs, n_hosts;    /* n_hosts changes when hosts are joined or separated */
  uint32_t reference;            /* index of the reference host */
  bool marker;                   /* true: align by a marker, for which one event is enough */
  unsigned threads;              /* number of threads, including the caller's; 0 = 1 */
  bool placed;                   /* true: all inputs are on one timeline already; only find the members of collectives */
  double other_job;              /* prior probability that two inputs belong to different jobs; 0 = one in a thousand */
  double clock_error_ns;         /* typical difference of wall clocks; 0 = 1 ms */
};

/* A member of a collective that has at least two ranks and synchronises all of them. */
struct align_meeting {
  uint32_t collective; /* number of the collective, in the order of earliest ends; the array is sorted by this number */
  uint32_t anchor;     /* index into the problem's anchors */
};

struct align_solution {
  struct mem *mem;
  struct align_meeting *met; /* filled if the problem's anchors are described */
  uint32_t n_met;
  struct arena arena;
  struct align_host *hosts; /* n_hosts elements, with room for all inputs */
  uint32_t cap;
  uint32_t collectives;     /* number of collectives that at least two hosts saw */
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
  int64_t *pivot;               /* by host: pivot of its times */
  struct curve *curve;          /* by host: maps its readings to the common timeline; x and y are relative to the pivot */
  uint32_t *root;               /* by host: root of its timeline */
  struct align_member *members; /* sorted by collective */
  uint32_t n_members, n_collectives;
  uint32_t *first;              /* by collective, plus a final entry: index of its first member */
  uint8_t *denied;              /* by host: true if the host contradicts the other hosts and therefore does not bound them */
};

/* Returns a member's time on the reference clock, in ns from the pivot. */
static inline double align_true(const struct align_work *w, uint32_t host, double t) {
  return isfinite(t) ? t - curve_at(&w->curve[host], t) : t;
}

#endif
