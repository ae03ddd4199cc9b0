/* links.h - by event: the host call that launched it. For a kernel of a replayed graph, also the captured call. */
#ifndef OP_LINKS_H
#define OP_LINKS_H

#include "graph/kind.h"
#include "graph/origin.h"

struct links {
  struct mem *mem;
  tk_id *launch;  /* by event: the host call that launched it; 0 = none */
  tk_id *capture; /* by event: the captured call; NULL = the trace has no capture */
};

/* Finds both. `origins`: by track; may be NULL. Returns false if memory runs out. */
bool links_init(struct links *l, const struct kinds *kinds, const struct track_origin *origins, struct mem *mem);
void links_free(struct links *l);

static inline tk_id links_capture(const struct links *l, tk_id event) { return l->capture ? l->capture[event] : 0; }

#endif
