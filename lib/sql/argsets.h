/* argsets.h - sets of args as rows: what an event, a flow, a track, a process or a thread says beside its columns.
 *
 * An event's args get a row for each value in them; arrays and objects are taken apart ("args.shape[0]", "args.o.key").  What an end
 * event says counts more than what its begin said, and an event's own args more than those of all events of its name. */
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
  const char *text; /* of STRING; NULL = there is none */
  size_t text_n;
  bool lasting;     /* text is the trace's, and outlives the row */
};

/* Calls `put` for each row of the set; it stops where put returns false.  False when memory runs out. */
bool argset_each(struct tk_sql *s, uint64_t set, bool (*put)(void *arg, const struct arg_row *row), void *arg);

/* The value of an event's arg that is called so in the trace itself, if it is no array or object: the usual case of EXTRACT_ARG.
 * `keys`: of the end event's arg and of the event's own. */
bool argset_plain(const struct tk_sql *s, tk_id event, const tk_id keys[2], struct arg_row *row);

#endif
