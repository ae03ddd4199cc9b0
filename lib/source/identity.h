/* identity.h - the rank and host of a trace. */
#ifndef SOURCE_IDENTITY_H
#define SOURCE_IDENTITY_H

#include "graph/origin.h"
#include "graph/trace.h"

#define IDENTITY_GIVEN "input order" /* source of the number that a merge gives to an input without a rank */

struct identity {
  int64_t rank;          /* -1 = unknown */
  const char *rank_from; /* where the rank was found: "distributedInfo", "file name", ...; "" = unknown */
  const char *rank_note; /* note about an uncertain rank; NULL = none */
  char host[256];        /* "" = unknown */
};

struct identity identity_of(const struct tk_trace *t);
/* If only the name of a trace or files next to it state its rank, and the name `output` does not, returns the rank; otherwise -1. */
int64_t identity_lost_rank(const struct tk_trace *t, const char *output);
/* True for a merged trace of several ranks, whichever program merged them; its first metadata belongs to one rank only. */
bool identity_is_merged(const struct tk_trace *t);

/* Returns an array by track: rank and host of the trace or, in a merged trace, rank and host from which the track's process
 * comes. Hosts are strings of the trace. Returns NULL when memory runs out. */
struct track_origin *identity_of_tracks(struct tk_trace *t, struct mem *mem);
void identity_free_tracks(struct track_origin *origins, struct mem *mem);

#endif
