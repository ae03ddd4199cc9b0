/* rivals.h - finds other hosts that may be the peer of a host's messages.
 *
 * A message has one sender and one receiver. If two hosts both seem to receive the message that one rank sends, they belong to
 * two jobs or to two runs of one job. Which of the two is the peer must then be shown by evidence. */
#ifndef ALIGN_SOLVE_RIVALS_H
#define ALIGN_SOLVE_RIVALS_H

#include "timeline.h"

enum { RIVALS_MOST = 32 }; /* largest number of rivals of a host; with more, messages are not used */

struct rivals {
  struct map first;               /* label and side (sender or receiver) -> index of its first entry */
  uint32_t *next, *host, n_entries;
};

/* Lists the hosts by the label and the side (sender or receiver) of their messages. first_sight: by host, plus a final entry:
 * index of its first sight (recorded collective). Returns false when memory runs out. */
bool rivals_list(struct rivals *r, struct arena *arena, const struct sight *sights, const uint32_t *first_sight, uint32_t n_hosts);
void rivals_free(struct rivals *r); /* may be called on a zeroed struct */

/* Writes to `out`, without duplicates, the hosts that sent or received the same message in the same role as `host`; `out` has
 * room for RIVALS_MOST. Returns their number, or RIVALS_MOST + 1 if there are more. */
uint32_t rivals_of(const struct rivals *r, const struct sight *sights, uint32_t n, uint32_t host, uint32_t *out);

#endif
