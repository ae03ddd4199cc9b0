/* ascend.h - databases of Huawei Ascend: ascend_pytorch_profiler_RANK.db, msprof_*.db. */
#ifndef FORMAT_ASCEND_ASCEND_H
#define FORMAT_ASCEND_ASCEND_H

#include "format/format.h"

#endif
