/* folded.h - row of folded stacks, the input of flame graphs. */
#ifndef FORMAT_FOLDED_FOLDED_H
#define FORMAT_FOLDED_FOLDED_H

#include "format/format.h"

#endif
