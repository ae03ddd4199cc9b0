/* json_args.h - args as one JSON object, for items that have no args in a format: flow points of XPlane and Perfetto. */
#ifndef FORMAT_JSON_ARGS_H
#define FORMAT_JSON_ARGS_H

#include "graph/trace.h"
#include "json.h"

/* Appends the string in quotes. Returns false when memory runs out. */
static inline bool json_quote_id(struct buf *b, const struct tk_trace *t, tk_id id) {
  size_t n;
  const char *text = tk_string(t, id, &n);
  return json_quote(b, text, n);
}

/* Converts a number to an arg without a key. */
struct tk_arg json_number_arg(struct tk_trace *t, const struct json_value *v);

/* Appends {"key":value,...}. Every type that JSON can distinguish survives a round trip. */
bool json_put_args(struct buf *b, const struct tk_trace *t, uint32_t args);

/* Returns the packed args of the object in text[0, n); 0 if it is not an object. Does not disturb args under construction. */
uint32_t json_take_args(struct tk_trace *t, const void *text, size_t n);

#endif
