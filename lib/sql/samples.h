/* samples.h - counters and flows as rows: one for each series of a counter sample, and one for each arrow of a flow. */
#ifndef SQL_SAMPLES_H
#define SQL_SAMPLES_H

#include "sql.h"

bool sql_counters(struct tk_sql *s);
bool sql_flows(struct tk_sql *s);

#endif
