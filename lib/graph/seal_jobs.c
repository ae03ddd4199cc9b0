/* seal_jobs.c - see seal_jobs.h. */
#include "seal_jobs.h"

#include "base/jobs.h"

static void run(void *job) { ((struct seal_job *)job)->run(job); }

struct seal_threads seal_threads_start(const struct tk_trace *t, unsigned n) {
  enum { WORTH = 5000 };
  struct seal_threads threads = {.n = 1};
  if (n < 2 || (t->n_events < WORTH && t->n_flow_points < WORTH)) return threads;
  threads.n = n < SEAL_RANGES ? n : SEAL_RANGES;
  threads.jobs = jobs_start(threads.n - 1, run);
  return threads;
}

void seal_threads_stop(struct seal_threads *threads) { jobs_stop(threads->jobs); }

/* True if the trace's limit leaves room for each event's share of the work of all ranges. */
static bool has_room(const struct tk_trace *t, unsigned per_event) {
  const struct mem *m = &t->store->mem;
  return !m->limit || (m->used < m->limit && (m->limit - m->used) / per_event > t->n_events);
}

static void add_track(struct seal_range *range, const struct tk_track *k) {
  range->n_events += k->count;
  if (k->count > range->most) range->most = k->count;
}

unsigned seal_ranges(struct tk_trace *t, const struct seal_threads *threads, bool together, unsigned per_event,
                     struct seal_range ranges[SEAL_RANGES]) {
  enum { LEAST = 4096 }; /* bytes for a range without events */
  const bool apart = threads->jobs && !together && has_room(t, per_event);
  const uint32_t share = apart ? t->n_events / SEAL_RANGES + 1 : UINT32_MAX;
  unsigned n = 0;
  for (tk_id k = 1; k <= t->n_tracks; k++) {
    if (n == 0 || ranges[n - 1].n_events >= share) ranges[n++] = (struct seal_range){.first = k};
    add_track(&ranges[n - 1], &t->tracks[k]);
    ranges[n - 1].last = k;
  }
  for (struct seal_range *r = ranges; r < ranges + n; r++) {
    r->mem = apart ? &r->own : &t->store->mem;
    if (apart && t->store->mem.limit) r->own.limit = (uint64_t)r->n_events * per_event + LEAST;
  }
  return n;
}

bool seal_range_end(struct tk_trace *t, struct seal_range *range) {
  struct mem *m = &t->store->mem;
  if (range->mem == m) return !m->failed;
  if (m->used + range->own.peak > m->peak) m->peak = m->used + range->own.peak;
  if (range->own.failed) m->failed = true;
  return !m->failed;
}
