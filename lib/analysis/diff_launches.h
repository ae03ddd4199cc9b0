/* diff_launches.h - rows of device work by the operators that launched it, for comparisons of runs whose kernels have different names.
 *
 * A row is a path of operators and annotations, a class (kernel, copy or fill), and an index: the row "aten::linear > aten::addmm >
 * kernel 2" is the second kernel of each call of addmm. The index is counted within a call of the innermost operator, not within a
 * step. So an additional kernel in one operator does not change the indices of later operators' work. */
#ifndef ANALYSIS_DIFF_LAUNCHES_H
#define ANALYSIS_DIFF_LAUNCHES_H

#include "diff_set.h"
#include "group.h"

struct diff_launches {
  struct diff_set *set;
  uint32_t side;
  struct mem *mem;
  struct groups *groups;
  const struct kinds *kinds;
  struct links links;
  tk_id *op;       /* by event: innermost operator around the event, or around its launch; 0 = none */
  uint32_t *path;  /* by operator: 1 + row of its path */
  uint32_t *index; /* by event, for work: ordinal, from 1, among the work of the same class launched by the same operator call; 0 = no
                    * operator */
};

/* Finds the launches of a trace. Returns false if memory runs out; the caller frees `x` in any case. */
bool diff_launches_init(struct diff_launches *x, struct diff_set *set, uint32_t side, const struct match *match,
                        struct groups *groups);
void diff_launches_free(struct diff_launches *x);
/* True for a kernel, copy or fill on a device. */
bool diff_launches_is_work(const struct diff_launches *x, const struct tk_event *e);
/* Returns 1 + the row of a kernel, copy or fill; 0 if no operator launched the event, or if memory runs out. */
uint32_t diff_launches_row(struct diff_launches *x, tk_id event);

#endif
