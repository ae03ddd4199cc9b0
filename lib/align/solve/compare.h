/* compare.h - compares clocks with the common timeline, several at once.
 *
 * Hosts are placed one after the other, because each that is placed extends the timeline for the next. A host that is refused
 * leaves the timeline as it was. So while hosts are refused, the next ones are compared ahead, a thread each; when one is
 * placed, the comparisons ahead of it are discarded. The result is the same for any number of threads. */
#ifndef ALIGN_SOLVE_COMPARE_H
#define ALIGN_SOLVE_COMPARE_H

#include "posterior.h"

enum { COMPARE_MOST = 16 };

/* A clock beside the common timeline as it stands. Each has its own memory, because threads do not share one. */
struct comparison {
  const struct timeline *common;
  struct sight *sights;
  uint32_t n;
  bool marker;          /* pairs markers in their order */
  struct question q;
  struct mem mem;
  struct arena arena;   /* owns what `view` and `found` point to */
  struct view view;
  struct posterior found;
  bool done;            /* false = out of memory */
};

struct compare {
  struct mem *mem;      /* memory of the caller, whose limit holds */
  unsigned threads;
  struct jobs *jobs;    /* NULL = not needed yet */
  struct comparison v[COMPARE_MOST];
  uint32_t n, at;       /* number of comparisons; next to be taken */
  bool placed;          /* the last one was placed: the next would be discarded */
};

/* `threads` counts the caller's. */
void compare_init(struct compare *c, struct mem *mem, unsigned threads);
void compare_free(struct compare *c);

/* True if no comparison is left: the next ones must be added, then run. */
bool compare_is_empty(const struct compare *c);
/* Returns the number of hosts to add, of those left. */
uint32_t compare_width(const struct compare *c, uint32_t left);
/* Adds a comparison of n sights; fills in the question's view and memory. */
void compare_add(struct compare *c, const struct timeline *common, struct sight *sights, uint32_t n, const struct question *q,
                 bool marker);
void compare_run(struct compare *c);
/* Returns the oldest comparison; NULL = out of memory. */
struct comparison *compare_take(struct compare *c);
/* Ends the comparison taken. If the host was placed, discards all others. */
void compare_end(struct compare *c, bool placed);

#endif
