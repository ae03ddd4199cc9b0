/* cut.h - chooses the packets of a trace that was only cut in time. */
#ifndef FORMAT_PERFETTO_WRITE_CUT_H
#define FORMAT_PERFETTO_WRITE_CUT_H

#include "base/map.h"
#include "format/pb.h"
#include "format/perfetto/passthrough.h"
#include "graph/trace.h"

struct cut_sequence;

struct cut {
  struct mem *mem;
  struct trace_cut range; /* ps since base_ns */
  int64_t base_ns;        /* time of the packets at graph time 0 */
  struct clock_readings head;
  const char *readings;
  struct map clocks;      /* machine << 32 | clock -> its first reading + 1 */
  struct map index;       /* machine << 32 | sequence -> its state */
  struct map cpus;        /* machine << 32 | cpu: has had a bundle */
  struct map open;        /* address of an ftrace event, or of a packet's content, that holds where the range starts */
  struct cut_sequence *sequences;
  uint32_t n_sequences, cap_sequences;
  struct buf content, packet, out;
};

/* Returns false if the trace was not cut, or if other edits were made. */
bool cut_begin(struct cut *c, const struct tk_trace *t, struct mem *mem);
void cut_end(struct cut *c);

/* Returns what stays of a packet: frames as in a file, none or several, valid until the next call. They include the earlier
 * state of its sequence that it depends on. */
const struct buf *cut_packet(struct cut *c, const struct pb_field *packet);

/* Finds the first and the last time of the packets that have a part in the range. Returns false if none has (a member of the row). */
bool cut_times(const struct tk_trace *t, struct trace_cut range, struct trace_cut *found);

/* Returns the ns that our writer added to the times of the packets. */
int64_t cut_later(const struct tk_trace *t);

#endif
