/* subset.h - a part of a sealed graph, as a sealed graph.
 *
 * The part may replace the whole (to == t), or be a view: a trace of its own that shares strings, classes, args and texts with the
 * whole, which must outlive it.  Ids of tracks and classes stay what they were; those of events, points and records are given
 * out anew. */
#ifndef GRAPH_SUBSET_H
#define GRAPH_SUBSET_H

#include "trace.h"

/* What stays, one byte an id. */
struct subset {
  struct mem *mem;
  uint8_t *events, *points, *records;
  uint8_t *tracks; /* 0: not wanted for its own sake, goes if nothing of it stays */
  tk_id n_events, n_points, n_records, n_tracks;
};

struct subset_losses {
  uint64_t broken_flows; /* flows that lost one end, and so the other */
};

/* Everything stays. */
bool subset_init(struct subset *k, const struct tk_trace *t, struct mem *mem);
void subset_free(struct subset *k);

/* The part is marked as edited (TK_EDIT_DROPPED) if it is not the whole.  Depths close up over spans that go; flow points go with
 * their event, and a flow that was whole and is no longer goes altogether, with the fields of events that state it; tracks that have
 * become empty are hidden, processes with their last track. */
bool subset_take(const struct tk_trace *t, struct subset *k, struct tk_trace *to, struct subset_losses *kept, struct tk_err *err);

/* Frees a view. */
void subset_free_view(struct tk_trace *view);

#endif
