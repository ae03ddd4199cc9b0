/* sink.h - the destination to which operations write graphs, independent of the format.
 *
 * A sink takes several sealed graphs in sequence: open, write x n, close. A merge of a thousand ranks therefore has only one
 * rank in memory. Writers implement it; merge, split and shrink use it. */
#ifndef GRAPH_SINK_H
#define GRAPH_SINK_H

#include "trace.h"

/* Categories of output bytes, for sink_meter.add. A writer calls `add` for each event and flow point, with its id and bytes;
 * before that, it calls `add` for each arg of the event, with the id of the key. All other bytes are metadata. */
enum sink_part { SINK_EVENT, SINK_FLOW, SINK_ARG, SINK_META, SINK_PARTS };

struct sink_meter {
  void (*add)(void *arg, enum sink_part part, tk_id id, uint64_t bytes);
  void *arg;
};

/* Properties of the first graph, for a process that writes only a later one (struct format, `start`). */
struct sink_start {
  int64_t of_first;
  bool known;
};

struct carry;

struct sink_options {
  bool pretty;
  bool gpu_events; /* for Perfetto output: write device work and device counters as GPU events */
  bool overlaps; /* same as in tk_save_options */
  bool no_passthrough; /* omit data that only its original format understands */
  bool several; /* the output contains several ranks, each written as one graph */
  const struct tk_trace *timeline; /* if there are several outputs: trace whose start is time 0 in all of them; NULL = the first graph
                                    * of this output */
  const char *host;    /* name of the host, if the traces do not contain it; NULL = unknown */
  struct sink_start start; /* set only if the first graph written is not the first of `several` */
  bool has_types; /* for data that another format embeds: that format keeps the types of numbers */
  struct carry *carry; /* data that other formats embed (format/carry.h); NULL = none */
  struct sink_meter meter;
  struct tk_progress progress;
  unsigned threads; /* number of threads that may write, including the caller's; 0 = 1. Does not affect the output */
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
  /* leave: appends to `state` the writer state that closing needs; if memory runs out, the memory account of `state` records the
   * failure. take: accounts for a graph that another process wrote as a part. Both are NULL if the format does not support parts. */
  void (*leave)(struct sink *s, struct buf *state);
  bool (*take)(struct sink *s, const struct sink_piece *part, struct tk_err *err);
  bool (*write_rest)(struct sink *s, const struct tk_trace *t, struct tk_err *err); /* see sink_leave_out */
  /* Set by the caller: number of graphs in the output (0 = one), and index of the graph that is written. Ids of this graph are
   * base + ordinal, base + ordinal + graphs and so on, so separate processes can write the graphs without using the same id. */
  uint32_t graphs, ordinal;
  uint32_t first_row, rows; /* the graph's processes among those of all graphs: position of the first, and number */
  struct tk_saved saved; /* losses and sizes, counted while writing */
};

static inline uint32_t sink_step(const struct sink *s) { return s->graphs > 1 ? s->graphs : 1; }

/* Counts lost data of one kind. Writers call it for a feature that their format row lists but that cannot be represented in
 * this case. Features that the row does not list are counted by sink_lose_unheld, which the callers of writers call for every
 * graph. */
static inline void sink_lose(struct sink *s, enum tk_loss kind, uint64_t n) { s->saved.lost[kind] += n; }
void sink_lose_unheld(struct sink *s, const struct tk_trace *t, unsigned holds);
/* `leave` of a sink whose closing does not depend on the graphs it wrote. */
static inline void sink_leave_nothing(struct sink *s, struct buf *state) { (void)s, (void)state; }
/* Makes a new sink leave out stack samples if a format with these capabilities cannot store them. */
void sink_leave_out(struct sink *s, unsigned holds);

/* Limits the writer's memory `m` to the part of the trace's memory limit that the trace does not use. */
void sink_limit(struct mem *m, const struct tk_trace *t);

#endif
