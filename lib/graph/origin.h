/* origin.h - the host and the rank on which a track was recorded. */
#ifndef GRAPH_ORIGIN_H
#define GRAPH_ORIGIN_H

#include <stdint.h>

/* Host and rank are the same for all tracks of a trace, except in a merged trace, where they may differ by process. */
struct track_origin {
  const char *host; /* "" = unknown */
  int64_t rank;     /* -1 = unknown */
};

#endif
