/* json_args.h - stores args as one JSON object, for items that cannot have args in a format: flow points in XPlane and
 * Perfetto. */
#ifndef FORMAT_JSON_ARGS_H
#define FORMAT_JSON_ARGS_H

#include "graph/trace.h"
#include "json.h"

/* Appends the string with quotes. Returns false when memory runs out. */
static inline bool json_quote_id(struct buf *b, const struct tk_trace *t, tk_id id) {
  size_t n;
  const char *text = tk_string(t, id, &n);
  return json_quote(b, text, n);
}

/* Converts a number to an arg without a key. */
struct tk_arg json_number_arg(struct tk_trace *t, const struct json_value *v);

/* Adds a value to the args under construction. A scalar becomes an arg of its type; `j` has read the value. */
void json_take_value(struct tk_trace *t, struct json *j, tk_id key, const struct json_value *v);

/* Appends the args as {"key":value,...}. Types that JSON can distinguish survive a round trip. */
bool json_put_args(struct buf *b, const struct tk_trace *t, uint32_t args);

/* Returns the packed args of the object in text[0, n); 0 if the text is not an object. Leaves args under construction
 * unchanged. */
uint32_t json_take_args(struct tk_trace *t, const void *text, size_t n);

#endif
