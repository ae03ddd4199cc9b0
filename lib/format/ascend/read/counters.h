/* counters.h - reads samples of memory, bandwidth and frequency. */
#ifndef FORMAT_ASCEND_READ_COUNTERS_H
#define FORMAT_ASCEND_READ_COUNTERS_H

#include "reader.h"

bool ascend_read_counters(struct ascend *r);
/* True if counters.c reads this table. */
bool ascend_is_counter(const char *table);

#endif
