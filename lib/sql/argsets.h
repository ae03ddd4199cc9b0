/* argsets.h - arg sets as rows: the args of an event, a flow, a track, a process or a thread.
 *
 * Each value in an event's args gets a row; arrays and objects are expanded ("args.shape[0]", "args.o.key"). Args of an end event take
 * precedence over those of the begin event, and an event's own args over those of its class. */
#ifndef SQL_ARGSETS_H
#define SQL_ARGSETS_H

#include "sql.h"

enum arg_is { ARG_IS_INT, ARG_IS_UINT, ARG_IS_BOOL, ARG_IS_REAL, ARG_IS_STRING, ARG_IS_POINTER };

struct arg_row {
  const char *key, *flat;
  size_t key_n, flat_n;
  enum arg_is is;
  int64_t i;
  double d;
  const char *text; /* for STRING; NULL = no text */
  size_t text_n;
  bool lasting;     /* true if the text belongs to the trace, so that it outlives the row */
};

/* Calls `put` for each row of the set until put returns false. False if memory runs out. */
bool argset_each(struct tk_sql *s, uint64_t set, bool (*put)(void *arg, const struct arg_row *row), void *arg);

/* Gets the value of an arg by its exact key, unless the value is an array or object; this is the most common case of EXTRACT_ARG.
 * `keys`: ids of the key as stored for args of the end event, and for other args. *made: true if the value is text that only
 * argset_each can create. */
bool argset_plain(const struct tk_sql *s, tk_id event, const tk_id keys[2], struct arg_row *row, bool *made);

/* Returns the id of an arg set. Ids of events come first, then ids of processes, threads, tracks, sources of tracks, and
 * flows. */
uint32_t argset_of_event(const struct tk_sql *s, tk_id event); /* 0 = no args */
uint32_t argset_of_process(const struct tk_sql *s, uint32_t upid);
uint32_t argset_of_thread(const struct tk_sql *s, uint32_t utid);
uint32_t argset_of_track(const struct tk_sql *s, tk_id track);
uint32_t argset_of_source(const struct tk_sql *s, tk_id track); /* 0 = no args */
uint32_t argset_of_flow(const struct tk_sql *s, uint32_t flow);
uint64_t argset_last(const struct tk_sql *s);

#endif
