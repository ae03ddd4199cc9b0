/* memory.c - see memory.h. */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *memory_name(int64_t rank, const char *allocator, char *text, size_t n) {
  if (rank >= 0) snprintf(text, n, "rank %lld, %s", (long long)rank, allocator);
  else snprintf(text, n, "%s", allocator);
  return text;
}

size_t memory_place(const struct tk_report *r, size_t i, size_t before) {
  const struct tk_report_held *row = &r->held[i], *last = i ? row - 1 : NULL;
  const bool same = last && row->rank == last->rank && strcmp(row->allocator, last->allocator) == 0;
  return same ? before + 1 : 0;
}

/* Rows that are summed up are less than SMALL of the bytes that were allocated in the recording, once the rows before them are at least
 * MOST of these. */
static const double SMALL = 0.01, MOST = 0.9;

static double recorded_in(const struct tk_report_held *v, size_t n) {
  double bytes = 0;
  for (size_t i = 0; i < n; i++) bytes += v[i].recorded ? v[i].bytes : 0;
  return bytes;
}

static size_t rows_from(const struct tk_report *r, size_t first) {
  size_t n = 1;
  while (first + n < r->n_held && memory_place(r, first + n, 0) != 0) n++;
  return n;
}

static int by_peak(const void *p, const void *q) {
  const struct memory_part *a = p, *b = q;
  if (a->rows->rank != b->rows->rank) return a->rows->rank < b->rows->rank ? -1 : 1;
  if (a->rows->peak != b->rows->peak) return a->rows->peak > b->rows->peak ? -1 : 1;
  return a->rows < b->rows ? -1 : 1;
}

/* Returns the number of the first rows of an allocator to show. `largest`: recorded bytes of the rank's largest allocator. */
static size_t rows_to_show(const struct tk_report_held *v, size_t n, size_t top, double largest) {
  const double all = recorded_in(v, n);
  double before = 0;
  size_t shown = 0;
  if (n > 1 && all < SMALL * largest) return 0;
  for (; shown < n && shown < top; shown++) {
    if (v[shown].recorded && v[shown].bytes < SMALL * all && before >= MOST * all) break;
    before += v[shown].recorded ? v[shown].bytes : 0;
  }
  return shown;
}

/* Decides which rows to show of n allocators of one rank. */
static void show_rank(struct memory_part *v, size_t n, size_t top) {
  double largest = 0;
  for (size_t i = 0; i < n; i++) {
    const double bytes = recorded_in(v[i].rows, v[i].n);
    if (bytes > largest) largest = bytes;
  }
  for (size_t i = 0; i < n; i++) v[i].shown = rows_to_show(v[i].rows, v[i].n, top, largest);
}

struct memory_part *memory_parts(const struct tk_report *r, size_t top, size_t *n) {
  struct memory_part *v = calloc(r->n_held + 1, sizeof *v);
  *n = 0;
  for (size_t i = 0; v && i < r->n_held; i += v[(*n)++].n) v[*n] = (struct memory_part){ &r->held[i], rows_from(r, i), 0 };
  if (v && *n) qsort(v, *n, sizeof *v, by_peak);
  for (size_t i = 0, m; v && i < *n; i += m) {
    for (m = 1; i + m < *n && v[i + m].rows->rank == v[i].rows->rank;) m++;
    show_rank(v + i, m, top);
  }
  return v;
}
