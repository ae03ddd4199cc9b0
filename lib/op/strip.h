/* strip.h - removes args from events by key. */
#ifndef OP_STRIP_H
#define OP_STRIP_H

#include "graph/trace.h"

/* True if the arg only records that a JSON event has an empty "args":{}. It must be removed when other args are added. */
bool strip_is_bare(const struct tk_trace *t, const struct tk_arg *arg);

/* Returns the args without those for which goes[key] is set; `args` itself if none is removed. */
uint32_t strip_args(struct tk_trace *t, uint32_t args, const uint8_t *goes);

#endif
