/* shrink.h - makes a graph smaller step by step, and counts everything that it removes. */
#ifndef OP_SHRINK_H
#define OP_SHRINK_H

#include "graph/subset.h"
#include "match.h"
#include "sample.h"

/* Rungs of the ladder, in the usual order. A rung can be applied to a fraction of its events, for most rungs the shortest ones. */
enum rung { RUNG_DROP, RUNG_ARG, RUNG_PYTHON, RUNG_SAMPLES, RUNG_COALESCE, RUNG_SPANS, RUNG_COUNTERS, RUNG_HARD, RUNGS };

struct rung_step {
  enum rung rung;
  tk_id key;      /* for RUNG_ARG: key of the arg */
  uint32_t depth; /* for RUNG_PYTHON: depth of the frames */
  uint64_t cost;  /* for RUNG_ARG: approximate bytes that the step saves */
  double thins;   /* for RUNG_SPANS: share of the counter samples that the whole step also removes */
};

/* The steps of the chosen rungs, in the order in which they are applied. */
struct ladder {
  struct rung_step *steps;
  uint32_t n_steps, cap_steps;
  uint64_t *order; /* sorted sample of event sizes: maps a share of events to a size threshold */
  uint32_t n_order;
};

/* A place on the ladder: the number of complete steps, and the fraction (0..1) of the next step. */
struct place {
  uint32_t whole;
  double level;
};

/* State that does not depend on the place on the ladder. */
struct shrink {
  struct mem *mem;
  struct tk_trace *t;
  struct kinds kinds;
  uint8_t *marks;     /* by event: enum shrink_mark */
  tk_id n_marks;
  tk_id count, total; /* keys of the args of a coalesced span (number of spans, total duration) */
  struct ladder ladder;
  const uint16_t *depths; /* for a sample: as in struct sample; NULL for a whole trace, and then the ladder is owned and freed with
                           * `s` */
  double thinned[RUNGS]; /* by rung: share of counter samples or stack samples removed so far */
};

/* Number and total duration of the removed events with the same name, process and kind of track. */
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
  uint64_t coalesced; /* number of spans that were merged into others */
  struct subset_losses kept;
};

bool shrink_init(struct shrink *s, struct tk_trace *t, const struct tk_shrink_options *opt, const struct track_origin *origins,
                 struct tk_err *err);
/* Prepares shrinking a sample, with the ladder of the trace from which the sample was taken. The sample and the ladder must outlive
 * `s`. Returns false with err on failure. */
bool shrink_init_sample(struct shrink *s, struct sample *sample, const struct ladder *ladder, const struct tk_shrink_options *opt,
                        const struct track_origin *origins, struct tk_err *err);
void shrink_free(struct shrink *s);

/* Applies the ladder up to the place `at`. The result becomes a view of the trace, or replaces the trace itself if to == s->t, which
 * can then only be shrunk further. Adds the counts of removed events to `out`. Returns false with err on failure. */
bool shrink_apply(struct shrink *s, struct place at, struct tk_trace *to, struct shrunk *out, struct tk_err *err);
void shrink_account_init(struct shrunk *s, struct mem *mem);
void shrink_account_free(struct shrunk *s);

static inline bool shrink_is_python(const struct shrink *s, const struct tk_event *e) {
  return e->kind == TK_EVENT_SPAN && (s->kinds.of_class[e->cls] & KIND_PYTHON);
}

/* Adds the rungs that the user listed, in the order of the list, or by default the usual rungs. */
bool shrink_ladder_make(struct shrink *s, const struct tk_shrink_options *o, struct tk_err *err);

extern const char *const shrink_ladder_names[RUNGS]; /* names of the rungs, as in --ladder */

/* Returns true if the text is a comma-separated list of names of rungs; otherwise false with err. */
bool shrink_ladder_check(const char *names, struct tk_err *err);

#endif
