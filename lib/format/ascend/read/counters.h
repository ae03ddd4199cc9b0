/* counters.h - memory, bandwidth and frequency. */
#ifndef FORMAT_ASCEND_READ_COUNTERS_H
#define FORMAT_ASCEND_READ_COUNTERS_H

#include "reader.h"

bool ascend_read_counters(struct ascend *r);
/* True if a table is read here. */
bool ascend_is_counter(const char *table);

#endif
