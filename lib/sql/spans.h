/* spans.h - joins of two tables of spans by time: span_join, span_left_join and span_outer_join, as in trace_processor. */
#ifndef SQL_SPANS_H
#define SQL_SPANS_H

#include "sql.h"

/* One of the joined tables. */
struct spans_table {
  char *name, *partition; /* partition: name of the column; NULL = not partitioned */
  int n, ts, dur, part;   /* number of columns; columns with the start, the duration and the partition */
  bool fills;             /* true if gaps between spans are also joined */
};

/* A position among the spans of a table and the gaps between them. */
struct spans_side {
  const struct spans_table *table;
  sqlite3_stmt *stmt; /* rows in the order of partition and start */
  bool row;           /* true if the statement is on a row that the walk has not left yet */
  int64_t row_part, row_ts, row_dur;
  bool open, gap;     /* open: positioned on a span or a gap; gap: on a gap */
  int64_t from, to;   /* to: end of the span or gap; for a span without an end, its start */
  int64_t raw_to;     /* the end as recorded: start + duration */
  int64_t reached;    /* end of the spans so far; the next gap begins here */
};

struct spans_walk {
  sqlite3 *db;
  struct spans_side sides[2];
  int64_t part; /* current partition; 0 if neither table is partitioned */
  bool inside;  /* true once the walk has entered a partition */
  bool end;
};

/* These functions return an SQLite status. spans_begin starts again if the walk was used before. */
int spans_begin(struct spans_walk *w);
int spans_next(struct spans_walk *w);
void spans_close(struct spans_walk *w);

static inline int64_t spans_start(const struct spans_walk *w) {
  return w->sides[0].from > w->sides[1].from ? w->sides[0].from : w->sides[1].from;
}

static inline int64_t spans_end(const struct spans_walk *w) {
  return w->sides[0].raw_to < w->sides[1].raw_to ? w->sides[0].raw_to : w->sides[1].raw_to;
}

/* Returns the duration; wraps if it has more than 63 bits. */
static inline int64_t spans_duration(const struct spans_walk *w) {
  return (int64_t)((uint64_t)spans_end(w) - (uint64_t)spans_start(w));
}

bool spans_is_module(const char *name);
bool sql_register_spans(struct tk_sql *s);

#endif
