/* times.c - see times.h. */
#include "times.h"

#include "format/format.h"

/* Limits an offset, because larger times of the trace would overflow 64 bits. */
static int64_t within(int64_t ns) {
  const int64_t most = 8000000000000000000;
  return ns > most ? most : ns < -most ? -most : ns;
}

struct times times_of(const struct tk_trace *t) {
  const struct format *f = t->format ? format_by_name(t->format) : NULL;
  const int64_t base = within((int64_t)((uint64_t)t->origin_ns - (uint64_t)t->zero_ns)), us = times_floor(base, 1000);
  return (struct times){
      .base_ns = base, .base_us = us, .base_ps = (int32_t)(base - us * 1000) * 1000, .exact = f && f->info.resolution >= 1000};
}
