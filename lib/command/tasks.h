/* tasks.h - what a plan holds for those that write a rank each, and for who joins what they wrote (proto/plan.proto).
 *
 * A merge settles what its ranks share before it writes any (merge_plan.c).  A plan is that, kept in a file: with it a rank is written
 * on a machine that knows no other, and gets the bytes that it has in the merge of all. */
#ifndef COMMAND_TASKS_H
#define COMMAND_TASKS_H

#include "merger.h"
#include "plan.pb-c.h"

enum { TASKS_SCHEMA = 1 };

/* Appends the Plan of a merge of scans that merger_plan has been called of, in the format that `word` asks for. */
void tasks_print(struct buf *to, struct merger *m, const struct scan_list *list, const char *word);

/* A plan that was read. */
struct tasks {
  struct mem *mem;
  struct buf text;      /* the file */
  struct buf bytes;     /* of the message */
  Plan__Plan *plan;
  const char *align;    /* the text of the report on the clocks */
  uint64_t id;          /* of the plan, in its parts */
  struct arena arena;
  struct tk_input *inputs; /* by rank */
  struct tk_sources sources;
  struct format_starts starts;
  struct tk_merge_options opt; /* of the merge; texts live with the plan */
  uint32_t n_wanted;           /* ranks that are not skipped */
};

bool tasks_read(struct tasks *t, const char *path, struct mem *mem, struct tk_err *err);
void tasks_free(struct tasks *t);

/* Begins a merge as its plan left it; merger_end in any case.  m->opt, m->output and m->report are set. */
bool tasks_begin(struct merger *m, const struct tasks *t, struct tk_err *err);
/* What one rank of it has to know, and its clock; the caller frees place->pids by mem_free of m->mem.  *ordinal says which of those
 * that are written it is. */
bool tasks_rank(struct merger *m, const struct tasks *t, uint32_t rank, struct merge_place_of *place, uint32_t *ordinal);

#endif
