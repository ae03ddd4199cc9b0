/* nvtx.h - reads NVTX ranges and marks. */
#ifndef FORMAT_NSYS_READ_NVTX_H
#define FORMAT_NSYS_READ_NVTX_H

#include "reader.h"

/* True if this is the name of a table of NVTX events. Tools that read exports also expect NVTX_EVENTS_V2 and NVTX_EVENTS_V3. */
bool nvtx_knows(const char *table);
bool nvtx_read(struct nsys *r);

#endif
