/* origin.h - who recorded a track. */
#ifndef GRAPH_ORIGIN_H
#define GRAPH_ORIGIN_H

#include <stdint.h>

/* The same for all tracks of a trace; in a merged trace each process has its own. */
struct track_origin {
  const char *host; /* "" = unknown */
  int64_t rank;     /* -1 = unknown */
};

#endif
