/* samples.h - reads samples of call stacks. */
#ifndef FORMAT_NSYS_READ_SAMPLES_H
#define FORMAT_NSYS_READ_SAMPLES_H

#include "reader.h"

bool samples_read(struct nsys *r);

#endif
