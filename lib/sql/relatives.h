/* relatives.h - parents, children, self times and stacks of events: arrays by event, each built in one pass over the graph
 * when a query first needs it. */
#ifndef SQL_RELATIVES_H
#define SQL_RELATIVES_H

#include "sql.h"

/* These functions build an array when first called, and return false if memory runs out. */
bool sql_parents(struct tk_sql *s);
bool sql_children(struct tk_sql *s); /* by event: first child and next sibling */
bool sql_selves(struct tk_sql *s);
/* Sums of the durations of children, each rounded to nanoseconds as in queries. A child that never ended counts as -1. */
bool sql_child_durs(struct tk_sql *s);
bool sql_stacks(struct tk_sql *s);

/* Range [first, end) that contains the descendants of an event, as trace_processor defines them: deeper events on the same track that
 * begin within the event or at its end. An event at the end counts even if it is a child of the next event. */
struct below {
  tk_id first, end;
  uint16_t depth;
};
struct below sql_below(const struct tk_sql *s, tk_id event);
static inline bool is_below(const struct tk_sql *s, const struct below *b, tk_id i) {
  return s->t->events[i].depth > b->depth && is_slice(&s->t->events[i]);
}

/* Returns the first event of the track that begins after this time, or the id after its last event. */
tk_id sql_first_after(const struct tk_sql *s, const struct tk_track *k, tk_time ts);

#endif
