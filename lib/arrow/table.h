/* table.h - the tables of a trace: their columns, and the functions that fill them. */
#ifndef ARROW_TABLE_H
#define ARROW_TABLE_H

#include "column.h"
#include "graph/kind.h"
#include "graph/origin.h"
#include "graph/steps.h"

/* The trace from which columns are filled. Indexes that are expensive are built when the first column needs them. */
struct table_source {
  const struct tk_trace *t;
  const struct track_origin *origins; /* by track: rank and host */
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
  bool asked; /* true: the column is only built on request */
};

struct table {
  const char *name;
  const struct table_column *columns;
  uint32_t n;
  int64_t (*rows)(struct table_source *s); /* returns -1 when memory runs out */
  /* Builds a column that is not in the list; *known: true if the table has a column with this name. NULL = the table has only the
   * columns of the list. */
  bool (*other)(struct table_source *s, const char *name, struct column *c, bool *known);
};

extern const struct table events_table, table_of_tracks, table_of_flows, table_of_args, table_of_steps, collectives_table;

/* Converts a timestamp to the table's unit; table_dur converts a duration. */
static inline int64_t table_ts(const struct table_source *s, tk_time ts) { return s->ps ? ts : s->t->origin_ns + num_ns(ts); }
static inline int64_t table_dur(const struct table_source *s, tk_time ts, tk_time dur) {
  return s->ps ? dur : num_ns(ts + dur) - num_ns(ts);
}

#endif
