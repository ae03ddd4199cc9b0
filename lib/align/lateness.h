/* lateness.h - finds how far apart the ranks of one clock leave a collective, and what this implies across clocks.
 *
 * Between hosts, lateness looks like an offset of the clock. Within a host there is one clock, so lateness is visible: as a
 * scatter of the ranks, or as a trend along the ranks, as in a ring. Hosts are late in the same way as ranks are. */
#ifndef ALIGN_LATENESS_H
#define ALIGN_LATENESS_H

#include "timeline.h"

/* What the solver saw. */
struct lateness_view {
  const struct align_work *work;
  const struct sight *sights;
  const uint32_t *first_sight;  /* by host, plus a final entry */
  const uint32_t *first_anchor; /* by host */
};

struct lateness {
  double scatter;   /* ns: standard deviation of the ranks of one clock; 0 = not seen */
  double trend;     /* ns from one rank to the next; 0 = none that exceeds the scatter */
  double *own;      /* by host, ns: scatter of its own ranks; 0 = not seen */
  double *place;    /* by host: mean number of its ranks; NAN = unknown */
};

/* Measures the lateness of all ranks after the hosts were placed. Returns false when memory runs out. */
bool lateness_find(const struct lateness_view *v, struct arena *arena, struct lateness *out);

#endif
