/* pprof.h - row of profiles of pprof. */
#ifndef FORMAT_PPROF_PPROF_H
#define FORMAT_PPROF_PPROF_H

#include "format/format.h"

#define PPROF_FORMAT "pprof"

/* Key of a meta that the reader adds for the writer: the sample types of the profile as a JSON list of names and units. The values of
 * all types but one are in args, which have no units. */
#define PPROF_TYPES "pprof.sample_types"

#endif
