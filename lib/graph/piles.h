/* piles.h - elements that begin with their time, into time order, group by group and stable.
 *
 * Producers write a few sorted sequences that interleave: a span when it ends and the one around it later, a buffer of the CPU and then
 * one of the GPU.  So each element goes on the first pile of its group whose last one is not later (patience sorting).  Tops fall from
 * pile to pile, so of two equal times the one that came later lies on the same or a later pile, and merging the piles is stable.
 *
 * All passes are sequential.  The permutation that this replaced was followed cycle by cycle, each step a cache miss: `info` of 2.0 GB
 * of Kineto took 569 ns an event where 52 MB took 374; with piles 345 and 367 (medians of 3 and 5, an EPYC whose other core was busy).
 *
 *     piles_init;  piles_put of each element in its order;  piles_settle;  piles_free */
#ifndef GRAPH_PILES_H
#define GRAPH_PILES_H

#include "base/keyed.h"
#include "trace.h"

enum {
  PILE_ELEM = 32,     /* bytes of an element: its time, and 24 more */
  PILES_MOST = 64,    /* in a group; one that would need more goes into buckets of time */
  PILE_MANY = 254,
  PILE_NONE = 255     /* an element that goes */
};

struct pile {
  tk_time top;
  uint32_t n;
  uint32_t at; /* while they settle: where its next element goes */
};

struct pile_group {
  uint32_t piles; /* its first one in the pool */
  uint32_t n;     /* elements */
  uint8_t n_piles, cap, largest;
  bool many;
  uint32_t crowd; /* of many: which one of them it is */
};

struct piles {
  struct mem *mem;
  struct pile_group *groups; /* [n_groups] */
  struct pile *pool;
  uint8_t *of; /* by element: its pile */
  uint32_t n_groups, n_pool, cap_pool;
};

/* For elements 1..n of groups 0..n_groups-1.  False when memory has run out; piles_free in any case. */
bool piles_init(struct piles *p, struct mem *mem, uint32_t n_groups, uint32_t n);
void piles_free(struct piles *p);

void piles_put_below(struct piles *p, uint32_t i, struct pile_group *g, tk_time ts);

/* Element i, which is of this group, and comes next in the file; one that is not put goes. */
static inline void piles_put(struct piles *p, uint32_t i, uint32_t group, tk_time ts) {
  struct pile_group *g = &p->groups[group];
  struct pile *first = &p->pool[g->piles];
  g->n++;
  if (g->n_piles && first->top <= ts) {
    first->top = ts;
    first->n++;
    p->of[i] = 0;
  } else {
    piles_put_below(p, i, g, ts);
  }
}

/* Where the elements are.  Those of group 0 come first in the result, from [1] on. */
struct pile_array {
  void *items;         /* [1..n]; moves, unless they came group by group */
  uint32_t n, cap;
  size_t group_at;     /* where in an element its group stands, an uint32_t; unused if there is one group */
  bool grouped;        /* they came group by group, and all of them stay */
  uint32_t *was;       /* [1..n], or NULL: gets the number that each had before */
};

/* False when memory has run out. */
bool piles_settle(struct piles *p, struct pile_array *a);

/* Elements `items` [0..n) in the order of `v`, which is used up, and `was` (or NULL) likewise. */
void piles_permute(void *items, uint32_t *was, struct keyed *v, uint32_t n);

#endif
