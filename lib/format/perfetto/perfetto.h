/* perfetto.h - functions for the row of Perfetto: detection, reader, inspection for `info`, writer. */
#ifndef FORMAT_PERFETTO_PERFETTO_H
#define FORMAT_PERFETTO_PERFETTO_H

#include "format/format.h"

/* Field types of Perfetto's messages, for the detection of damage. */
extern const struct pb_shape perfetto_shape;

#endif
