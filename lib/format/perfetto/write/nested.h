/* nested.h - writes a JSON object or array as nested debug annotations. */
#ifndef FORMAT_PERFETTO_WRITE_NESTED_H
#define FORMAT_PERFETTO_WRITE_NESTED_H

#include "base/intern.h"
#include "base/mem.h"

/* Fields that were written for a string without types. */
struct nested_result {
  tk_id text; /* 0 = the entry is unused */
  bool ok;
  uint32_t at, n; /* in nested_writer.known */
};

/* Buffers that are reused from call to call, and a cache of results, because most kernels have one of a few grids, and most operators
 * have inputs of a few shapes. */
enum { NESTED_RESULTS = 256 };
struct nested_writer {
  struct buf copy, scratch;
  struct buf known;
  struct nested_result results[NESTED_RESULTS];
};

/* The types of the values of an object or array (fields.h); n = 0: not known. */
struct nested_types {
  const uint8_t *p;
  size_t n;
};

/* Appends the fields dict_entries or array_values of a DebugAnnotation. `id`: identifies the text among those of the writer. Returns
 * false and leaves `b` unchanged if annotations cannot represent the text: it is nested too deep or, if `types` is unknown, has a
 * key that importers would change. */
bool nested_append(struct nested_writer *x, struct buf *b, tk_id id, const struct intern_str *text, struct nested_types types);
/* Finds the double that is not finite and that JSON stores as this text, such as "NaN". Returns false for other text. */
bool nested_odd_double(const void *text, size_t size, double *d);
void nested_free(struct nested_writer *x);

#endif
