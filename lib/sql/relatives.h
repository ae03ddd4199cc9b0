/* relatives.h - parents, children, self times and stacks of events: arrays by event, each built in one pass over the graph
 * when a query first needs it. */
#ifndef SQL_RELATIVES_H
#define SQL_RELATIVES_H

#include "sql.h"

/* These functions return false if memory runs out. */
bool sql_parents(struct tk_sql *s);
bool sql_children(struct tk_sql *s); /* by event: first child and next sibling */
bool sql_selves(struct tk_sql *s);
/* Sums of the durations of children, each rounded to nanoseconds as in queries; -1 for one that never ended. */
bool sql_child_durs(struct tk_sql *s);
bool sql_stacks(struct tk_sql *s);

/* Returns the id after the last descendant of `event`. */
tk_id sql_subtree_end(const struct tk_sql *s, tk_id event);

#endif
