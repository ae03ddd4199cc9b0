/* weights.h - sums up the weights of stack samples by frame.
 *
 * The unit of a report is time if it contains spans, or any sample whose weight is a time; otherwise it is the unit of the first
 * sample. Samples in other units are counted, but their weights are ignored, because bytes cannot be added to cycles. If the unit is
 * not time, one unit is stored as one nanosecond. */
#ifndef ANALYSIS_WEIGHTS_H
#define ANALYSIS_WEIGHTS_H

#include "graph/stack.h"

/* The unit of a report. */
struct weight_unit {
  bool times;        /* true: the unit is time (durations of spans, or weights that are times) */
  tk_id unit;        /* string: unit of the first sample whose weight is not a time; 0 = none */
  uint64_t n_other;  /* samples whose unit is not the unit of the report; valid after all weights_of calls */
};

/* Updates the unit of the report for a selected event. Call it for all events before weights_of. */
void weights_see(struct weight_unit *u, const struct tk_trace *t, const struct tk_event *e);
/* Stores the weight of a sample in *amount: in ps, or in thousandths of the unit. If the sample is in another unit, counts it
 * and returns false. */
bool weights_of(struct weight_unit *u, const struct tk_trace *t, const struct tk_event *e, i128 *amount);
/* Returns the unit of the report; NULL = times. */
const char *weights_unit(const struct weight_unit *u, const struct tk_trace *t);

/* Sums by stack. [0] is the empty stack. */
struct weights {
  struct mem *mem;
  struct stack_sum {
    i128 self, total;
    uint64_t n_self, n_total;
  } *sums;
};
bool weights_init(struct weights *w, const struct tk_trace *t, struct mem *mem);
void weights_free(struct weights *w);
static inline void weights_add(struct weights *w, tk_id stack, i128 amount) {
  w->sums[stack].self += amount;
  w->sums[stack].n_self++;
}
/* Calls `add` for each entry of stacks with samples, with the group of its frame (group_of[frame]). is_outer: true if no entry around
 * it has the same group; totals use only such entries, so that recursive calls count once. Returns false if memory runs out. */
typedef void weights_take(void *arg, uint32_t group, const struct stack_sum *sum, bool is_outer);
bool weights_each(struct weights *w, const struct tk_trace *t, const uint32_t *group_of, uint32_t n_groups, weights_take *add,
                  void *arg);

/* Calls `see` for each entry of the stacks; group_of and is_outer are the same as for weights_each. Returns false if memory runs
 * out. */
typedef void weights_see_stack(void *arg, tk_id stack, bool is_outer);
bool weights_outer(const struct tk_trace *t, struct mem *mem, const uint32_t *group_of, uint32_t n_groups, weights_see_stack *see,
                   void *arg);

#endif
