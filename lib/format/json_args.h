/* json_args.h - args as one JSON object, for what a format has no args of: flow points of XPlane and Perfetto. */
#ifndef FORMAT_JSON_ARGS_H
#define FORMAT_JSON_ARGS_H

#include "graph/trace.h"
#include "json.h"

/* The string with its quotes.  False when memory has run out. */
static inline bool json_quote_id(struct buf *b, const struct tk_trace *t, tk_id id) {
  size_t n;
  const char *text = tk_string(t, id, &n);
  return json_quote(b, text, n);
}

/* A number that was read, as an arg without a key. */
struct tk_arg json_number_arg(struct tk_trace *t, const struct json_value *v);

/* Appends {"key":value,...}.  Every type that JSON can tell comes back as it was. */
bool json_put_args(struct buf *b, const struct tk_trace *t, uint32_t args);

/* The packed args of the object in text[0, n); 0 if it is none.  Args that are under construction stay so. */
uint32_t json_take_args(struct tk_trace *t, const void *text, size_t n);

#endif
