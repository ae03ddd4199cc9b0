/* nvtx.h - reads NVTX ranges and marks. */
#ifndef FORMAT_NSYS_READ_NVTX_H
#define FORMAT_NSYS_READ_NVTX_H

#include "reader.h"

bool nvtx_read(struct nsys *r);

#endif
