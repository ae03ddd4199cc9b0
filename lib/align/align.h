/* align.h - clocks of several hosts put on one, by the collectives that their ranks had in common.
 *
 *     graphs -> anchors -> match: which anchors are one collective -> solve: a map for each host -> check -> apply to the graphs
 *
 * Only the ENDS of collectives are compared: a rank that comes early starts early and waits, but all leave within microseconds.
 * A host's clock reads c(t) = t + offset; its map takes the offset away again.  The map is a constant, a line where drift shows,
 * or a chain of lines over minutes, always monotone: order and nesting survive.  Everything here is pure: numbers in, numbers out.
 *
 * Nothing is trusted because it was computed: residuals, the number of anchors, how clearly a match won, and whether any rank still
 * leaves a collective before another one entered it decide, and where they do not suffice the host stays on its wall clock. */
#ifndef ALIGN_ALIGN_H
#define ALIGN_ALIGN_H

#include <math.h>

#include "graph/trace.h"

/* What an end and a start of an anchor are good for. */
enum align_says {
  ALIGN_EQUAL = 1,    /* all leave it together */
  ALIGN_SENDS = 2,    /* no other leaves before this one came */
  ALIGN_RECEIVES = 4, /* it does not leave before all the others came */
  ALIGN_BARRIER = 7,
  ALIGN_VAGUE = 8     /* as good as EQUAL at best: who took part is not known */
};

/* One collective on one device of a rank.  Keys are hashes of what the trace says of it; 0 = it does not say. */
struct align_anchor {
  uint64_t exact;     /* group, sequence number */
  uint64_t counted;   /* group, name, sizes, and the how manieth of how many in which step */
  uint64_t label;     /* name, sizes */
  uint64_t module;    /* of XLA: the program that it is a part of; such anchors get their exact key in align_executions */
  int64_t start, end; /* ns since the epoch, as the input's clock reads */
  int64_t run;        /* of XLA: what the device calls this execution of its program, if it says: a counter of its own */
  int64_t step;       /* of its step; valid if stepped */
  uint32_t input, device; /* the how manieth device of the input */
  uint32_t execution; /* of XLA: the how manieth of the device that has anchors, from 1 */
  uint32_t match;     /* set by matching: equal numbers are one collective; 0 = alone */
  uint8_t says;
  bool has_run, stepped;
};

struct align_anchors {
  struct mem *mem;
  struct align_anchor *v;
  uint32_t n, cap;
};

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
  int64_t later_ns;   /* its anchors stand that much after what its origin says */
  const char *marker; /* spans and instants of this name, or glob, instead of collectives; NULL = collectives */
  const struct align_group *groups;
  const struct align_op *ops;
  uint32_t n_groups, n_ops;
};

/* Takes the anchors out of one input.  False when memory runs out. */
bool align_collect(struct align_anchors *a, const struct tk_trace *t, const struct align_source *from);
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
/* The simplest curve that explains the points (sorted by x here; ns), whatever a minority of them says.  Room for 2 n numbers. */
void curve_fit(struct curve *c, struct point *p, uint32_t n, double *room);
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

enum align_tier { ALIGN_BY_NONE, ALIGN_BY_SEQUENCE, ALIGN_BY_STEP, ALIGN_BY_VOTE };

enum align_state {
  ALIGN_ALONE,     /* shares no collective with others */
  ALIGN_REFERENCE, /* its clock is the clock */
  ALIGN_GOOD,
  ALIGN_APART,     /* as GOOD, but only against hosts of which none is tied to the reference */
  ALIGN_ROUGH,     /* as POOR, but the wall clock is certainly wrong: it denies that the collectives met at all */
  ALIGN_POOR       /* there is an estimate, but not one to trust */
};

struct align_host {
  enum align_state state;
  const char *why;        /* of ROUGH and POOR: what speaks against it */
  uint32_t root;          /* host whose clock it was put on: the reference, itself, or another one that is not tied to that */
  struct align_map map;   /* of GOOD, APART, ROUGH and POOR */
  uint32_t anchors, rejected;
  double mad_ns, p95_ns;  /* of residuals against the other hosts */
  bool bounded, feasible; /* collectives bound the clock at all; from both sides without contradiction */
  double low_ns, high_ns; /* it could be moved by that much until a rank left before another one came */
  uint32_t before, after; /* collectives that somebody leaves before somebody else came, by wall clock and by the map */
  uint32_t never_met;     /* collectives that no other host was in at the same time, by wall clock */
  bool moved;             /* to where causality holds */
};

struct align_problem {
  struct mem *mem;
  struct align_anchors *anchors; /* reordered */
  uint32_t *host_of;             /* by input; rewritten where inputs turn out to share a clock */
  bool *known;                   /* by host: it is known to be one; false: an input that may share its clock with others */
  uint32_t n_inputs, n_hosts;    /* n_hosts becomes smaller by those */
  uint32_t reference;            /* host */
  bool marker;                   /* one event is enough */
};

struct align_solution {
  struct mem *mem;
  struct align_host *hosts; /* n_hosts of the problem when it came */
  uint32_t cap;
  enum align_tier tier;
  uint32_t collectives;     /* that were seen on two hosts or more */
  bool programs;            /* SEQUENCE is by executions of XLA's programs */
  uint32_t before, after;
};

bool align_solve(struct align_problem *p, struct align_solution *s, struct tk_err *err);
void align_solution_free(struct align_solution *s);

/* ---- between the parts of align ---- */

/* What one collective looked like on one host. */
struct align_member {
  uint32_t host, collective, ranks;
  double end;                 /* of its first rank, or of that in the middle; ns from the host's pivot */
  double last_start, last_sent;     /* of all its ranks, of those that the others wait for; -INFINITY = of none */
  double first_end, first_received; /* of all its ranks, of those that wait for the others; INFINITY = of none */
  double others;              /* when the other hosts left, on the reference's clock, from its pivot */
  bool equal, vague, used;    /* used: it counts in the fit */
};

struct align_work {
  struct align_problem *p;
  struct arena arena;
  int64_t *pivot;                /* by host */
  struct curve *curve;           /* by host, over time from its pivot */
  uint8_t *clear;                /* by host: matched beyond doubt */
  bool programs;                 /* there are anchors of XLA's */
  uint8_t *vague;                /* by host: nothing but vague anchors ties it to the others */
  uint32_t *parent;              /* by host: through whom it hangs on the reference; itself = a root */
  struct align_member *members;  /* by collective */
  uint32_t n_members, n_collectives;
  uint32_t *first;               /* by collective, and one more: its members */
  uint32_t *by_host, *host_first; /* members of each host */
  struct point *points;          /* room for any host's */
  double *values;                /* twice as many */
};

bool align_match(struct align_work *w, enum align_tier tier);
/* Exact keys for the anchors of XLA's programs: which execution on one device is which on another. */
bool align_executions(struct align_work *w);
/* Matches what counting within steps could not, where ranks have not as many of a kind. */
bool align_steps(struct align_work *w);
/* From matched anchors to members.  False when memory runs out. */
bool align_members(struct align_work *w);
bool align_fit_hosts(struct align_work *w);
/* Residuals, violations and intervals, into s. */
bool align_check(struct align_work *w, struct align_solution *s);

/* The host whose clock is right among those that are tied to this one. */
static inline uint32_t align_root(const struct align_work *w, uint32_t host) {
  while (w->parent[host] != host) host = w->parent[host];
  return host;
}

/* A member's time on the reference's clock, from its pivot. */
static inline double align_true(const struct align_work *w, uint32_t host, double t) {
  return isfinite(t) ? t - curve_at(&w->curve[host], t) : t;
}

#endif
