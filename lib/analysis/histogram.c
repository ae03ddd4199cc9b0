/* histogram.c - see histogram.h. */
#include "histogram.h"

#include <string.h>

enum { FIRST_POWER = 10 }; /* the first bin begins at 2^10 ps */

size_t histogram_bin(tk_time time) {
  uint32_t power = 0;
  if (time < (tk_time)1 << FIRST_POWER) return 0;
  while (time >> (power + 1)) power++;
  const size_t bin = 4 * (size_t)(power - FIRST_POWER) + ((uint64_t)time >> (power - 2) & 3);
  return bin < TK_REPORT_DURATIONS ? bin : TK_REPORT_DURATIONS - 1;
}

bool histogram_add(uint64_t **bins, struct mem *mem, tk_time time) {
  if (!*bins) {
    *bins = mem_array(mem, TK_REPORT_DURATIONS, sizeof **bins);
    if (!*bins) return false;
    memset(*bins, 0, TK_REPORT_DURATIONS * sizeof **bins);
  }
  (*bins)[histogram_bin(time)]++;
  return true;
}
