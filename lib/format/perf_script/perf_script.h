/* perf_script.h - row of the text of `perf script`. */
#ifndef FORMAT_PERF_SCRIPT_PERF_SCRIPT_H
#define FORMAT_PERF_SCRIPT_PERF_SCRIPT_H

#include "format/format.h"

#endif
