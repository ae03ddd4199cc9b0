/* cut.h - chooses the packets of a trace that was only cut in time. */
#ifndef FORMAT_PERFETTO_WRITE_CUT_H
#define FORMAT_PERFETTO_WRITE_CUT_H

#include "base/map.h"
#include "format/pb.h"
#include "graph/trace.h"
#include "readings.h"

struct cut_cpu;
struct cut_sequence;

struct cut {
  struct mem *mem;
  struct trace_cut range; /* in ps since base_ns */
  int64_t base_ns;        /* time, on the packets' clock, of graph time 0 */
  struct readings readings;
  const struct warp *warp; /* corrections of the graph's times since it was read; NULL = none, or a constant move */
  struct map index;       /* machine << 32 | sequence -> its state */
  struct map cpus;        /* machine << 32 | cpu -> 1 + index in of_cpus, from its first bundle on */
  struct map open;        /* addresses of ftrace events, and of the content of packets, that apply at the start of the range */
  struct cut_sequence *sequences;
  struct cut_cpu *of_cpus;
  uint32_t n_sequences, cap_sequences, n_cpus, cap_cpus;
  struct buf content, item, inner, packet, out;
};

/* Prepares the cut. Returns false if the trace was not cut, or if other edits were made. */
bool cut_begin(struct cut *c, const struct tk_trace *t, struct mem *mem);
void cut_end(struct cut *c);

/* Returns the kept part of a packet as frames (none, one or several), valid until the next call. The frames include earlier
 * changes of the state of its sequence. */
const struct buf *cut_packet(struct cut *c, const struct pb_field *packet);

/* Finds the first and the last time of the packets that are at least partly in the range. Returns false if there are none
 * (format->passthrough_times). */
bool cut_times(const struct tk_trace *t, struct trace_cut range, struct trace_cut *found);

/* Appends the range of a Perfetto trace that was only cut in time (TRACEKIT_PART); nothing for other traces. */
void cut_put_part(const struct tk_trace *t, struct buf *to);

/* Returns how many ns our writer had added to all times of the input, if the trace was cut but not moved; otherwise 0. */
int64_t cut_later(const struct tk_trace *t);

#endif
