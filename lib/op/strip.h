/* strip.h - removes args from events by key; the decision is made once for each key. */
#ifndef OP_STRIP_H
#define OP_STRIP_H

#include "graph/trace.h"

/* True for "args":{} of a JSON event, which conflicts with added args. */
bool strip_is_bare(const struct tk_trace *t, const struct tk_arg *arg);

/* Returns the args without those whose goes[key] is set; `args` itself if there are none. */
uint32_t strip_args(struct tk_trace *t, uint32_t args, const uint8_t *goes);

#endif
