/* subset.h - extracts part of a sealed graph as a sealed graph.
 *
 * The part either replaces the original (to == t) or is a view: a separate trace that shares strings, classes, args and texts
 * with the original, which must outlive the view. Ids of tracks and classes are unchanged; events, points and records get new
 * ids. */
#ifndef GRAPH_SUBSET_H
#define GRAPH_SUBSET_H

#include "trace.h"

/* Selection, one byte per id. */
struct subset {
  struct mem *mem;
  uint8_t *events, *points, *records;
  uint8_t *tracks; /* 0: the track is kept only if any of its contents are kept */
  tk_id n_events, n_points, n_records, n_tracks;
};

struct subset_losses {
  uint64_t broken_flows; /* flows removed because one of their ends was removed */
};

/* Selects everything. Returns false when memory runs out. */
bool subset_init(struct subset *k, const struct tk_trace *t, struct mem *mem);
void subset_free(struct subset *k);

/* Builds the part, and marks it as edited (TK_EDIT_DROPPED) unless everything is selected. Children of removed spans move up. Flow
 * points are removed with their event. If a flow with a start and an end loses one of them, all its points are removed, and the event
 * fields that define the flow, too. Tracks that became empty are hidden; processes are hidden with their last track. Returns false with
 * err on failure. */
bool subset_take(const struct tk_trace *t, struct subset *k, struct tk_trace *to, struct subset_losses *kept, struct tk_err *err);

/* Frees a view. */
void subset_free_view(struct tk_trace *view);

#endif
