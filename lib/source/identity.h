/* identity.h - which rank of which host a trace is of. */
#ifndef SOURCE_IDENTITY_H
#define SOURCE_IDENTITY_H

#include "graph/origin.h"
#include "graph/trace.h"

struct identity {
  int64_t rank;          /* -1 = unknown */
  const char *rank_from; /* "distributedInfo", "file name", "" */
  char host[256];        /* "" = unknown */
};

struct identity identity_of(const struct tk_trace *t);
/* Is the trace of many ranks?  What its first one says of itself is not of the whole. */
bool identity_is_merged(const struct tk_trace *t);

/* By track: the rank and host of the trace, or, of a merged one, of the rank that each process came with.  Hosts are strings of the
 * trace.  NULL when memory runs out. */
struct track_origin *identity_of_tracks(struct tk_trace *t, struct mem *mem);
void identity_free_tracks(struct track_origin *origins, struct mem *mem);

#endif
