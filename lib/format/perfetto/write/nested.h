/* nested.h - writes a JSON object or array as nested debug annotations. */
#ifndef FORMAT_PERFETTO_WRITE_NESTED_H
#define FORMAT_PERFETTO_WRITE_NESTED_H

#include "base/intern.h"
#include "base/mem.h"

/* Buffers that are reused from call to call. */
struct nested_writer {
  struct buf copy, scratch;
};

/* The types of the values of an object or array (fields.h); n = 0: not known. */
struct nested_types {
  const uint8_t *p;
  size_t n;
};

/* Appends the fields dict_entries or array_values of a DebugAnnotation. Returns false and leaves `b` unchanged if annotations
 * cannot represent the text: it is nested too deep or, if `types` is unknown, has a key that importers would change. */
bool nested_append(struct nested_writer *x, struct buf *b, const struct intern_str *text, struct nested_types types);
void nested_free(struct nested_writer *x);

#endif
