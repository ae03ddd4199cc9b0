/* counters.h - reads samples of GPU metrics, and memory in use. */
#ifndef FORMAT_NSYS_READ_COUNTERS_H
#define FORMAT_NSYS_READ_COUNTERS_H

#include "reader.h"

bool counters_read(struct nsys *r);

#endif
