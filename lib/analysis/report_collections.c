/* report_collections.c - garbage collections of a rank's host, in total and by step (report.h). */
#include "report.h"

#include <stdlib.h>

bool report_collections_add(struct reporter *p, struct report_host_sums *sums, struct interval part) {
  struct report_collections *c = &sums->collected;
  sums->collections++;
  if (part.dur > sums->collection_max) {
    sums->collection_max = part.dur;
    sums->collection_at = part.start - p->zero;
  }
  if (!mem_grow(p->mem, (void **)&c->v, &c->cap, (uint64_t)c->n + 1, sizeof *c->v)) return false;
  c->v[c->n++] = (struct report_collection){part.start, part};
  return true;
}

static int in_order_of_start(const void *p, const void *q) {
  const struct report_collection *a = p, *b = q;
  return (a->start > b->start) - (a->start < b->start);
}

void report_collections_end(struct report_host_sums *sums) {
  struct report_collections *c = &sums->collected;
  tk_time covered = INT64_MIN;
  if (c->n) qsort(c->v, c->n, sizeof *c->v, in_order_of_start);
  for (uint32_t i = 0; i < c->n; i++) {
    struct interval *own = &c->v[i].own;
    const tk_time end = own->start + own->dur;
    if (own->start < covered) own->start = covered;
    own->dur = end > own->start ? end - own->start : 0;
    covered = own->start + own->dur;
    sums->collecting += own->dur;
  }
}

/* Returns the index of the first collection that ends after `at`. */
static uint32_t first_after(const struct report_collections *c, tk_time at) {
  uint32_t lo = 0, hi = c->n;
  while (lo < hi) {
    const uint32_t mid = lo + (hi - lo) / 2;
    if (c->v[mid].own.start + c->v[mid].own.dur <= at) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/* Returns the number of collections that start before `at`. */
static uint32_t started_before(const struct report_collections *c, tk_time at) {
  uint32_t lo = 0, hi = c->n;
  while (lo < hi) {
    const uint32_t mid = lo + (hi - lo) / 2;
    if (c->v[mid].start < at) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

void report_collections_of_step(const struct report_host_sums *sums, const struct step *s, struct tk_report_step *step) {
  const struct report_collections *c = &sums->collected;
  const struct window w = {.start = s->start, .end = s->end};
  step->collections = started_before(c, s->end) - started_before(c, s->start);
  for (uint32_t i = first_after(c, s->start); i < c->n && c->v[i].own.start < s->end; i++)
    step->collecting += measure_part(&w, c->v[i].own.start, c->v[i].own.start + c->v[i].own.dur).dur;
}
