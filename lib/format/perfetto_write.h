/* perfetto_write.h - what the files of the Perfetto writer share.
 *
 *     perfetto_write.c   the sink: descriptors, clocks, one track after the other
 *     perfetto_lanes.c   which lane a span goes to, which arrows there are
 *     perfetto_event.c   one TrackEvent: interning, args, time
 */
#ifndef FORMAT_PERFETTO_WRITE_H
#define FORMAT_PERFETTO_WRITE_H

#include "../graph/trace.h"
#include "../io/out.h"
#include "pb_out.h"
#include "perfetto.h"

/* Interned ids of one kind: by string id. */
struct iids {
  uint32_t *iid; /* 0 = not yet */
  uint32_t n;
};

/* One end of an arrow; in order of events. */
struct arrow {
  tk_id event;
  bool at_end; /* goes with the span's end: its other end begins later than this span */
  bool terminating;
  uint64_t id;
};

/* The packets of one graph: one sequence, so that names are interned once. */
struct event_writer {
  struct out *out;
  struct mem *mem;
  const struct tk_trace *t;
  uint32_t sequence;
  bool started;          /* its first packet, which clears the state, is written */
  int64_t base_ns;       /* of ts 0 against what the file prints times */
  int64_t last_ns;       /* the incremental clock */
  uint64_t track;        /* default track of the sequence now */
  struct iids names, categories, keys, values;
  struct arrow *arrows;
  uint32_t n_arrows, cap_arrows, next_arrow;
  struct buf interned, event, annotation, packet, scratch;
};

bool writer_begin(struct event_writer *w, const struct tk_trace *t, int64_t base_ns, struct out *out, struct mem *mem);
void writer_end(struct event_writer *w);

/* ns of a graph time as it is printed: rounded to nearest, so order and nesting survive. */
int64_t writer_ns(const struct event_writer *w, tk_time ts);

/* Events from here on are on this track. */
void writer_track(struct event_writer *w, uint64_t uuid);
void writer_slice_begin(struct event_writer *w, tk_id event);
void writer_slice_end(struct event_writer *w, tk_id event, int64_t ns);
void writer_instant(struct event_writer *w, tk_id event);
void writer_counter(struct event_writer *w, tk_id event, const struct tk_arg *value);

/* A packet outside of the sequence. */
void writer_packet(struct out *out, const struct buf *packet);

/* ---- lanes and arrows ---- */

/* Flow points of the graph as arrows, one fresh id each from *next_id on.  Returns the points that lead nowhere. */
uint64_t writer_arrows(struct event_writer *w, uint64_t *next_id);

/* Lanes of equal name: a new lane is made when all are busy. */
struct lanes {
  struct mem *mem;
  struct lane {
    tk_time end;
    uint64_t uuid;
  } *heap; /* the one that is free first on top */
  uint32_t n, cap;
};

/* A lane that is free at `ts`, busy until `end` from now on; 0 = a new one is needed, which lanes_add takes in. */
uint64_t lanes_take(struct lanes *l, tk_time ts, tk_time end);
void lanes_add(struct lanes *l, uint64_t uuid, tk_time end);
void lanes_free(struct lanes *l);

#endif
