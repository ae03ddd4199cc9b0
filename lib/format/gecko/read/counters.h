/* counters.h - reads counters. */
#ifndef FORMAT_GECKO_READ_COUNTERS_H
#define FORMAT_GECKO_READ_COUNTERS_H

#include "reader.h"

/* Reads a list of counters. A counter without a process belongs to g->pid. */
void gecko_read_counters(struct gecko *g, struct json_walk *w, const struct json_value *list);

#endif
