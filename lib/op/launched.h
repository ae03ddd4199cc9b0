/* launched.h - links device work to the host event that launched it: by correlation id, by flow, or by operator. */
#ifndef OP_LAUNCHED_H
#define OP_LAUNCHED_H

#include "graph/kind.h"
#include "graph/origin.h"

/* True for kernels, copies and fills of a device with a known time. */
bool launched_is_work(const struct kinds *k, const struct tk_event *e);
/* Calls `found` for each kernel, copy and fill whose launch is known and has a time. `origins`: by track; may be NULL. Returns
 * false if memory runs out. */
bool launched_each(const struct kinds *kinds, const struct track_origin *origins, struct mem *mem,
                   void (*found)(void *arg, tk_id launch, tk_id work), void *arg);
/* True if both events are calls, one after the other, so that an id shared by both does not show which of the two launched the
 * work. A call of the runtime and the driver's call within it also have the same id. */
bool launched_apart(const struct kinds *k, const struct tk_event *a, const struct tk_event *b);
/* Calls `found` for each flow from a host event to a kernel, copy or fill. The same work may have several such flows.
 * Returns false if memory runs out. */
bool launched_each_flow(const struct kinds *kinds, struct mem *mem, void (*found)(void *arg, tk_id host, tk_id work), void *arg);
/* Callback for launched_each and launched_each_flow: stores the launch in `arg`, an array by event. */
static inline void launched_keep(void *arg, tk_id launch, tk_id work) { ((tk_id *)arg)[work] = launch; }

#endif
