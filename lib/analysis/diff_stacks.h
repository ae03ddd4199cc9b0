/* diff_stacks.h - sums the stack samples of a trace for a comparison, by the names on their stacks or by path. */
#ifndef ANALYSIS_DIFF_STACKS_H
#define ANALYSIS_DIFF_STACKS_H

#include "diff_set.h"
#include "group.h"

struct diff_stacks {
  struct diff_set *set;
  struct diff_side *side;
  const struct tk_trace *t;
  struct mem *mem;
  struct groups *groups;
  struct stack_entry *entries; /* sums of stack samples with the same part and stack; part: a sample of the comparison, and a unit */
  uint32_t n, cap;
  struct map parts;     /* sample of the comparison and unit -> part */
  struct map entry_of;  /* part and stack -> 1 + entry */
  struct stack_part *list;
  uint32_t n_list, cap_list;
  uint32_t *row_of;     /* by stack: 1 + row */
  uint8_t *is_outer;    /* by stack: true if no parent of the stack has the same row */
};

void diff_stacks_init(struct diff_stacks *x, struct diff_set *set, struct diff_side *side, const struct tk_trace *t,
                      struct groups *groups);
/* Adds a stack sample that has a stack. `sample`: 1 + index of the sample of the comparison, as in diff_rows_cell. */
void diff_stacks_add(struct diff_stacks *x, const struct tk_event *e, uint32_t sample);
/* Adds all stack samples to the cells of their rows. Returns false if memory runs out. */
bool diff_stacks_close(struct diff_stacks *x);
void diff_stacks_free(struct diff_stacks *x);

#endif
