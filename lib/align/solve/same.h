/* same.h - offset of two clocks that both read the start and the end of the same events.
 *
 * A kernel in two recordings is one event with two readings. Unlike the ranks of a collective, which leave it microseconds apart,
 * the readings differ by the offset of the clocks and by the rounding of the recorders, so no model of noise is needed. Two
 * annotations around the same code are nested: one starts earlier and ends later, both by the time that the other call takes.
 *
 *     first clock       |------ outer ------|         difference of the starts: offset + time of a call
 *     second clock        |---- inner ----|           difference of the ends:   offset - time of a call
 *
 * So the difference of the middles is taken, and both the starts and the ends must be within the error. Example: NVTX ranges around
 * annotations of JAX, one clock, 120 pairs: the ends alone gave 4.5 us with an error of 3.7 us. */
#ifndef ALIGN_SOLVE_SAME_H
#define ALIGN_SOLVE_SAME_H

#include "base/mem.h"

/* Differences of the readings of one event, second clock minus first, in ns. */
struct same_event {
  double start, end;
};

struct same {
  double offset_ns; /* median of the differences of the middles */
  double error_ns;  /* for at least 95% of the events, both differences are within this distance of the offset; at least 1 ns */
  uint32_t n;
  bool sound;       /* true if there are enough events and the error is so small that they must be the same events */
};

/* Returns the offset by n events. `most_ns`: largest error of a sound answer. Not sound if memory runs out, which sets mem->failed. */
struct same same_offset(struct mem *mem, const struct same_event *v, uint32_t n, double most_ns);

#endif
