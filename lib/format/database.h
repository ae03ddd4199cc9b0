/* database.h - shared by readers of databases: walks the tables that a format knows by name, with notes and progress.
 *
 * Tables and columns are known by name, and each may be absent: producers add columns, and leave out tables that are empty. */
#ifndef FORMAT_DATABASE_H
#define FORMAT_DATABASE_H

#include "graph/trace.h"
#include "sqlite.h"

struct database {
  struct tk_trace *t;
  struct sqlite *db;
  const struct tk_load_options *opt;
  struct in *in;
  struct tk_err *err;
  int64_t origin;      /* time of the file, in ns, at the origin of the trace; valid if has_origin */
  bool has_origin;
  uint32_t n_flows, n_processes;
};

/* Opens the database in an input for reading into a trace. Returns false with err set. database_close must follow only on
 * success. */
bool database_open(struct database *d, struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);
/* Notes a file that is shorter than it should be, counts what was read, and closes the database. */
void database_close(struct database *d);

/* Calls `take` for each row of a table, with the given columns (ended by NULL) in this order. Damaged rows are skipped with a
 * note, or refused if strict. True if the table is absent; false with err set. */
typedef void database_take(const struct sqlite_scan *row, void *arg);
bool database_each(struct database *d, const char *table, const char *const *columns, database_take *take, void *arg);
/* The same for all columns of a table, in its order. */
bool database_each_whole(struct database *d, const struct sqlite_table *table, database_take *take, void *arg);

/* Notes how many rows the tables have that `is_known` rejects. */
void database_note_unread(struct database *d, bool (*is_known)(const char *table));

/* Texts of a table, by id. A text becomes a string of the graph only when an event refers to it: such tables may also hold what
 * the program printed. */
struct database_texts {
  struct map index;
  struct buf items, bytes;
};
void database_texts_init(struct database_texts *x, struct mem *mem);
void database_texts_free(struct database_texts *x);
/* Adds the texts of a table. */
bool database_texts_read(struct database *d, struct database_texts *x, const char *table, const char *id, const char *text);
/* Returns the string of a cell: a text, or the id of one; 0 = none. */
tk_id database_text(struct database *d, struct database_texts *x, const struct cell *c);
/* Adds that string to the args under construction; a cell without one adds nothing. */
void database_text_arg(struct database *d, struct database_texts *x, tk_id key, const struct cell *c);

/* Returns the graph's string for text of the file, repaired. */
tk_id database_string(struct database *d, const void *p, size_t n);
/* Adds a cell to the args under construction; NULL adds nothing. */
void database_arg(struct database *d, tk_id key, const struct cell *c);

/* Adds [x,y,z] of three integers to the args under construction. */
void database_triple(struct database *d, tk_id key, const struct cell *v);

/* ---- times and events ---- */

/* Converts a time in ns, which may be text. Without an origin, the first time becomes that of the trace: a host may run for longer
 * than tk_time can hold. False if the cell holds no time, or one more than 100 days from the origin. */
bool database_time(struct database *d, const struct cell *c, tk_time *ts);
/* Fills in kind and times of a span: without an end, it began and never ended. False, with a note, if it has no usable start. */
bool database_span(struct database *d, const struct cell *start, const struct cell *end, struct tk_event *e);
/* Adds an event; returns its id. */
tk_id database_add(struct database *d, const struct tk_event *e);
/* Adds a sample of a counter; its series are the args under construction. */
void database_sample(struct database *d, tk_id counter, tk_time ts);
/* Adds a point of a flow at the start of an event. */
void database_point(struct database *d, tk_id event, enum tk_flow_role role, int64_t id, tk_id cls);
/* Adds a flow from one event to another. */
void database_link(struct database *d, tk_id from, tk_id to, tk_id cls);

/* Adds a process with a pid that no other process has so far, for a device. */
tk_id database_add_process(struct database *d, const char *name);
/* Returns the track of a counter of a process. */
tk_id database_counter(struct database *d, tk_id process, tk_id name);
/* Names a track that no record names. */
void database_name(struct database *d, tk_id track, tk_id name);

#endif
