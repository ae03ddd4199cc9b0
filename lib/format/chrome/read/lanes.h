/* lanes.h - moves events back from threads that our writer made for overlapping spans (lanes.h). */
#ifndef FORMAT_CHROME_READ_LANES_H
#define FORMAT_CHROME_READ_LANES_H

#include "graph/trace.h"

struct chrome;
struct chrome_event;

/* Returns the thread with these ids, or the one whose lane it is; chrome_thread calls it for threads not used recently. */
tk_id chrome_find_thread(struct chrome *r, struct tk_ident pid, struct tk_ident tid);

/* True if the record names a thread as a lane, or belongs to a lane; it is then no longer needed. */
bool chrome_is_of_lane(struct chrome *r, const struct chrome_event *e, uint32_t args);

/* Marks the tracks that may have lanes, in a file made from another format. */
void chrome_settle_lanes(struct chrome *r);

#endif
