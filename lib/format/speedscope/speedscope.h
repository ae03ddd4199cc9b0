/* speedscope.h - functions for the row of speedscope. */
#ifndef FORMAT_SPEEDSCOPE_SPEEDSCOPE_H
#define FORMAT_SPEEDSCOPE_SPEEDSCOPE_H

#include "format/format.h"

#endif
