/* rivals.h - who else may be the other side of a host's messages?
 *
 * A message has one sender and one receiver.  Two hosts that both receive what one rank sends are of two jobs, or of two runs of one,
 * and which of them was meant is to be shown, not assumed. */
#ifndef ALIGN_RIVALS_H
#define ALIGN_RIVALS_H

#include "timeline.h"

enum { RIVALS_MOST = 32 }; /* of one host; where there are more, nothing is claimed by its messages */

struct rivals {
  struct map first;               /* label and side -> the first of its entries */
  uint32_t *next, *host, n_entries;
};

/* The hosts of each label and side.  first_sight: by host, and one more.  False when memory runs out. */
bool rivals_list(struct rivals *r, struct arena *arena, const struct sight *sights, const uint32_t *first_sight, uint32_t n_hosts);
void rivals_free(struct rivals *r); /* all zero is empty */

/* The hosts that have a message of `host` on the same side, each once, go to out, which has room for RIVALS_MOST.  Returns how many;
 * RIVALS_MOST + 1: more. */
uint32_t rivals_of(const struct rivals *r, const struct sight *sights, uint32_t n, uint32_t host, uint32_t *out);

#endif
