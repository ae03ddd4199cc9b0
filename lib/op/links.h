/* links.h - finds the host call that launched each event and, for a kernel of a replayed graph, the captured call that created its
 * node. */
#ifndef OP_LINKS_H
#define OP_LINKS_H

#include "graph/kind.h"
#include "graph/origin.h"

struct links {
  struct mem *mem;
  tk_id *launch;  /* by event: the host call that launched it; 0 = none */
  tk_id *capture; /* by event: the captured call, 0 = none; NULL = the trace has no capture */
};

/* Fills in both arrays. `origins`: rank and host by track; may be NULL. Returns false if memory runs out. */
bool links_init(struct links *l, const struct kinds *kinds, const struct track_origin *origins, struct mem *mem);
void links_free(struct links *l);

static inline tk_id links_capture(const struct links *l, tk_id event) { return l->capture ? l->capture[event] : 0; }

#endif
