/* lanes.h - moves events back from threads that our writer made for overlapping spans (format/chrome/lanes.h). */
#ifndef FORMAT_CHROME_READ_LANES_H
#define FORMAT_CHROME_READ_LANES_H

#include "graph/trace.h"

struct chrome;
struct chrome_event;

/* Returns the thread with these ids or, if that thread is a lane, the original thread. Called by chrome_thread, which caches
 * recently used threads. */
tk_id chrome_find_thread(struct chrome *r, struct tk_ident pid, struct tk_ident tid);

/* True if the record declares its thread to be a lane, or is on a lane; the record is then no longer needed. */
bool chrome_is_of_lane(struct chrome *r, const struct chrome_event *e, uint32_t args);

/* Sets tk_track.no_lanes of all tracks if the file has no lanes, and clears it otherwise. */
void chrome_settle_lanes(struct chrome *r);

#endif
