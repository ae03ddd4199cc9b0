/* cpuprofile.h - row of CPU profiles of V8 (Node, Chrome). */
#ifndef FORMAT_CPUPROFILE_CPUPROFILE_H
#define FORMAT_CPUPROFILE_CPUPROFILE_H

#include "format/format.h"

#endif
