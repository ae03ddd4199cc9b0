/* rivals.h - finds other hosts that may be the peer of a host's messages.
 *
 * A message has one sender and one receiver. Two hosts that both receive what one rank sends belong to two jobs, or to two runs
 * of one job; which of them is the peer must be shown, not assumed. */
#ifndef ALIGN_SOLVE_RIVALS_H
#define ALIGN_SOLVE_RIVALS_H

#include "timeline.h"

enum { RIVALS_MOST = 32 }; /* most for one host; with more, messages are not used to find a result */

struct rivals {
  struct map first;               /* label and side -> index of its first entry */
  uint32_t *next, *host, n_entries;
};

/* Lists the hosts of each label and side. first_sight: by host, plus a final entry. Returns false when memory runs out. */
bool rivals_list(struct rivals *r, struct arena *arena, const struct sight *sights, const uint32_t *first_sight, uint32_t n_hosts);
void rivals_free(struct rivals *r); /* a zeroed struct is empty */

/* Writes to out, without duplicates, the hosts that sent or received a message in the same role as `host`; out has room for
 * RIVALS_MOST. Returns their number, or RIVALS_MOST + 1 if there are more. */
uint32_t rivals_of(const struct rivals *r, const struct sight *sights, uint32_t n, uint32_t host, uint32_t *out);

#endif
