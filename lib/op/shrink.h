/* shrink.h - a smaller graph: what a plan takes away, and the account of it. */
#ifndef OP_SHRINK_H
#define OP_SHRINK_H

#include "../graph/keep.h"
#include "match.h"

/* One rung of the ladder.  Each may be climbed in part: then what is shortest goes first. */
enum rung { RUNG_DROP, RUNG_ARG, RUNG_PYTHON, RUNG_COALESCE, RUNG_SPANS, RUNG_COUNTERS, RUNG_HARD, RUNGS };

struct rung_step {
  enum rung rung;
  tk_id key;      /* ARG: this one */
  uint32_t depth; /* PYTHON: frames this deep */
  uint64_t cost;  /* ARG: bytes, roughly */
};

/* Everything that does not depend on how far the ladder is climbed. */
struct shrink {
  struct mem *mem;
  struct tk_trace *t;
  struct kinds kinds;
  uint8_t *safe;          /* by event: never goes (but for RUNG_HARD) */
  uint8_t *wanted;        /* by event: not even then */
  uint8_t *unwanted;      /* by event: goes first */
  tk_id count, total;     /* keys of what a coalesced span carries */
  uint64_t *order;        /* sorted sample of how large events are: levels to thresholds */
  uint32_t n_order;
  struct rung_step *steps;
  uint32_t n_steps, cap_steps;
  tk_id n_events;
};

/* Events of one name on one kind of track of one process that are no longer there. */
struct gone {
  tk_id process, name;
  uint32_t kind; /* of the track: enum tk_track_kind */
  uint64_t count;
  i128 total;
};

struct rung_report {
  uint64_t events, args;
  i128 time;
};

struct shrunk {
  struct mem *mem;
  struct gone *gone; /* [1..n_gone] */
  uint32_t n_gone, cap_gone;
  struct map index;
  struct rung_report rungs[RUNGS];
  uint64_t coalesced; /* spans that others were put into */
  struct kept kept;
};

bool shrink_init(struct shrink *s, struct tk_trace *t, const struct tk_shrink_options *opt, const struct match_origin *origins,
                 struct mem *mem, struct tk_err *err);
void shrink_free(struct shrink *s);

/* The view of the trace with steps 0..whole-1 of the ladder climbed, and the next one up to `level` (0..1).  `out` is begun anew. */
bool shrink_apply(struct shrink *s, uint32_t whole, double level, struct tk_trace *view, struct shrunk *out, struct tk_err *err);
void shrunk_free(struct shrunk *s);

extern const char *const rung_names[RUNGS];

#endif
