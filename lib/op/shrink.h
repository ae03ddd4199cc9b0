/* shrink.h - makes a graph smaller, and accounts for everything that is removed. */
#ifndef OP_SHRINK_H
#define OP_SHRINK_H

#include "graph/subset.h"
#include "match.h"
#include "sample.h"

/* A rung of the ladder. It may be climbed in part; then the shortest events are removed first. */
enum rung { RUNG_DROP, RUNG_ARG, RUNG_PYTHON, RUNG_COALESCE, RUNG_SPANS, RUNG_COUNTERS, RUNG_HARD, RUNGS };

struct rung_step {
  enum rung rung;
  tk_id key;      /* ARG: key of the arg */
  uint32_t depth; /* PYTHON: depth of the frames */
  uint64_t cost;  /* ARG: approximate bytes */
};

/* Steps of the rungs, in the order in which they are climbed. */
struct ladder {
  struct rung_step *steps;
  uint32_t n_steps, cap_steps;
  uint64_t *order; /* sorted sample of event sizes, which maps levels to thresholds */
  uint32_t n_order;
};

/* A place on the ladder: the number of whole steps, and the fraction of the next one (0..1). */
struct place {
  uint32_t whole;
  double level;
};

/* State that does not depend on how far the ladder is climbed. */
struct shrink {
  struct mem *mem;
  struct tk_trace *t;
  struct kinds kinds;
  uint8_t *marks;     /* by event: enum shrink_mark */
  tk_id n_marks;
  tk_id count, total; /* keys of the args of a coalesced span */
  struct ladder ladder;
  const uint16_t *depths; /* for a sample: as in struct sample; NULL = a whole trace, which owns its ladder */
  double thinned;     /* share of counter samples removed so far */
};

/* Removed events of one name, on one kind of track of one process. */
struct gone {
  tk_id process, name;
  uint32_t kind; /* enum tk_track_kind of the track */
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
  uint64_t coalesced; /* spans that were merged into others */
  struct subset_losses kept;
};

bool shrink_init(struct shrink *s, struct tk_trace *t, const struct tk_shrink_options *opt, const struct track_origin *origins,
                 struct tk_err *err);
/* Prepares shrinking of a sample, with the ladder of the trace that it was taken from; both must outlive `s`. */
bool shrink_init_sample(struct shrink *s, struct sample *sample, const struct ladder *ladder, const struct tk_shrink_options *opt,
                        const struct track_origin *origins, struct tk_err *err);
void shrink_free(struct shrink *s);

/* Climbs to the place. The result is a view of the trace, or the trace itself (to == s->t), which can then only be climbed
 * further. Adds what was removed to `out`. */
bool shrink_apply(struct shrink *s, struct place at, struct tk_trace *to, struct shrunk *out, struct tk_err *err);
void shrink_account_init(struct shrunk *s, struct mem *mem);
void shrink_account_free(struct shrunk *s);

extern const char *const shrink_rung_names[RUNGS];

#endif
