/* carry.h - blocks: what a graph holds that only another format than that of the output understands.
 *
 *     XPlane in JSON     graphs -> carrier of XPlane -> an XSpace without events -> a top-level key "xplane" behind the events
 *     and back           the reader finds the key -> format_adopt -> tables as if the trace had been read as XPlane
 *
 * A row with a carrier makes blocks: a sink that writes, of the graphs that it is given, a file of its format that holds what the
 * graph does not.  A row whose info says `carries` has a place for them and knows nothing of what they mean.  Whoever opens the sink
 * of a trace fills a struct carry (format.h) and hands it over with the options; without one nothing is carried.  A block stands in a
 * graph that was read as a meta whose key and origin are the name of its format, until that format adopts it. */
#ifndef FORMAT_CARRY_H
#define FORMAT_CARRY_H

#include "graph/sink.h"
#include "io/out.h"

enum { CARRY_MOST = 4 };

struct carried {
  const char *name; /* of the format */
  struct sink *sink;
  struct out out;   /* memory that the sink writes to */
};

struct carry {
  struct carried of[CARRY_MOST];
  unsigned n;
  struct mem mem;
};

/* As the functions of a sink, for all carriers; `c` may be NULL.  What they cannot hold is counted in *saved.  The graph is as `of` has
 * it. */
bool carry_open(struct carry *c, const struct tk_trace *first, struct tk_err *err);
bool carry_write(struct carry *c, const struct sink *of, const struct tk_trace *t, struct tk_err *err);
bool carry_close(struct carry *c, const struct tk_trace *first, struct tk_saved *saved, struct tk_err *err);

/* The bytes of the i-th format that have been written since they were asked for last, valid until more is written.  Blocks append: one
 * that is given out in pieces is the pieces one behind the other.  NULL behind the last format. */
const uint8_t *carry_take(struct carry *c, unsigned i, const char **name, size_t *n);

/* A block that was read, of which the bytes stand in the raw text of the trace. */
void carry_found(struct tk_trace *t, tk_id name, uint64_t at, uint64_t size);
bool carry_is_block(const struct tk_trace *t, const struct tk_meta *m);

#endif
