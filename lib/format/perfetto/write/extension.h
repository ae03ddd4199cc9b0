/* extension.h - converts args back to the fields of TrackEvent that they were read from. */
#ifndef FORMAT_PERFETTO_WRITE_EXTENSION_H
#define FORMAT_PERFETTO_WRITE_EXTENSION_H

#include "writer.h"

void extension_begin(struct extension_writer *x, const struct tk_trace *t, struct mem *mem);
void extension_free(struct extension_writer *x);

/* True if any event has an arg that is a field of an extension. */
bool extension_in_use(const struct tk_trace *t, struct mem *mem);

/* Writes the arg into the event if it belongs to an extension; otherwise returns false. The first `skip` bytes of its key are
 * ignored. A message is complete after extension_end. */
bool extension_write(struct extension_writer *x, const struct tk_trace *t, const struct tk_arg *arg, uint32_t skip, struct buf *event);
void extension_end(struct extension_writer *x, struct buf *event);

#endif
