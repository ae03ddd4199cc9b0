/* move.h - moves packets to another time and another machine. */
#ifndef FORMAT_PERFETTO_WRITE_MOVE_H
#define FORMAT_PERFETTO_WRITE_MOVE_H

#include "base/map.h"
#include "format/pb.h"

struct move {
  struct mem *mem;
  int64_t ns, real_ns;  /* added to times on the trace clock, and to times on REALTIME */
  uint32_t trace_clock; /* id of the trace clock */
  uint32_t machine;     /* new id for packets without a machine id; 0 = none */
  struct map machines;  /* id of a machine -> its new id */
  struct map clocks;    /* machine << 32 | sequence -> default clock of its packets */
  struct buf packet, content, inner, item;
};

void move_begin(struct move *m, struct mem *mem);
void move_end(struct move *m);
/* Returns the moved packet, without its frame; valid until the next call. */
const struct buf *move_packet(struct move *m, const struct pb_field *packet);

#endif
