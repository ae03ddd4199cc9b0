/* host_time.c - see host_time.h. */
#include "host_time.h"

#include <string.h>

/* ---- one thread ---- */

static bool put_stretch(struct host_time *h, tk_time from, tk_time to, uint8_t class, uint32_t first) {
  struct host_stretch *last = h->n > first ? &h->v[h->n - 1] : NULL;
  if (to <= from || !class) return true;
  if (last && last->end == from && last->class == class) {
    last->end = to;
    return true;
  }
  if (!mem_grow(h->mem, (void **)&h->v, &h->cap, (uint64_t)h->n + 1, sizeof *h->v)) return false;
  h->v[h->n++] = (struct host_stretch){from, to, class};
  return true;
}

/* Adds stretches for the time up to `until`, and closes spans that end by then. */
static bool run_until(struct host_time *h, tk_time until) {
  const uint32_t first = h->threads[h->n_threads - 1].first;
  bool ok = true;
  while (ok && h->n_open && h->now < until) {
    const struct host_open *top = &h->open[h->n_open - 1];
    const tk_time to = top->end < until ? top->end : until;
    ok = put_stretch(h, h->now, to, top->class, first);
    if (to > h->now) h->now = to;
    if (top->end <= until) h->n_open--;
  }
  while (h->n_open && h->open[h->n_open - 1].end <= until) h->n_open--;
  if (h->now < until && until != INT64_MAX) h->now = until;
  return ok;
}

bool host_time_begin(struct host_time *h) {
  if (!mem_grow(h->mem, (void **)&h->threads, &h->cap_threads, (uint64_t)h->n_threads + 1, sizeof *h->threads)) return false;
  h->threads[h->n_threads++] = (struct host_thread){h->n, false};
  h->n_open = 0;
  h->now = INT64_MIN;
  return true;
}

bool host_time_add(struct host_time *h, const struct tk_event *e, enum host_class class, enum host_class *around) {
  if (!run_until(h, e->ts)) return false;
  *around = h->n_open ? (enum host_class)h->open[h->n_open - 1].class : HOST_NOTHING;
  if (class < *around) class = *around;
  if (!mem_grow(h->mem, (void **)&h->open, &h->cap_open, (uint64_t)h->n_open + 1, sizeof *h->open)) return false;
  h->open[h->n_open++] = (struct host_open){e->ts + e->dur, (uint8_t)class};
  return true;
}

bool host_time_end(struct host_time *h, bool leads) {
  h->threads[h->n_threads - 1].leads = leads;
  return run_until(h, INT64_MAX);
}

/* ---- all threads ---- */

/* Given the classes of two threads at one time, returns the one that explains better why a device was idle. */
static uint8_t stronger(uint8_t a, uint8_t b) {
  static const uint8_t order[HOST_CLASSES] = {
    [HOST_NOTHING] = 0, [HOST_PYTHON] = 1, [HOST_WAIT] = 2, [HOST_SYSTEM] = 3, [HOST_CHECKPOINT] = 4, [HOST_GC] = 5, [HOST_SYNC] = 6,
    [HOST_OP] = 7, [HOST_RUNTIME] = 8, [HOST_LAUNCH] = 9, [HOST_INPUT] = 10, [HOST_COMPILE] = 11};
  return order[a] >= order[b] ? a : b;
}

/* Stretches of one thread, or of several that were merged. */
struct row {
  const struct host_stretch *at, *end;
};

/* Returns the class at time `now`. Lowers *next to the time at which the class changes next, if that is earlier. */
static uint8_t class_at(struct row *r, tk_time now, tk_time *next) {
  while (r->at < r->end && r->at->end <= now) r->at++;
  if (r->at == r->end) return HOST_NOTHING;
  const bool inside = r->at->start <= now;
  const tk_time change = inside ? r->at->end : r->at->start;
  if (change < *next) *next = change;
  return inside ? r->at->class : HOST_NOTHING;
}

static bool merge_two(struct host_time *to, struct row a, struct row b) {
  const uint32_t first = to->n;
  tk_time now = a.at == a.end ? INT64_MAX : a.at->start;
  bool ok = true;
  if (b.at < b.end && b.at->start < now) now = b.at->start;
  while (ok && now != INT64_MAX) {
    tk_time next = INT64_MAX;
    const uint8_t one = class_at(&a, now, &next), other = class_at(&b, now, &next);
    if (next != INT64_MAX) ok = put_stretch(to, now, next, stronger(one, other), first);
    now = next;
  }
  return ok;
}

static struct row row_at(const struct host_time *h, uint32_t thread) {
  const uint32_t end = thread + 1 < h->n_threads ? h->threads[thread + 1].first : h->n;
  if (!h->n) return (struct row){NULL, NULL};
  return (struct row){h->v + h->threads[thread].first, h->v + end};
}

/* Merges the threads in pairs, which halves their number. */
static bool merge_pairs(struct host_time *h) {
  struct host_time to = {.mem = h->mem};
  bool ok = true;
  uint32_t made = 0;
  for (uint32_t i = 0; ok && i < h->n_threads; i += 2) {
    const uint32_t first = to.n;
    const struct row none = {NULL, NULL};
    ok = merge_two(&to, row_at(h, i), i + 1 < h->n_threads ? row_at(h, i + 1) : none);
    h->threads[made++].first = first;
  }
  mem_free(h->mem, h->v);
  h->v = to.v;
  h->n = to.n;
  h->cap = to.cap;
  h->n_threads = made;
  return ok;
}

static void demote_followers(struct host_time *h) {
  bool any = false;
  for (uint32_t i = 0; i < h->n_threads; i++) any = any || h->threads[i].leads;
  for (uint32_t i = 0; any && i < h->n_threads; i++) {
    const uint32_t end = i + 1 < h->n_threads ? h->threads[i + 1].first : h->n;
    for (uint32_t k = h->threads[i].first; !h->threads[i].leads && k < end; k++) {
      const uint8_t c = h->v[k].class;
      if (c == HOST_LAUNCH || c == HOST_RUNTIME || c == HOST_SYNC || c == HOST_INPUT) h->v[k].class = HOST_OP;
    }
  }
}

/* Drops threads without stretches, which would make merging slower. */
static void drop_idle(struct host_time *h) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < h->n_threads; i++) {
    const struct row r = row_at(h, i);
    if (r.at != r.end) h->threads[kept++] = h->threads[i];
  }
  h->n_threads = kept;
}

bool host_time_merge(struct host_time *h) {
  bool ok = true;
  demote_followers(h);
  drop_idle(h);
  while (ok && h->n_threads > 1) ok = merge_pairs(h);
  return ok;
}

void host_time_free(struct host_time *h) {
  if (!h->mem) return;
  mem_free(h->mem, h->v);
  mem_free(h->mem, h->threads);
  mem_free(h->mem, h->open);
  *h = (struct host_time){.mem = NULL};
}

/* ---- sums ---- */

uint32_t host_time_at(const struct host_time *h, tk_time at) {
  uint32_t lo = 0, hi = h->n;
  while (lo < hi) {
    const uint32_t mid = lo + (hi - lo) / 2;
    if (h->v[mid].end <= at) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

void host_time_within(const struct host_time *h, uint32_t *from, tk_time start, tk_time end, struct host_sums *sums) {
  tk_time known = 0;
  while (*from < h->n && h->v[*from].end <= start) ++*from;
  for (uint32_t i = *from; i < h->n && h->v[i].start < end; i++) {
    const tk_time at = h->v[i].start > start ? h->v[i].start : start, to = h->v[i].end < end ? h->v[i].end : end;
    sums->of[h->v[i].class] += to - at;
    known += to - at;
  }
  sums->of[HOST_NOTHING] += end > start ? end - start - known : 0;
}
