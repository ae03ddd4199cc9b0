/* readings.c - converts times in packets to the trace clock by the relations of clocks that the reader found. */
#include "readings.h"

#include <string.h>

#include "format/perfetto/fields.h"

static struct clock_reading reading_at(const struct readings *r, uint32_t i) {
  struct clock_reading reading;
  memcpy(&reading, r->of + i * sizeof reading, sizeof reading);
  return reading;
}

void readings_begin(struct readings *r, const struct tk_trace *t, struct mem *mem) {
  const struct tk_meta *m = passthrough_find(t, PASSTHROUGH_READINGS);
  *r = (struct readings){.head = {.trace_clock = CLOCK_BOOTTIME}};
  map_init(&r->clocks, mem);
  if (!m || m->size < sizeof r->head) return;
  memcpy(&r->head, trace_raw(t, m->at), sizeof r->head);
  r->of = trace_raw(t, m->at) + sizeof r->head;
  if (r->head.n > (m->size - sizeof r->head) / sizeof(struct clock_reading)) r->head.n = 0;
  for (uint32_t i = 0, n; i < r->head.n; i += n) {
    const struct clock_reading first = reading_at(r, i);
    n = first.n;
    if (n == 0 || n > r->head.n - i) return; /* checked because perfetto.readings may come from a damaged file */
    map_put(&r->clocks, (uint64_t)first.machine << 32 | first.id, i + 1);
  }
}

void readings_end(struct readings *r) { map_free(&r->clocks); }

bool readings_to_trace(const struct readings *r, uint32_t machine, uint32_t clock, uint64_t time, int64_t *ns) {
  *ns = (int64_t)time;
  if (clock == 0 || (clock == r->head.trace_clock && machine == 0)) return true;
  const uint32_t *first = map_get(&r->clocks, (uint64_t)machine << 32 | clock);
  if (!first) return false;
  uint32_t lo = *first - 1, hi = lo + reading_at(r, lo).n;
  while (hi - lo > 1) {
    const uint32_t mid = lo + (hi - lo) / 2;
    if (reading_at(r, mid).own <= (int64_t)time) lo = mid;
    else hi = mid;
  }
  const struct clock_reading last = reading_at(r, lo);
  *ns = (int64_t)((uint64_t)last.trace + (time - (uint64_t)last.own));
  return true;
}
