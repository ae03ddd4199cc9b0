/* picks.h - reads the args of a few chosen keys, for callers that need the same keys of many events.
 *
 * Most events lack most keys, and all events of a shape have a key in the same place. The places are found once for each shape, so an
 * event without any of the keys costs only a lookup of its shape, and the args of an event with several of the keys are read only
 * once. */
#ifndef GRAPH_PICKS_H
#define GRAPH_PICKS_H

#include "trace.h"

enum { PICKS_MOST = 32 };

/* The place of a key in a shape. */
struct pick {
  uint32_t field; /* UINT32_MAX = no more keys */
  uint32_t key;   /* index of the key among the chosen ones */
};

struct picks {
  const struct tk_trace *t;
  struct mem *mem;
  uint32_t n;         /* number of chosen keys */
  struct pick *of;    /* by shape: n + 1 places, in the order of the fields */
};

/* Chooses the n keys, at most PICKS_MOST; key 0 is in no event. Args must not be added to the trace afterwards. Returns false if
 * memory runs out. */
bool picks_init(struct picks *p, const struct tk_trace *t, const tk_id *keys, uint32_t n, struct mem *mem);
void picks_free(struct picks *p);
/* Stores in args[0, n) the event's args with the chosen keys, or otherwise the shared args of its class, by index of the key.
 * Returns the set of keys found; bit i is set for key i. */
uint32_t picks_of(const struct picks *p, const struct tk_event *e, struct tk_arg *args);

#endif
