/* times.c - see times.h. */
#include "times.h"

#include "format/format.h"

struct times times_of(const struct tk_trace *t) {
  const struct format *f = t->format ? format_by_name(t->format) : NULL;
  int64_t base = t->origin_ns - t->zero_ns, us = times_floor(base, 1000);
  return (struct times){.base_us = us, .base_ps = (int32_t)(base - us * 1000) * 1000, .exact = f && f->info.resolution >= 1000};
}
