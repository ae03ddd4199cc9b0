/* regions.h - finds, for each event, the innermost operator or module around it, or around the call that launched it. */
#ifndef OP_REGIONS_H
#define OP_REGIONS_H

#include "links.h"

/* True for calls of a module, by the name of the class. */
bool regions_is_module(const struct tk_trace *t, tk_id cls);

enum region { REGION_OP, REGION_MODULE };

/* Returns an array by event, which the caller frees: the innermost span of the given sort around the event or around its
 * launch; 0 = none. A span contains itself. Work of a replayed graph belongs to the spans around its captured call. Returns
 * NULL if memory runs out. */
tk_id *regions_find(const struct kinds *kinds, const struct links *links, enum region region, struct mem *mem);
/* Returns the same array, but from the spans around each event itself alone: launches are ignored. */
tk_id *regions_around(const struct kinds *kinds, enum region region, struct mem *mem);

#endif
