/* join.h - a sealed graph joins another one: its tracks, classes and events stand behind those that are there.
 *
 * Nothing is unsealed.  What seal found out (nesting, what a flow point is bound to, which spans never ended) is of each track, and
 * the tracks of the two stay apart, so it stays true; only ids and times are translated.  Tracks of one identity are not made one:
 * whoever joins traces of several processes has given these ids that differ (op/renumber.h). */
#ifndef GRAPH_JOIN_H
#define GRAPH_JOIN_H

#include "trace.h"

/* What the ids of the graph that joined are in the one that it joined. */
struct join_ids {
  tk_id *strings, *classes, *tracks, *shapes; /* by id of the former; a track that was left out is 0 */
  tk_id before;                               /* event i is event before + i */
  tk_time shift;                              /* what was added to times, ps */
  uint32_t ordinal;                           /* of the graph among those that joined, from 0; set by the caller, as are: */
  uint32_t graphs, first_row, rows;           /* as a sink has them (sink.h) */
};

/* Adds tracks, classes, events, flow points and counts of `src` to `dst`, both sealed (an empty graph is sealed by being marked so).
 * Times keep their absolute value; a `dst` without tracks takes over the origin of `src`.  Hidden processes are left out with all
 * their tracks.  Records, metas and notes are the caller's to add.  Fills `ids`, which join_ids_free takes in any case.  Flow points
 * are not in the order of time until join_finish.  False when memory or ids run out or times are out of the range of `dst`. */
bool join_graph(struct tk_trace *dst, const struct tk_trace *src, struct join_ids *ids, struct tk_err *err);
void join_ids_free(struct join_ids *ids, struct tk_trace *dst);

/* Adds those records of `src` that `wanted` wants and whose track was not left out, in their order. */
void join_records(struct tk_trace *dst, const struct tk_trace *src, const struct join_ids *ids,
                  bool (*wanted)(const struct tk_trace *src, const struct tk_record *r));

/* Orders the flow points of all that joined by time; points of equal time stand in the order in which their graphs came. */
bool join_finish(struct tk_trace *dst, struct tk_err *err);

#endif
