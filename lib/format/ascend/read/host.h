/* host.h - reads the spans of host threads. */
#ifndef FORMAT_ASCEND_READ_HOST_H
#define FORMAT_ASCEND_READ_HOST_H

#include "reader.h"

bool ascend_read_host(struct ascend *r);

#endif
