/* around.h - phase, op and module of an event, which follow from the spans around the event, or around the call that launched it.
 *
 * The commands top, tree and diff can group by these facts, and tables have columns for them. */
#ifndef OP_AROUND_H
#define OP_AROUND_H

#include "graph/kind.h"
#include "graph/origin.h"
#include "graph/steps.h"

enum around_fact { AROUND_PHASE, AROUND_OP, AROUND_MODULE, AROUND_FACTS };

struct around {
  const struct tk_trace *t;
  struct mem *mem;
  enum around_fact fact;
  uint8_t *phase; /* by event: enum phase */
  tk_id *region;  /* by event: its op or module */
  tk_id instruction; /* key of the arg that contains an XLA instruction; 0 = no such arg, or `fact` is not op */
};

/* Finds one fact of all events. `origins` by track may be NULL. Returns false if memory runs out; the caller calls around_free even
 * then. */
bool around_init(struct around *a, enum around_fact fact, const struct kinds *kinds, const struct steps *steps,
                 const struct track_origin *origins, struct mem *mem);
void around_free(struct around *a);

/* Returns the text of an event's fact, which the trace owns, and its length; NULL if there is none. */
const char *around_text(const struct around *a, tk_id event, size_t *n);

#endif
