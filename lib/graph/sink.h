/* sink.h - where operations put their graphs, without knowing a format.
 *
 * A sink takes several sealed graphs one after the other: open, write x n, close.  That is how a merge of a thousand ranks holds
 * one rank at a time.  Writers implement it; merge, split and shrink receive it. */
#ifndef GRAPH_SINK_H
#define GRAPH_SINK_H

#include "trace.h"

/* What bytes of the output are spent on.  A writer calls it with the event or flow point that they were for, and before it with each
 * arg (its key) that is among them; what it does not tell of is metadata. */
enum sink_part { SINK_EVENT, SINK_FLOW, SINK_ARG, SINK_META, SINK_PARTS };

struct sink_meter {
  void (*add)(void *arg, enum sink_part part, tk_id id, uint64_t bytes);
  void *arg;
};

/* What a writer of a later graph has to know of the first one (struct format, start), which is not at hand. */
struct sink_start {
  int64_t of_first;
  bool known;
};

struct carry;

struct sink_options {
  bool pretty;
  bool overlaps; /* as in tk_save_options */
  bool no_passthrough; /* leave out what the graph does not model and only the format itself understands */
  bool several; /* ranks follow one another, each a graph */
  const struct tk_trace *timeline; /* times count from where this one's do, of one of several outputs; NULL = from its own start */
  const char *host;    /* that the output is of, where the traces do not say it themselves; NULL = not known */
  struct sink_start start; /* where only a later graph of several is written */
  struct carry *carry; /* what the output holds for other formats (format/carry.h); NULL = nothing */
  struct sink_meter meter;
  struct tk_progress progress;
};

/* What another process has written of a graph, by a sink that was opened alike: which of the bytes it is that they stand for, raw of
 * them, and what that sink left.  The bytes themselves stand behind what the sink writes when it takes the part. */
struct sink_piece {
  uint64_t raw;
  const uint8_t *state;
  size_t n_state;
};

struct sink {
  /* Everything that can stand before events; `first` gives the zero of time and the top-level data. */
  bool (*open)(struct sink *s, const struct tk_trace *first, struct tk_err *err);
  /* Events, flows and records of one graph. */
  bool (*write)(struct sink *s, const struct tk_trace *t, struct tk_err *err);
  /* What stands after events.  `provenance` is the JSON text of the "tracekit" object, or NULL. */
  bool (*close)(struct sink *s, const struct tk_trace *first, const char *provenance, struct tk_err *err);
  void (*free)(struct sink *s);
  /* What closing has to know of the graph that was written last; and takes a graph that stands in a part.  NULL = the sink takes none.
   * Failure of the first sticks in the memory of `state`. */
  void (*leave)(struct sink *s, struct buf *state);
  bool (*take)(struct sink *s, const struct sink_piece *part, struct tk_err *err);
  /* Set by the caller.  The ids that a writer gives to the ordinal-th of so many graphs are first + ordinal, first + ordinal + graphs
   * and so on, whoever writes the others.  0 = there is but one. */
  uint32_t graphs, ordinal;
  uint32_t first_row, rows; /* its processes stand in these rows, behind those of the graphs before; of several */
  struct tk_saved saved; /* counted while writing */
};

static inline uint32_t sink_step(const struct sink *s) { return s->graphs > 1 ? s->graphs : 1; }

/* Counts what of `t` the sink cannot hold.  A writer calls it for what its row says that it holds, but not in this case; what a row
 * says that its format cannot hold at all is counted by sink_lose_unheld, which the callers of writers ask for every graph. */
static inline void sink_lose(struct sink *s, enum tk_loss kind, uint64_t n) { s->saved.lost[kind] += n; }
void sink_lose_unheld(struct sink *s, const struct tk_trace *t, unsigned holds);

/* A writer has of its trace's memory what the trace leaves: `m`, the writer's own, is held to the rest of the limit. */
void sink_limit(struct mem *m, const struct tk_trace *t);

#endif
