/* regions.h - finds, for each event, the innermost operator or module around it, or around the call that launched it. */
#ifndef OP_REGIONS_H
#define OP_REGIONS_H

#include "links.h"

/* True if the class has the name of a call of a module. */
bool regions_is_module(const struct tk_trace *t, tk_id cls);

enum region { REGION_OP, REGION_MODULE };

/* Returns an array by event, which the caller frees: the innermost operator or module around the event or around its launch; 0 = none.
 * An operator or module is its own region. Work of a replayed graph has the region of its captured call. Returns NULL if memory runs
 * out. */
tk_id *regions_find(const struct kinds *kinds, const struct links *links, enum region region, struct mem *mem);
/* Same as regions_find, but ignores launches: uses only the spans around the event itself. */
tk_id *regions_around(const struct kinds *kinds, enum region region, struct mem *mem);

#endif
