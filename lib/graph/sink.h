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

struct carry;

struct sink_options {
  bool pretty;
  bool overlaps; /* as in tk_save_options */
  bool no_passthrough; /* leave out what the graph does not model and only the format itself understands */
  bool several; /* ranks follow one another, each a graph */
  const struct tk_trace *timeline; /* times count from where this one's do, of one of several outputs; NULL = from its own start */
  const char *host;    /* that the output is of, where the traces do not say it themselves; NULL = not known */
  struct carry *carry; /* what the output holds for other formats (format/carry.h); NULL = nothing */
  struct sink_meter meter;
  struct tk_progress progress;
};

struct sink {
  /* Everything that can stand before events; `first` gives the zero of time and the top-level data. */
  bool (*open)(struct sink *s, const struct tk_trace *first, struct tk_err *err);
  /* Events, flows and records of one graph. */
  bool (*write)(struct sink *s, const struct tk_trace *t, struct tk_err *err);
  /* What stands after events.  `provenance` is the JSON text of the "tracekit" object, or NULL. */
  bool (*close)(struct sink *s, const struct tk_trace *first, const char *provenance, struct tk_err *err);
  void (*free)(struct sink *s);
  struct tk_saved saved; /* counted while writing */
};

/* Counts what of `t` the sink cannot hold.  A writer calls it for what its row says that it holds, but not in this case; what a row
 * says that its format cannot hold at all is counted by sink_lose_unheld, which the callers of writers ask for every graph. */
static inline void sink_lose(struct sink *s, enum tk_loss kind, uint64_t n) { s->saved.lost[kind] += n; }
void sink_lose_unheld(struct sink *s, const struct tk_trace *t, unsigned holds);

/* A writer has of its trace's memory what the trace leaves: `m`, the writer's own, is held to the rest of the limit. */
void sink_limit(struct mem *m, const struct tk_trace *t);

#endif
