/* perfetto.h - functions of the row of Perfetto: detection, reader, inspection for `info`, writer. */
#ifndef FORMAT_PERFETTO_PERFETTO_H
#define FORMAT_PERFETTO_PERFETTO_H

#include "format/format.h"

/* Shape of its protobuf messages. */
extern const struct pb_shape perfetto_shape;

#endif
