/* move.h - moves packets to another time, another trace clock and another machine, and renames processes. */
#ifndef FORMAT_PERFETTO_WRITE_MOVE_H
#define FORMAT_PERFETTO_WRITE_MOVE_H

#include "base/map.h"
#include "format/pb.h"
#include "graph/trace.h"
#include "readings.h"

/* A move from one time to another, in ns. */
struct move_axis {
  int64_t from_ns, to_ns;
};

/* New names of processes. */
struct move_names {
  struct map *of;      /* move_name_key -> process; NULL = no process has a new name */
  struct map *written; /* receives the processes whose names were written */
  const struct tk_trace *t;
};

/* Key of a process in move_names.of. `machine`: id of the machine in the input. */
static inline uint64_t move_name_key(uint32_t machine, uint64_t pid) { return (uint64_t)machine << 32 | (uint32_t)pid; }

struct move {
  struct mem *mem;
  struct move_axis trace, real; /* trace: for times on the trace clock; real: for times on REALTIME */
  const struct warp *warp;      /* more corrections of times on both clocks; NULL = none */
  struct readings readings;
  uint32_t trace_clock, out_clock; /* id of the trace clock in the input, and in the output */
  uint32_t from_machine; /* machine of the current packet, in the input */
  uint32_t machine;     /* new id for packets without a machine id; 0 = none */
  bool moves;           /* times change */
  bool is_one_of_several; /* the output also has packets of other traces */
  struct move_names names;
  struct map machines;  /* id of a machine -> its new id */
  struct map clocks;    /* machine << 32 | sequence -> default clock of its packets */
  struct buf packet, content, inner, item, side, named;
};

/* Prepares to copy the packets of a graph without a change. */
void move_begin(struct move *m, const struct tk_trace *t, struct mem *mem);
void move_end(struct move *m);
/* Prepares to move the packets in the same way as the events of the graph, into a file with the trace clock `clock`, in which
 * `zero_ns` becomes time 0. */
void move_to(struct move *m, const struct tk_trace *t, int64_t zero_ns, uint32_t clock);
/* Returns the moved time, in ns, of the machine to which the last packet belonged. */
uint64_t move_time(const struct move *m, uint32_t clock, uint64_t ns);
/* Returns the moved packet, without its frame, valid until the next call; NULL if its times cannot be converted to the trace
 * clock. */
const struct buf *move_packet(struct move *m, const struct pb_field *packet);

#endif
