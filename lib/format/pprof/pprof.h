/* pprof.h - row of profiles of pprof. */
#ifndef FORMAT_PPROF_PPROF_H
#define FORMAT_PPROF_PPROF_H

#include "format/format.h"

#endif
