/* origin.h - the host and the rank on which a track was recorded. */
#ifndef GRAPH_ORIGIN_H
#define GRAPH_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

/* Host and rank are the same for all tracks of a trace, except in a merged trace, where they may differ by process. */
struct track_origin {
  const char *host; /* "" = unknown */
  int64_t rank;     /* -1 = unknown */
  bool is_given;    /* the rank is a number that a merge gave to an input without a rank */
};

/* Numbers the different pairs of host and rank from 0, and returns the number for each track, indexed by track id. *n_groups
 * receives how many pairs there are. `o`: by track; NULL = all tracks belong to one rank. Returns NULL if memory runs out. */
uint32_t *origin_groups(const struct track_origin *o, uint32_t n_tracks, uint32_t *n_groups, struct mem *mem);

#endif
