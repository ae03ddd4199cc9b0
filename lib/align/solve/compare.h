/* compare.h - compares clocks with the common timeline, several at once.
 *
 * Hosts are placed one after the other, because each placed host extends the timeline for the next host. A host that cannot be
 * placed leaves the timeline unchanged. So several hosts are compared at once, each in its own thread. When a host is placed,
 * the comparisons of the hosts after it are discarded, and these hosts are compared again. The result is the same for any
 * number of threads. */
#ifndef ALIGN_SOLVE_COMPARE_H
#define ALIGN_SOLVE_COMPARE_H

#include "posterior.h"

enum { COMPARE_MOST = 16 };

/* A comparison of a clock with the current common timeline. It has its own memory, because threads do not share memory. */
struct comparison {
  const struct timeline *common;
  struct sight *sights;
  uint32_t n;
  bool marker;          /* true: pair markers in order */
  struct question q;
  struct mem mem;
  struct arena arena;   /* owns the data to which `view` and `found` point */
  struct view view;
  struct posterior found;
  bool done;            /* false = out of memory */
};

struct compare {
  struct mem *mem;      /* the caller's memory, whose limit applies */
  unsigned threads;
  struct jobs *jobs;    /* NULL = not needed yet */
  struct comparison v[COMPARE_MOST];
  uint32_t n, at;       /* number of comparisons; index of the next one to take */
  bool placed;          /* the last host was placed, so the next one is not worth comparing in advance */
};

/* Initialises the comparisons. `threads` includes the caller's thread. */
void compare_init(struct compare *c, struct mem *mem, unsigned threads);
void compare_free(struct compare *c);

/* True if no comparison is left, so that the next ones must be added and run. */
bool compare_is_empty(const struct compare *c);
/* Returns how many of the `left` remaining hosts to add. */
uint32_t compare_width(const struct compare *c, uint32_t left);
/* Adds a comparison of a host's n sights (recorded collectives) with the common timeline. The question's view and memory are
 * filled in when the comparison runs. `marker`: pairs markers in order instead of weighing hypotheses. */
void compare_add(struct compare *c, const struct timeline *common, struct sight *sights, uint32_t n, const struct question *q,
                 bool marker);
void compare_run(struct compare *c);
/* Returns the oldest comparison; NULL if memory ran out. */
struct comparison *compare_take(struct compare *c);
/* Ends the comparison taken last. If its host was placed, discards all other comparisons. */
void compare_end(struct compare *c, bool placed);

#endif
