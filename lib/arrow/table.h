/* table.h - the tables of a trace: which columns each has, and what fills them. */
#ifndef ARROW_TABLE_H
#define ARROW_TABLE_H

#include "column.h"
#include "graph/kind.h"
#include "graph/origin.h"
#include "graph/steps.h"

/* What columns are filled from; what takes work is made when the first column asks. */
struct table_source {
  const struct tk_trace *t;
  const struct track_origin *origins; /* by track */
  bool ps;
  struct mem mem;
  struct kinds kinds;
  struct steps steps;
  bool has_kinds, has_steps;
};

struct table_column {
  const char *name;
  enum column_type type;
  bool (*fill)(struct table_source *s, struct column *c);
  bool asked; /* made only when it is asked for */
};

struct table {
  const char *name;
  const struct table_column *columns;
  uint32_t n;
  int64_t (*rows)(struct table_source *s); /* -1 = out of memory */
  /* A column that is none of those: makes and fills it.  NULL = there are no others. */
  bool (*other)(struct table_source *s, const char *name, struct column *c, bool *known);
};

extern const struct table events_table, tracks_table, flows_table, args_table, steps_table, collectives_table;

bool table_kinds(struct table_source *s);
bool table_steps(struct table_source *s);
void table_free(struct table_source *s);

/* A time and a duration as the table gives them. */
static inline int64_t table_ts(const struct table_source *s, tk_time ts) { return s->ps ? ts : s->t->origin_ns + num_ns(ts); }
static inline int64_t table_dur(const struct table_source *s, tk_time ts, tk_time dur) {
  return s->ps ? dur : num_ns(ts + dur) - num_ns(ts);
}

#endif
