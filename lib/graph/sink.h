/* sink.h - the destination to which operations write graphs, independent of the format.
 *
 * A sink takes several sealed graphs in sequence: open, write x n, close. A merge of a thousand ranks therefore has only one
 * rank in memory. Writers implement it; merge, split and shrink use it. */
#ifndef GRAPH_SINK_H
#define GRAPH_SINK_H

#include "trace.h"

/* Categories for accounting the bytes of the output. A writer calls it with the event or flow point to which the bytes belong.
 * Calls for each arg of that event (by key) precede it; everything else counts as metadata. */
enum sink_part { SINK_EVENT, SINK_FLOW, SINK_ARG, SINK_META, SINK_PARTS };

struct sink_meter {
  void (*add)(void *arg, enum sink_part part, tk_id id, uint64_t bytes);
  void *arg;
};

/* Properties of the first of several graphs (capabilities, see struct format; start). A process that writes only later graphs
 * needs them. */
struct sink_start {
  int64_t of_first;
  bool known;
};

struct carry;

struct sink_options {
  bool pretty;
  bool gpu_events; /* Perfetto: write work and counters of devices as GPU events */
  bool overlaps; /* same as in tk_save_options */
  bool no_passthrough; /* omit data that only its original format understands */
  bool several; /* several ranks follow, one graph each */
  const struct tk_trace *timeline; /* for one of several outputs: trace at whose start time is 0; NULL = this output */
  const char *host;    /* name of the host, if the traces do not contain it; NULL = unknown */
  struct sink_start start; /* set only if the first graph written is not the first of `several` */
  bool has_types; /* for a carrier: the other format keeps the types of numbers */
  struct carry *carry; /* data that other formats embed (format/carry.h); NULL = none */
  struct sink_meter meter;
  struct tk_progress progress;
};

/* A part of the output that another process wrote through a sink with the same options: the number of graph bytes that the part
 * represents, and the final state of that sink. The bytes of the part are appended after this sink has written what precedes
 * them. */
struct sink_piece {
  uint64_t raw;
  const uint8_t *state;
  size_t n_state;
};

struct sink {
  /* Writes everything that precedes events; `first` provides the zero of time and the top-level data. */
  bool (*open)(struct sink *s, const struct tk_trace *first, struct tk_err *err);
  /* Writes events, flows and records of one graph. */
  bool (*write)(struct sink *s, const struct tk_trace *t, struct tk_err *err);
  /* Writes the data that follows the events. `provenance` is the JSON text of the "tracekit" object, or NULL. */
  bool (*close)(struct sink *s, const struct tk_trace *first, const char *provenance, struct tk_err *err);
  void (*free)(struct sink *s);
  /* leave: appends to `state` the writer state that closing needs; out of memory shows in the memory of `state`. take: accounts
   * for a graph that another process wrote as a part. NULL: the format does not support parts. */
  void (*leave)(struct sink *s, struct buf *state);
  bool (*take)(struct sink *s, const struct sink_piece *part, struct tk_err *err);
  /* Set by the caller. The writer gives the graph number `ordinal` of `graphs` graphs the ids first + ordinal, first + ordinal
   * + graphs and so on, so that the graphs can be written by separate processes without equal ids. 0 = only one graph. */
  bool (*write_rest)(struct sink *s, const struct tk_trace *t, struct tk_err *err); /* see sink_leave_out */
  uint32_t graphs, ordinal;
  uint32_t first_row, rows; /* range of rows for the graph's processes, after the rows of earlier graphs */
  struct tk_saved saved; /* losses and sizes, counted while writing */
};

static inline uint32_t sink_step(const struct sink *s) { return s->graphs > 1 ? s->graphs : 1; }

/* Counts lost data of one kind. Writers call it for a feature that their format row lists but that cannot be represented in
 * this case. Features that the row does not list are counted by sink_lose_unheld, which the callers of writers call for every
 * graph. */
static inline void sink_lose(struct sink *s, enum tk_loss kind, uint64_t n) { s->saved.lost[kind] += n; }
void sink_lose_unheld(struct sink *s, const struct tk_trace *t, unsigned holds);
/* Makes a new sink leave out the events that a format with these capabilities cannot store at all: stack samples. */
void sink_leave_out(struct sink *s, unsigned holds);

/* Limits the writer's memory `m` to the part of the trace's own limit that the trace does not use. */
void sink_limit(struct mem *m, const struct tk_trace *t);

#endif
