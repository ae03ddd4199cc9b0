/* measure.c - see measure.h.
 *
 * The k-th shortest duration is found by radix selection with digits of 11 bits: count the durations by leading digit, keep those with
 * the same leading digit as the k-th one, and continue with the next digit. Each duration is visited at most six times, and the result
 * is exact.
 *
 * For the union, each sorted run of intervals is first reduced to disjoint intervals, which usually leaves only few; then runs are
 * merged pairwise. */
#include "measure.h"

#include <string.h>

enum { DIGIT = 11, FEW = 24 };

/* ---- order ---- */

static tk_time kth_of_few(tk_time *v, uint64_t n, uint64_t k) {
  for (uint64_t i = 1; i < n; i++) {
    tk_time x = v[i];
    uint64_t j = i;
    for (; j > 0 && v[j - 1] > x; j--) v[j] = v[j - 1];
    v[j] = x;
  }
  return v[k];
}

static int digits_above(tk_time most) {
  int shift = 0;
  while (shift + DIGIT < 63 && most >> (shift + DIGIT)) shift += DIGIT;
  return shift;
}

/* Keeps the durations that have the same digit at `shift` as the k-th duration. Sets *k to the position of the k-th duration among
 * these. Returns their number. */
static uint64_t keep_digit(tk_time *v, uint64_t n, uint64_t *k, int shift) {
  uint64_t count[1 << DIGIT] = {0}, kept = 0;
  const uint64_t mask = (1 << DIGIT) - 1;
  uint64_t digit = 0;
  for (uint64_t i = 0; i < n; i++) count[(uint64_t)v[i] >> shift & mask]++;
  while (*k >= count[digit]) *k -= count[digit++];
  for (uint64_t i = 0; i < n; i++)
    if (((uint64_t)v[i] >> shift & mask) == digit) v[kept++] = v[i];
  return kept;
}

tk_time measure_kth(const struct interval *v, uint64_t n, uint64_t k, tk_time *room) {
  tk_time most = 0;
  for (uint64_t i = 0; i < n; i++) {
    room[i] = v[i].dur;
    if (v[i].dur > most) most = v[i].dur;
  }
  for (int shift = digits_above(most); n > FEW; shift -= DIGIT) {
    n = keep_digit(room, n, &k, shift);
    if (shift == 0) return room[k];
  }
  return kth_of_few(room, n, k);
}

struct durations measure_durations(const struct interval *v, uint64_t n, uint64_t left_out, tk_time *room) {
  const uint64_t counted = n - left_out;
  struct durations d = {.min = INT64_MAX};
  i128 total = 0;
  for (uint64_t i = 0; i < n; i++) {
    if (v[i].dur < d.min) d.min = v[i].dur;
    if (v[i].dur > d.max) d.max = v[i].dur;
    total += v[i].dur;
  }
  if (left_out) d.min = measure_kth(v, n, left_out, room);
  d.mean = (tk_time)((total * 2 + (i128)counted) / ((i128)counted * 2));
  d.p50 = measure_kth(v, n, left_out + (counted + 1) / 2 - 1, room);
  d.p95 = measure_kth(v, n, n - counted / 20 - 1, room);
  return d;
}

/* ---- union ---- */

/* Appends an interval that starts no earlier than the intervals v[from .. n). Joins it with the last of these if the two
 * touch. Returns the new end of the list. */
static uint64_t append(struct interval *v, uint64_t from, uint64_t n, struct interval x) {
  struct interval *last = n > from ? &v[n - 1] : NULL;
  if (!last || x.start > last->start + last->dur) {
    v[n] = x;
    return n + 1;
  }
  if (x.start + x.dur > last->start + last->dur) last->dur = x.start + x.dur - last->start;
  return n;
}

/* Reduces each run in v[0 .. n) to disjoint intervals, in place. Returns the number of intervals; sets *runs to the number of runs. A
 * new run begins at every interval that starts earlier than the previous one. */
static uint64_t thin(struct interval *v, uint64_t n, uint64_t *runs) {
  uint64_t kept = 0, from = 0;
  *runs = 0;
  for (uint64_t i = 0; i < n; i++) {
    const struct interval x = v[i];
    if (x.dur == 0 || x.start == INT64_MIN) continue;
    if (kept == 0 || x.start < v[kept - 1].start) {
      from = kept;
      ++*runs;
    }
    kept = append(v, from, kept, x);
  }
  return kept;
}

static uint64_t end_of_run(const struct interval *v, uint64_t i, uint64_t n) {
  for (i++; i < n && v[i].start > v[i - 1].start; i++) {}
  return i;
}

/* Merges the runs of v pairwise into `to`. */
static uint64_t merge_pairs(const struct interval *v, uint64_t n, struct interval *to, uint64_t *runs) {
  uint64_t out = 0, from = 0;
  *runs = 0;
  for (uint64_t a = 0; a < n;) {
    uint64_t b = end_of_run(v, a, n), a_end = b, b_end = b < n ? end_of_run(v, b, n) : b;
    tk_time begin = b < n && v[b].start < v[a].start ? v[b].start : v[a].start;
    if (out == 0 || begin < to[out - 1].start) {
      from = out;
      ++*runs;
    }
    while (a < a_end || b < b_end) {
      bool first = b == b_end || (a < a_end && v[a].start <= v[b].start);
      out = append(to, from, out, first ? v[a++] : v[b++]);
    }
    a = b_end;
  }
  return out;
}

tk_time measure_union(struct interval *v, uint64_t n, struct interval *room) {
  uint64_t runs;
  tk_time sum = 0;
  for (n = thin(v, n, &runs); runs > 1;) {
    n = merge_pairs(v, n, room, &runs);
    struct interval *swap = v;
    v = room;
    room = swap;
  }
  for (uint64_t i = 0; i < n; i++) sum += v[i].dur;
  return sum;
}

bool measure_add(struct intervals *to, struct interval x, struct mem *mem) {
  if (!mem_grow(mem, (void **)&to->v, &to->cap, (uint64_t)to->n + 1, sizeof *to->v)) return false;
  to->v[to->n++] = x;
  return true;
}

tk_time measure_join(struct intervals *of, struct mem *mem, bool *ok) {
  struct interval *room = mem_array(mem, (uint64_t)of->n + 1, sizeof *room);
  const tk_time time = room && of->n ? measure_union(of->v, of->n, room) : 0;
  *ok = *ok && room;
  mem_free(mem, room);
  mem_free(mem, of->v);
  *of = (struct intervals){0};
  return time;
}
