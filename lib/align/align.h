/* align.h - clocks of several hosts put on one, by the collectives that their ranks had in common.
 *
 *     graphs -> anchors -> sights: what one clock saw (timeline.c) -> hypotheses of where that belongs on the common timeline
 *     (hypotheses.c) -> their weights (posterior.c) -> a map for each host (pieces.c, solve.c) -> causality (check.c) -> the graphs
 *
 * Only the ENDS of collectives are compared: a rank that comes early starts early and waits, but all leave within microseconds.
 * A host's clock reads c(t) = t + offset; its map takes the offset away again.  The map is a constant, a line where drift shows,
 * or several where the clock was set, always monotone: order and nesting survive.  Everything here is pure: numbers in, numbers out.
 *
 * Nothing is trusted because it was computed.  All that may be the answer is weighed, with what would be if there were none, and a host
 * is trusted if one answer outweighs the sum of all others, keeps causality, and leaves nothing that noise does not explain; else it
 * stays on its wall clock. */
#ifndef ALIGN_ALIGN_H
#define ALIGN_ALIGN_H

#include <math.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/regexp.h"
#include "graph/origin.h"
#include "graph/trace.h"

/* What an end and a start of an anchor are good for. */
enum align_says {
  ALIGN_EQUAL = 1,    /* all leave it together */
  ALIGN_SENDS = 2,    /* no other leaves before this one came */
  ALIGN_RECEIVES = 4, /* it does not leave before all the others came */
  ALIGN_BARRIER = 7,
  ALIGN_VAGUE = 8,    /* as good as EQUAL at best: who took part is not known */
  ALIGN_COARSE = 16   /* with VAGUE: a row of the CPU, which says when it was launched or waited for */
};

/* One collective on one device of a rank.  Keys are hashes of what the trace says of it; 0 = it does not say. */
struct align_anchor {
  uint64_t exact;     /* group, sequence number */
  uint64_t label;     /* name, sizes */
  uint64_t module;    /* of XLA: the program that it is a part of */
  int64_t start, end; /* ns since the epoch, as the input's clock reads */
  int64_t run;        /* of XLA: what the device calls this execution of its program, if it says: a counter of its own */
  int64_t step;       /* of its step; valid if stepped */
  uint32_t input, device; /* the how manieth device of the input */
  uint32_t execution; /* of XLA: the how manieth of the device that has anchors, from 1 */
  uint32_t op;        /* room for the collector */
  uint32_t name, group; /* of the anchors' texts; 0 = not told */
  int64_t seq, bytes; /* as the trace says them; -1 = it does not */
  uint8_t says;
  bool has_run, stepped;
};

struct align_anchors {
  struct mem *mem;
  struct align_anchor *v;
  uint32_t n, cap;
  bool all;            /* none is thinned out */
  bool described;      /* by names, numbers and bytes */
  struct intern texts; /* the names */
};

void align_anchors_init(struct align_anchors *a, struct mem *mem);

/* A process group as the rank itself lists it: complete, whatever the args of its kernels leave out. */
struct align_group {
  const char *name;
  uint64_t members; /* hash of its ranks */
  int64_t place;    /* of the rank in the group, -1 = it is not in it */
};

/* A collective of a program as the program itself has it, whatever its kernels leave out. */
struct align_op {
  uint64_t module, op;  /* hashes of their names: "jit_step", "all-reduce.3" */
  uint64_t program;     /* its number in the process that ran it */
  const char *opcode;   /* "all-reduce" */
  const char *groups;   /* as HLO's text has them (replicas.h); NULL = not known */
  bool global;          /* ... not of replicas */
};

/* What is known of an input beside its graph. */
struct align_source {
  uint32_t input;
  int64_t rank;       /* -1 = unknown */
  int64_t world;      /* ranks in all, 0 = unknown */
  int64_t later_ns;   /* its anchors stand that much after what its origin says */
  const struct track_origin *origins; /* of a merged trace, by track: whose it is; NULL = it is of one rank */
  const char *marker; /* spans and instants of this name, or glob, instead of collectives; NULL = collectives */
  struct regexp *anchor; /* spans whose name matches are barriers as well; NULL = none are */
  const struct align_group *groups;
  const struct align_op *ops;
  uint32_t n_groups, n_ops;
  uint32_t most;      /* anchors that are kept of it, if they can be thinned out alike on all ranks; 0 = 4,096 */
};

/* Takes the anchors out of one input.  False when memory runs out. */
bool align_collect(struct align_anchors *a, const struct tk_trace *t, const struct align_source *from);
/* Leaves at most so many of those from `first` on, the same ones on every rank, where they have keys. */
void align_thin_out(struct align_anchors *a, uint32_t first, uint32_t most);
void align_anchors_free(struct align_anchors *a);
uint64_t align_mix(uint64_t a, uint64_t b); /* never 0 */

/* ---- maps ---- */

enum { ALIGN_KNOTS = 64 };

/* y over x, linear between the knots and beyond them; one knot is a constant, none is 0. */
struct curve {
  uint32_t n;
  double x[ALIGN_KNOTS], y[ALIGN_KNOTS];
};

struct point {
  double x, y;
};

double curve_at(const struct curve *c, double x);
/* dy/dx from the first knot to the last. */
double curve_slope(const struct curve *c);
/* The k-th smallest of n > k; what is smaller stands before it then. */
double point_nth(double *v, uint32_t n, uint32_t k);
double point_median(double *v, uint32_t n); /* reorders v; 0 of none */

/* The offset of a clock by its own reading: whole nanoseconds `offset_ns`, and a curve over (reading - pivot_ns) on top. */
struct align_map {
  int64_t pivot_ns, offset_ns;
  struct curve curve;
};

bool align_is_constant(const struct align_map *m);
/* ns at a reading. */
int64_t align_offset(const struct align_map *m, int64_t reading_ns);
/* Moves everything in the trace, whose origin is moved by `later_ns` before.  Durations change only if the map is no constant. */
bool align_apply(struct tk_trace *t, const struct align_map *m, int64_t later_ns, struct tk_err *err);

/* ---- solving ---- */

enum align_state {
  ALIGN_ALONE,     /* shares no collective with others */
  ALIGN_REFERENCE, /* its clock is the clock */
  ALIGN_GOOD,
  ALIGN_APART,     /* as GOOD, but only against hosts of which none is tied to the reference */
  ALIGN_ROUGH,     /* as POOR, but the wall clock is certainly wrong: it denies that the collectives met at all */
  ALIGN_POOR       /* there is an estimate, but not one to trust */
};

/* A stretch of a clock that is a line, by its own readings; errors are those of 95%. */
struct align_stretch {
  int64_t from_ns, to_ns;
  double error_ns;       /* in the middle */
  double slope_error;
};

struct align_other {
  double offset_ns, weight;
};

enum { ALIGN_OTHERS = 3 };

struct align_host {
  enum align_state state;
  const char *why;        /* of ROUGH and POOR: what speaks against it; of any state else: NULL, or what its trust rests on */
  uint32_t root;          /* host whose clock it was put on: the reference, itself, or another one that is not tied to that */
  struct align_map map;   /* of GOOD, APART, ROUGH and POOR */
  uint32_t anchors, rejected;
  double mad_ns, p95_ns;  /* of residuals against the other hosts */
  double error_ns;        /* 95%: of the worst stretch, at its worse end */
  struct align_stretch *stretches; /* live with the solution */
  uint32_t n_stretches;
  double weight;          /* of the estimate among all that is possible, 0..1 */
  double unless_ns;       /* it is the right one unless the wall clocks were farther apart than this; 0 = whatever they were */
  struct align_other others[ALIGN_OTHERS];
  uint32_t n_others;      /* of weight */
  bool bounded, feasible; /* collectives bound the clock at all; from both sides without contradiction */
  double low_ns, high_ns; /* the offset may be larger by this, from the one to the other, until a rank leaves before another one came */
  uint32_t before, after; /* collectives that somebody leaves before somebody else came, by wall clock and by the map */
  uint32_t never_met;     /* collectives that no other host was in at the same time, by wall clock */
  double moved_ns;        /* to where causality holds */
  bool assumed;           /* that all its inputs have one clock is said by their name alone */
  uint32_t joined;        /* hosts that it was made of, which turned out to share a clock */
  bool by_messages;       /* which bound it, and nothing else: the error is half of their interval */
  bool numbered, executed, stepped; /* sequence numbers, executions, numbers of steps agree with the estimate */
};

struct align_problem {
  struct mem *mem;
  struct align_anchors *anchors; /* reordered */
  uint32_t *host_of;             /* by input; rewritten where inputs turn out to share a clock, or not to */
  bool *known;                   /* by host: it is known to be one; else an input that may share its clock; room for all inputs */
  const bool *wall;              /* by input: its times can be compared with the reference's; NULL = all can */
  uint32_t n_inputs, n_hosts;    /* n_hosts becomes smaller by those, and larger by these */
  uint32_t reference;            /* host */
  bool marker;                   /* one event is enough */
  bool placed;                   /* all inputs are on one timeline: only who met is asked */
  double other_job;              /* how probable it is that two inputs are of different jobs; 0 = one in a thousand */
  double clock_error_ns;         /* what wall clocks are usually apart; 0 = 1 ms */
};

/* Who was in a collective that was met by two ranks or more, in which all wait for all. */
struct align_meeting {
  uint32_t collective; /* they are numbered by when they ended first, and so sorted */
  uint32_t anchor;     /* of the problem's */
};

struct align_solution {
  struct mem *mem;
  struct align_meeting *met; /* if the problem's anchors are described; lives with the solution */
  uint32_t n_met;
  struct arena arena;
  struct align_host *hosts; /* n_hosts of the problem; room for all inputs */
  uint32_t cap;
  uint32_t collectives;     /* that were seen on two hosts or more */
  uint32_t before, after;
};

static inline double align_clock_error(const struct align_problem *p) { return p->clock_error_ns > 0 ? p->clock_error_ns : 1e6; }
static inline double align_other_job(const struct align_problem *p) { return p->other_job > 0 ? p->other_job : 1e-3; }

bool align_solve(struct align_problem *p, struct align_solution *s, struct tk_err *err);
void align_solution_free(struct align_solution *s);

/* ---- between the parts of align ---- */

/* What one collective looked like on one host: ns from its pivot (timeline.h). */
struct align_member {
  uint32_t host, collective;
  double last_start, last_sent, first_end, first_received;
};

struct align_work {
  struct align_problem *p;
  struct arena arena;
  int64_t *pivot;               /* by host */
  struct curve *curve;          /* by host, over time from its pivot: what takes its readings to the common timeline */
  uint32_t *root;               /* by host */
  struct align_member *members; /* by collective */
  uint32_t n_members, n_collectives;
  uint32_t *first;              /* by collective, and one more: its members */
  uint8_t *denied;              /* by host: it contradicts the others, and bounds none of them */
};

/* Violations and intervals, into s. */
bool align_check(struct align_work *w, struct align_solution *s);

/* A member's time on the reference's clock, from its pivot. */
static inline double align_true(const struct align_work *w, uint32_t host, double t) {
  return isfinite(t) ? t - curve_at(&w->curve[host], t) : t;
}

#endif
