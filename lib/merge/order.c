/* order.c - ranks of inputs that state none, and positions of inputs, by rank or grouped by host (order.h).
 *
 * merge_order sorts twice: first by host and rank, to find each host's lowest rank; then by this lowest rank. */
#include "order.h"

#include <stdlib.h>
#include <string.h>

struct item {
  const char *host;
  int64_t rank, lowest; /* lowest: lowest rank of the item's host */
  uint32_t input;
};

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int by_rank(const struct item *a, const struct item *b) {
  int order = compare(a->rank, b->rank);
  return order ? order : compare(a->input, b->input);
}

static int by_host(const void *pa, const void *pb) {
  const struct item *a = pa, *b = pb;
  int order = strcmp(a->host, b->host);
  return order ? order : by_rank(a, b);
}

static int by_lowest(const void *pa, const void *pb) {
  const struct item *a = pa, *b = pb;
  int order = compare(a->lowest, b->lowest);
  if (!order) order = strcmp(a->host, b->host); /* needed if two hosts claim the same rank */
  return order ? order : by_rank(a, b);
}

void merge_give_ranks(struct merge_who *who, size_t n) {
  int64_t last = -1;
  for (size_t i = 0; i < n; i++)
    if (!who[i].merged && who[i].rank > last && who[i].rank < INT32_MAX) last = who[i].rank;
  const bool stated = last >= 0;
  for (size_t i = 0; i < n; i++)
    if (who[i].rank < 0) who[i].rank = stated && !who[i].merged ? ++last : (int64_t)i;
}

bool merge_order(const struct merge_who *who, size_t n, bool by_hosts, uint32_t *places) {
  struct item *items = calloc(n + 1, sizeof *items);
  if (!items) return false;
  for (size_t i = 0; i < n; i++) items[i] = (struct item){by_hosts ? who[i].host : "", who[i].rank, who[i].rank, (uint32_t)i};
  qsort(items, n, sizeof *items, by_host);
  for (size_t i = 1; i < n; i++)
    if (*items[i].host && strcmp(items[i].host, items[i - 1].host) == 0) items[i].lowest = items[i - 1].lowest;
  qsort(items, n, sizeof *items, by_lowest);
  for (size_t i = 0; i < n; i++) places[items[i].input] = (uint32_t)i;
  free(items);
  return true;
}
