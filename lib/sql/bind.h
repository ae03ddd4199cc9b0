/* bind.h - binds the points of flows to slices as trace_processor does, which differs from the graph for Chrome JSON. */
#ifndef SQL_BIND_H
#define SQL_BIND_H

#include "sql.h"

/* Returns the slice of each flow point, by its id; 0 = none. The caller frees the array (mem_free). NULL when memory runs out. */
tk_id *bind_points(struct tk_sql *s);

#endif
