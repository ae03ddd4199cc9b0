/* carry.h - blocks: data that one format embeds for another; only the other format can interpret the data.
 *
 *     XPlane in JSON     graphs -> carrier of XPlane -> an XSpace without events -> a top-level key "xplane" after the events
 *     and back           the reader finds the key -> format_adopt -> tables as if the trace had been read as XPlane
 *
 * The carrier of a format is a sink that creates blocks: from the graphs that it receives, it writes a file of its format that contains
 * only data which the graph cannot represent. A format whose info sets `carries` stores such blocks without interpreting them. The code
 * that opens the sink of a trace fills in a struct carry (format.h) and passes it with the options; otherwise no blocks are stored. In
 * a graph that was read, a block is a meta whose key and origin are the name of its format, until that format adopts the block
 * (converts it to tables of the graph). */
#ifndef FORMAT_CARRY_H
#define FORMAT_CARRY_H

#include "graph/sink.h"
#include "io/out.h"

enum { CARRY_MOST = 4 };

struct carried {
  const char *name; /* name of the format */
  struct sink *sink;
  struct out out;   /* memory output to which the sink writes */
};

struct carry {
  struct carried of[CARRY_MOST];
  unsigned n;
  struct mem mem;
};

/* Open, write to and close the sinks of all carriers; `c` may be NULL. Losses are added to *saved. carry_write gives the graph
 * and its rows the same numbers as the sink `of` does. All return false with err on failure. */
bool carry_open(struct carry *c, const struct tk_trace *first, struct tk_err *err);
bool carry_write(struct carry *c, const struct sink *of, const struct tk_trace *t, struct tk_err *err);
bool carry_close(struct carry *c, const struct tk_trace *first, struct tk_saved *saved, struct tk_err *err);

/* Returns the bytes that the i-th carrier has written since the last call, valid until it writes more. All bytes of a carrier
 * together are its block. Returns NULL if there is no i-th carrier. */
const uint8_t *carry_take(struct carry *c, unsigned i, const char **name, size_t *n);

/* Registers a block that was read. `at`, `size`: its place in the raw text of the trace. */
void carry_found(struct tk_trace *t, tk_id name, uint64_t at, uint64_t size);
bool carry_is_block(const struct tk_trace *t, const struct tk_meta *m);

#endif
