/* gecko.h - row of profiles of the Firefox Profiler. */
#ifndef FORMAT_GECKO_GECKO_H
#define FORMAT_GECKO_GECKO_H

#include "format/format.h"

#endif
