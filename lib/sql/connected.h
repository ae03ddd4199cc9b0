/* connected.h - directly_connected_flow(ID), preceding_flow(ID) and following_flow(ID): rows of `flow` reachable from a
 * slice, as defined by Perfetto's trace_processor. */
#ifndef SQL_CONNECTED_H
#define SQL_CONNECTED_H

#include "sql.h"

bool sql_register_connected(struct tk_sql *s);

#endif
