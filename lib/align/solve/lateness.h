/* lateness.h - measures how far apart ranks that share a clock leave a collective, and widens the errors of other clocks
 * accordingly.
 *
 * Between hosts, lateness cannot be distinguished from an offset of the clock. Within a host, all ranks share a clock, so
 * lateness is visible: as scatter of the ranks, or as a trend over rank numbers, as in a ring. Hosts are assumed to be as late
 * as ranks are. */
#ifndef ALIGN_SOLVE_LATENESS_H
#define ALIGN_SOLVE_LATENESS_H

#include "timeline.h"

/* The sights of all hosts, in the solver's arrays. */
struct lateness_view {
  const struct align_work *work;
  const struct sight *sights;
  const uint32_t *first_sight;  /* by host, plus a final entry: index of its first sight (recorded collective) */
  const uint32_t *first_anchor; /* by host: index of its first anchor */
  const uint32_t *ranks;        /* by host: number of devices with anchors */
};

/* Widens the errors of all placed hosts by the lateness that ranks show. `usual`: scatter of ranks that the errors already
 * include, in ns. Returns false when memory runs out. */
bool lateness_widen(const struct lateness_view *v, struct align_solution *s, double usual);

#endif
