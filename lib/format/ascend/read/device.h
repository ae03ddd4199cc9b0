/* device.h - reads collectives, and tasks on the streams of devices. */
#ifndef FORMAT_ASCEND_READ_DEVICE_H
#define FORMAT_ASCEND_READ_DEVICE_H

#include "reader.h"

bool ascend_read_device(struct ascend *r);

#endif
