/* ranks.h - ranks from the numbers in which the names of several inputs differ.
 *
 *     trace_2.json trace_10.json                           2, 10: any word may precede the number
 *     1760100000.5-TP-3-EP-1.json 1760100000.5-TP-4-EP-1   3, 4: words for ranks and small numbers are preferred
 *     node0_gpu1.json node1_gpu0.json ...                  0, 1, ...: one rank for each pair of numbers
 *     run_1700000001.json run_1700000312.json              0, 1: times and process ids are not ranks, but their order is used */
#ifndef SOURCE_RANKS_H
#define SOURCE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ranks_from {
  RANKS_NONE,   /* the names do not differ in a usable number */
  RANKS_NUMBER, /* ranks[i] is a number of the i-th name, or computed from several */
  RANKS_ORDER   /* ranks[i] is the position of the i-th name in natural order */
};

struct ranks {
  enum ranks_from from;
  int64_t *of;    /* by name: its rank; freed by ranks_free */
  char words[96]; /* for NUMBER: the words before the numbers, such as "'TP'" or "'node' and 'gpu'"; "" = none */
  bool may_be_pids; /* for NUMBER: true if no word stands for a rank and the numbers are too large to be ranks of so few names */
};

/* Finds the ranks of n names by the numbers in which the names differ. Returns false when memory runs out. */
bool ranks_find(struct ranks *r, const char *const *names, size_t n);
void ranks_free(struct ranks *r);
/* Replaces the numbers, which are ids of processes, by the positions of the n names. Returns false when memory runs out. */
bool ranks_by_order(struct ranks *r, const char *const *names, size_t n);

/* A file that does not state the ranks of its inputs. */
struct ranks_file {
  size_t first, n; /* range of the file's inputs */
  int64_t number;  /* number of the file: from its name, or its position */
};
/* Assigns ranks to the inputs of the files, in the order of the files' numbers: each input i gets the lowest rank of[i] that is
 * not in `taken` and not assigned yet. Sorts both arrays. */
void ranks_number(struct ranks_file *files, size_t n, int64_t *taken, size_t n_taken, int64_t *of);

#endif
