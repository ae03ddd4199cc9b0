/* joined.h - joins the contents of graphs other than tracks and events (graph/join.h): names that operations set, top-level keys,
 * and passthrough data. Used to merge ranks in memory, and to join the recordings of one rank. */
#ifndef LOAD_JOINED_H
#define LOAD_JOINED_H

#include "format/format.h"
#include "graph/join.h"

/* Adds records for the names, labels and sort indices that operations gave to tracks, beginning with track `first`. */
void joined_add_names(struct tk_trace *t, tk_id first);
/* For join_records: false for a record with the old name of a track that an operation has renamed. */
bool joined_is_valid(const struct tk_trace *t, const struct tk_record *r);

/* Adds a top-level key, whose value is the JSON text, before or `after` the events. */
void joined_add_meta(struct tk_trace *t, tk_id key, bool after, const char *text, size_t n);
/* Adds the top-level keys of `first` that come before (or `after`) the events, except "tracekit" and keys that `t` has
 * already. */
void joined_add_metas(struct tk_trace *t, const struct tk_trace *first, bool after);

/* Joins the passthrough data of all formats; `states` has room for FORMATS_MOST elements. */
void joined_passthrough(struct tk_trace *to, const struct tk_trace *from, const struct join_ids *ids, void **states);
void joined_finish_passthrough(struct tk_trace *to, void **states);

#endif
