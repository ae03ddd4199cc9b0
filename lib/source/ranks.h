/* ranks.h - ranks from the numbers in which the names of several inputs differ.
 *
 *     trace_2.json trace_10.json                           2, 10: whatever word precedes the number
 *     1760100000.5-TP-3-EP-1.json 1760100000.5-TP-4-EP-1   3, 4: a word of a rank, and small numbers, before others
 *     node0_gpu1.json node1_gpu0.json ...                  all of both: one rank for each pair
 *     run_1700000001.json run_1700000312.json              none: times and process ids are not ranks, but they have an order */
#ifndef SOURCE_RANKS_H
#define SOURCE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ranks_from {
  RANKS_NONE,   /* the names have no number in common */
  RANKS_NUMBER, /* ranks[i] is a number in the i-th name, or made of several */
  RANKS_ORDER   /* ranks[i] is the position of the i-th name in natural order */
};

struct ranks {
  enum ranks_from from;
  int64_t *of;    /* by name; free with ranks_free */
  char words[96]; /* NUMBER: the words before the numbers, such as "'TP'" or "'node' and 'gpu'"; "" = none */
};

/* Returns false when memory runs out. */
bool ranks_find(struct ranks *r, const char *const *names, size_t n);
void ranks_free(struct ranks *r);

#endif
