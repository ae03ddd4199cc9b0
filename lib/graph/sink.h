/* sink.h - where operations write their graphs, independent of the format.
 *
 * A sink takes several sealed graphs in sequence: open, write x n, close. A merge of a thousand ranks therefore has only one
 * rank in memory. Writers implement it; merge, split and shrink use it. */
#ifndef GRAPH_SINK_H
#define GRAPH_SINK_H

#include "trace.h"

/* Categories for accounting the bytes of the output. A writer calls it with the event or flow point that the bytes belong to,
 * preceded by calls for each of its args (by key); everything else counts as metadata. */
enum sink_part { SINK_EVENT, SINK_FLOW, SINK_ARG, SINK_META, SINK_PARTS };

struct sink_meter {
  void (*add)(void *arg, enum sink_part part, tk_id id, uint64_t bytes);
  void *arg;
};

/* Properties of the first graph (struct format, start) that a writer of later graphs needs when the first one is not available.
 */
struct sink_start {
  int64_t of_first;
  bool known;
};

struct carry;

struct sink_options {
  bool pretty;
  bool overlaps; /* as in tk_save_options */
  bool no_passthrough; /* omit data that only the format itself understands */
  bool several; /* several ranks follow, one graph each */
  const struct tk_trace *timeline; /* one of several outputs: times count from this trace's start; NULL = from its own start */
  const char *host;    /* host of the output if the traces do not name it; NULL = unknown */
  struct sink_start start; /* only if a later graph of several is written */
  struct carry *carry; /* data embedded for other formats (format/carry.h); NULL = none */
  struct sink_meter meter;
  struct tk_progress progress;
};

/* A part of the output written by another process through a sink opened alike: the number of graph bytes it represents, and the
 * state that sink left. The bytes of the part follow what this sink writes when it takes the part. */
struct sink_piece {
  uint64_t raw;
  const uint8_t *state;
  size_t n_state;
};

struct sink {
  /* Writes everything that precedes events; `first` gives the zero of time and the top-level data. */
  bool (*open)(struct sink *s, const struct tk_trace *first, struct tk_err *err);
  /* Writes events, flows and records of one graph. */
  bool (*write)(struct sink *s, const struct tk_trace *t, struct tk_err *err);
  /* Writes what follows the events. `provenance` is the JSON text of the "tracekit" object, or NULL. */
  bool (*close)(struct sink *s, const struct tk_trace *first, const char *provenance, struct tk_err *err);
  void (*free)(struct sink *s);
  /* leave: stores the state of the last written graph that closing needs. take: adds a graph written as a part. NULL = parts
   * are unsupported. A failure of leave sticks in the memory of `state`. */
  void (*leave)(struct sink *s, struct buf *state);
  bool (*take)(struct sink *s, const struct sink_piece *part, struct tk_err *err);
  /* Set by the caller. A writer gives the ordinal-th of `graphs` graphs the ids first + ordinal, first + ordinal + graphs and
   * so on, so that other processes can write the others. 0 = only one graph. */
  uint32_t graphs, ordinal;
  uint32_t first_row, rows; /* several graphs: its processes get these rows, after the rows of earlier graphs */
  struct tk_saved saved; /* counted while writing */
};

static inline uint32_t sink_step(const struct sink *s) { return s->graphs > 1 ? s->graphs : 1; }

/* Counts what the sink cannot represent. Writers call it for features that their row lists but that fail in this case. Features
 * that the row does not list are counted by sink_lose_unheld, which the callers of writers call for every graph. */
static inline void sink_lose(struct sink *s, enum tk_loss kind, uint64_t n) { s->saved.lost[kind] += n; }
void sink_lose_unheld(struct sink *s, const struct tk_trace *t, unsigned holds);

/* Limits the writer's memory `m` to what the trace leaves of its own limit. */
void sink_limit(struct mem *m, const struct tk_trace *t);

#endif
