/* origin.h - host and rank that recorded a track. */
#ifndef GRAPH_ORIGIN_H
#define GRAPH_ORIGIN_H

#include <stdint.h>

/* Equal for all tracks of a trace, except in a merged trace, where it differs by process. */
struct track_origin {
  const char *host; /* "" = unknown */
  int64_t rank;     /* -1 = unknown */
};

#endif
