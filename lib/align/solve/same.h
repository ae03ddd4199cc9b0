/* same.h - offset of two clocks that both read the ends of the same events.
 *
 * A kernel in two recordings is one event with two readings. Unlike the ranks of a collective, which leave it microseconds apart,
 * the readings differ by the offset of the clocks and by the rounding of the recorders, so no model of noise is needed: the
 * offset is the median of the differences, and 95% of the differences are within the error of the median. */
#ifndef ALIGN_SOLVE_SAME_H
#define ALIGN_SOLVE_SAME_H

#include <stdbool.h>
#include <stdint.h>

struct same {
  double offset_ns; /* median of the differences */
  double error_ns;  /* at least 95% of the differences are within this distance of the median; at least 1 ns */
  uint32_t n;
  bool sound;       /* true if the differences are many and close enough to come from single events */
};

/* Returns the offset, given n differences in ns, which are reordered. `most_ns`: largest error of a sound answer. */
struct same same_offset(double *apart, uint32_t n, double most_ns);

#endif
