/* extension.h - converts args back to the fields of TrackEvent from which they were read. */
#ifndef FORMAT_PERFETTO_WRITE_EXTENSION_H
#define FORMAT_PERFETTO_WRITE_EXTENSION_H

#include "writer.h"

void extension_begin(struct extension_writer *x, const struct tk_trace *t, struct mem *mem);
void extension_free(struct extension_writer *x);
/* Forgets the extensions, so that their args are written as annotations. */
void extension_none(struct extension_writer *x, struct mem *mem);

/* Adds the extensions of the graph to those that other graphs in the file describe. Returns false if they contradict each other
 * (schema_conflicts), and then adds nothing. */
bool extension_fits(struct schema *written, const struct tk_trace *t);

/* True if any event has an arg that belongs to a field of an extension. */
bool extension_in_use(const struct tk_trace *t, struct mem *mem);

/* Writes the arg into the event if it belongs to an extension; otherwise returns false. The first `skip` bytes of its key are
 * ignored. extension_end completes the message that is being written. */
bool extension_write(struct extension_writer *x, const struct tk_trace *t, const struct tk_arg *arg, uint32_t skip, struct buf *event);
void extension_end(struct extension_writer *x, struct buf *event);

#endif
