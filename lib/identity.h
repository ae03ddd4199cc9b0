/* identity.h - which rank of which host a trace is of. */
#ifndef IDENTITY_H
#define IDENTITY_H

#include "graph/trace.h"

struct identity {
  int64_t rank;          /* -1 = unknown */
  const char *rank_from; /* "distributedInfo", "file name", "" */
  char host[256];        /* "" = unknown */
};

struct identity identity_of(const struct tk_trace *t);

#endif
