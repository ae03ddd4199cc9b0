/* gpus.h - reads the properties of the GPUs that processes used. */
#ifndef FORMAT_NSYS_READ_GPUS_H
#define FORMAT_NSYS_READ_GPUS_H

#include "reader.h"

/* Records the names and sizes of all devices in the form in which Kineto describes devices. Call when all devices are known. */
bool gpus_read(struct nsys *r);

#endif
