/* subset.h - extracts part of a sealed graph as a sealed graph.
 *
 * The part may replace the whole (to == t), or be a view: a trace of its own that shares strings, classes, args and texts with
 * the whole, which must outlive it. Ids of tracks and classes are unchanged; events, points and records get new ids. */
#ifndef GRAPH_SUBSET_H
#define GRAPH_SUBSET_H

#include "trace.h"

/* Selection, one byte per id. */
struct subset {
  struct mem *mem;
  uint8_t *events, *points, *records;
  uint8_t *tracks; /* 0: kept only if any of its contents stay */
  tk_id n_events, n_points, n_records, n_tracks;
};

struct subset_losses {
  uint64_t broken_flows; /* flows removed because one of their ends was removed */
};

/* Selects everything. */
bool subset_init(struct subset *k, const struct tk_trace *t, struct mem *mem);
void subset_free(struct subset *k);

/* Marks the part as edited (TK_EDIT_DROPPED) unless it is the whole. Depths close up over removed spans. Flow points are
 * removed with their event; a flow that was complete and no longer is, is removed entirely, with the event fields that state
 * it. Tracks that became empty are hidden, processes with their last track. */
bool subset_take(const struct tk_trace *t, struct subset *k, struct tk_trace *to, struct subset_losses *kept, struct tk_err *err);

/* Frees a view. */
void subset_free_view(struct tk_trace *view);

#endif
