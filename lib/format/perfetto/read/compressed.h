/* compressed.h - decompresses the packets in compressed packets. */
#ifndef FORMAT_PERFETTO_READ_COMPRESSED_H
#define FORMAT_PERFETTO_READ_COMPRESSED_H

#include "reader.h"

enum inflated perfetto_inflate(struct perfetto *r, const struct pb_field *f, struct buf *out);

#endif
