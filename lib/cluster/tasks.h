/* tasks.h - the part of a plan (proto/plan.proto) for apply, which writes one rank, and for concat, which joins the parts of all ranks.
 *
 * A merge decides everything that its ranks share before it writes any of them (merge/plan.c). A plan stores these decisions in a file.
 * With it, a rank can be written on a machine without the other ranks, and gets the same bytes as in the full merge. */
#ifndef CLUSTER_TASKS_H
#define CLUSTER_TASKS_H

#include "merge/merger.h"
#include "plan.pb-c.h"

enum { TASKS_SCHEMA = 1 };

/* Appends the plan of the merge to `to` as a Plan message (proto/plan.proto). `list`: scans of its ranks; `word`: output format, as
 * for -f. To be called after merge_plan. */
void tasks_print(struct buf *to, struct merger *m, const struct scan_list *list, const char *word);

/* A plan that was read. */
struct tasks {
  struct mem *mem;
  struct buf text;      /* contents of the file */
  struct buf bytes;     /* decoded message */
  Plan__Plan *plan;
  const char *align;    /* JSON text of the report on the clocks */
  uint64_t id;          /* id of the plan, which parts also contain */
  struct arena arena;
  struct tk_input *inputs; /* by rank: its input */
  struct tk_sources sources;
  struct format_starts starts;
  struct tk_merge_options opt; /* options of the merge; texts live as long as the plan */
  uint32_t n_wanted;           /* number of ranks that are not skipped */
};

bool tasks_read(struct tasks *t, const char *path, struct mem *mem, struct tk_err *err);
void tasks_free(struct tasks *t);

/* Starts a merge in the state that the plan describes. m->opt, m->output and m->report must be set. Returns false with err on
 * failure; the caller calls merge_end in any case. */
bool tasks_begin(struct merger *m, const struct tasks *t, struct tk_err *err);
/* Sets up the place and the clock map of one rank. Sets *ordinal to its index among the ranks that are written. The caller
 * frees place->pids with mem_free of m->mem. */
bool tasks_rank(struct merger *m, const struct tasks *t, uint32_t rank, struct merge_place_of *place, uint32_t *ordinal);

#endif
