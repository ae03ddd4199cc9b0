/* join.h - appends a sealed graph to another: its tracks, classes and events follow the existing ones.
 *
 * The graphs stay sealed. The results of sealing (nesting, bound flow points, unfinished spans) are per track and tracks are not
 * merged, so they stay valid; only ids and times are translated. Tracks with equal identities stay separate: callers that join traces
 * of several processes renumber them first (op/renumber.h). */
#ifndef GRAPH_JOIN_H
#define GRAPH_JOIN_H

#include "trace.h"

/* Maps ids of the appended graph to ids of the combined one. */
struct join_ids {
  tk_id *strings, *classes, *tracks, *shapes; /* by old id; 0 for a track that was not copied */
  const tk_id *onto; /* by old track, set by the caller: the track of the combined graph with which it is merged; at most one of the two
                      * may have contents. 0 = a new track. NULL = all tracks are new */
  tk_id before;                               /* event i of the appended graph becomes event before + i */
  tk_time shift;                              /* picoseconds added to all times */
  uint32_t ordinal;                           /* index among the appended graphs, from 0; set by the caller, like the next three */
  uint32_t graphs, first_row, rows;           /* as in struct sink_options and struct sink (sink.h) */
};

/* Appends tracks, classes, events, flow points and counts of `src` to `dst`, both sealed (a new, empty graph must be marked as sealed).
 * Times keep their absolute value; a `dst` without tracks takes over the origin of `src`. Hidden processes and their tracks are left
 * out. The caller adds records, metas and notes. Reads only ids->onto, and fills in the other members of `ids`; join_ids_free must be
 * called in any case. Flow points stay unsorted until join_finish. Returns false when memory or ids run out, or if times exceed the
 * range of `dst`. */
bool join_graph(struct tk_trace *dst, const struct tk_trace *src, struct join_ids *ids, struct tk_err *err);
void join_ids_free(struct join_ids *ids, struct tk_trace *dst);

/* Adds, in order, those records of `src` that `wanted` accepts and whose track was copied. */
void join_records(struct tk_trace *dst, const struct tk_trace *src, const struct join_ids *ids,
                  bool (*wanted)(const struct tk_trace *src, const struct tk_record *r));

/* Sorts the flow points of all appended graphs by time; points of equal time stay in the order in which their graphs were
 * appended. */
bool join_finish(struct tk_trace *dst, struct tk_err *err);

#endif
