/* extension.h - converts to args those fields of TrackEvent that the file itself describes. */
#ifndef FORMAT_PERFETTO_READ_EXTENSION_H
#define FORMAT_PERFETTO_READ_EXTENSION_H

#include "reader.h"

/* Returns the *n args for an event's fields. They contain pointers into `fields`. */
const struct member *extension_read(struct extension_reader *x, const struct buf *fields, uint32_t *n);

/* Adds the args that extension_read returned to the args under construction, with keys that begin with `prefix`. Returns the
 * number of args that are bytes rather than text. */
uint32_t extension_args(struct extension_reader *x, const struct member *m, uint32_t n, const char *prefix, struct tk_trace *t);

#endif
