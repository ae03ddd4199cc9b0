/* prune_pass.h - state of a pass that drops events (prune.c, prune_flows.c). */
#ifndef FORMAT_PERFETTO_READ_PRUNE_PASS_H
#define FORMAT_PERFETTO_READ_PRUNE_PASS_H

#include "base/keyed.h"
#include "early.h"

/* Bits of prune_pass.fate: the event is needed; it is outside of the range; it is open, and its dur links to the enclosing span. */
enum { PRUNE_KEEP = 1, PRUNE_GOES = 2, PRUNE_LINKED = 4 };
enum { PRUNE_DEPTH = 500 }; /* nesting up to which all steps find the same pairs */

struct prune_pass {
  struct perfetto *r;
  tk_id n;              /* number of events */
  uint32_t n_sites;
  uint8_t *fate;        /* by event */
  uint8_t *is_state;    /* by class; NULL = none */
  uint32_t *partner;    /* by event: other event of the pair; 0 = none */
  uint32_t *site, *first, *list; /* events of each site, as indices from 0 (keyed_lists) */
  uint32_t *order, *stack; /* for one site: events that nest, by time; stack of open spans */
  struct map latest;    /* site and class -> last sample before the range */
  struct prune_point *points; /* points that seal binds to spans, by site and time */
  uint32_t n_points, next_point; /* next_point: first point of the site that is judged next */
  tk_id *target, *raw_target; /* by flow point, by raw point: event to which it will be bound; 0 = unknown, or none */
};

/* Returns the end of a span, or the time of another event. */
static inline int64_t prune_end_of(const struct tk_event *e) { return e->kind == TK_EVENT_SPAN ? num_add(e->ts, e->dur) : e->ts; }
static inline bool prune_goes(const struct prune_pass *p, tk_id i) { return (p->fate[i] & (PRUNE_GOES | PRUNE_KEEP)) == PRUNE_GOES; }
static inline void prune_keep(struct prune_pass *p, tk_id i) {
  p->fate[i] |= PRUNE_KEEP;
  p->fate[p->partner[i]] |= PRUNE_KEEP;
}
/* True if the time from `first` to `last` is outside of the range, on one side of it. */
static inline bool prune_is_outside(const struct prune_pass *p, int64_t first, int64_t last) {
  const enum early_place place = early_place_of(p->r, first);
  return place != EARLY_NEAR && place == early_place_of(p->r, last);
}

#endif
