/* strip.h - takes args out of events by their key, one decision for each key. */
#ifndef OP_STRIP_H
#define OP_STRIP_H

#include "graph/trace.h"

/* "args":{} of a JSON event: in the way of args that are added. */
bool strip_is_bare(const struct tk_trace *t, const struct tk_arg *arg);

/* The args without those whose goes[key] is set; `args` itself if none is. */
uint32_t strip_args(struct tk_trace *t, uint32_t args, const uint8_t *goes);

#endif
