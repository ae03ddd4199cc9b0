/* json_args.h - args as one JSON object, for what a format has no args of: flow points of XPlane and Perfetto. */
#ifndef FORMAT_JSON_ARGS_H
#define FORMAT_JSON_ARGS_H

#include "graph/trace.h"
#include "json.h"

/* Appends {"key":value,...}.  Every type that JSON can tell comes back as it was. */
bool json_put_args(struct buf *b, const struct tk_trace *t, uint32_t args);

/* The packed args of the object in text[0, n); 0 if it is none.  Args that are under construction stay so. */
uint32_t json_take_args(struct tk_trace *t, const void *text, size_t n);

#endif
