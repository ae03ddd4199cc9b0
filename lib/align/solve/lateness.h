/* lateness.h - finds how far apart the ranks of one clock leave a collective, and what this implies across clocks.
 *
 * Between hosts, lateness looks like an offset of the clock. Within a host there is one clock, so lateness is visible: as a
 * scatter of the ranks, or as a trend along the ranks, as in a ring. Hosts are late in the same way as ranks are. */
#ifndef ALIGN_SOLVE_LATENESS_H
#define ALIGN_SOLVE_LATENESS_H

#include "timeline.h"

/* Sights of all hosts, as the solver keeps them. */
struct lateness_view {
  const struct align_work *work;
  const struct sight *sights;
  const uint32_t *first_sight;  /* by host, plus a final entry */
  const uint32_t *first_anchor; /* by host */
  const uint32_t *ranks;        /* by host: number of devices with anchors */
};

/* Widens the errors of all placed hosts by the lateness that ranks show. `usual`: ns, the scatter of ranks that the errors contain
 * already. Returns false when memory runs out. */
bool lateness_widen(const struct lateness_view *v, struct align_solution *s, double usual);

#endif
