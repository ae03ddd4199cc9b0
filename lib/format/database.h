/* database.h - functions that readers of databases share: they read tables by name, add notes, and report progress.
 *
 * Tables and columns are found by name, and each may be absent: producers add columns in later versions, and omit empty
 * tables. */
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
  int64_t origin;      /* time in the file (ns) that is the origin of the trace; valid if has_origin */
  bool has_origin;
  uint32_t n_flows, n_processes;
};

/* Opens the database in an input for reading into a trace. Returns false with err set. database_close must be called only after
 * success. */
bool database_open(struct database *d, struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);
/* Adds a note if the file is truncated, records the number of bytes read, and closes the database. */
void database_close(struct database *d);

/* Calls `take` for each row of a table, with the given columns (ended by NULL) in this order. Damaged rows are skipped with a
 * note, or refused if strict. An absent table has no rows. Returns false with err set on failure. */
typedef void database_take(const struct sqlite_scan *row, void *arg);
bool database_each(struct database *d, const char *table, const char *const *columns, database_take *take, void *arg);
/* Same as database_each, with all columns of a table, in the table's order. */
bool database_each_whole(struct database *d, const struct sqlite_table *table, database_take *take, void *arg);

/* Reads tables of a later version under their known names: renames NAME_V2 to NAME, with a note, if NAME is known and absent. The
 * latest of several versions is renamed. Returns false with err when memory runs out. */
bool database_adopt_versions(struct database *d, bool (*is_known)(const char *table));
/* Adds a note with the number of rows in the tables for which `is_known` returns false. */
void database_note_unread(struct database *d, bool (*is_known)(const char *table));

/* Texts of a table, by id. A text becomes a string of the graph only if an event refers to it, because such tables may also
 * contain the program's output. */
struct database_texts {
  struct map index;
  struct buf items, bytes;
};
void database_texts_init(struct database_texts *x, struct mem *mem);
void database_texts_free(struct database_texts *x);
/* Adds the texts of a table. Returns false with err on failure. */
bool database_texts_read(struct database *d, struct database_texts *x, const char *table, const char *id, const char *text);
/* Returns the string of a cell that contains a text or the id of a text; 0 if there is none. */
tk_id database_text(struct database *d, struct database_texts *x, const struct cell *c);
/* Adds the string of a cell to the args under construction, unless the cell has none. */
void database_text_arg(struct database *d, struct database_texts *x, tk_id key, const struct cell *c);

/* Returns the graph's string for a text of the file, with invalid UTF-8 repaired. */
tk_id database_string(struct database *d, const void *p, size_t n);
/* Returns the value that the map has for an integer cell; NULL if the cell has another type, or the map no such key. */
static inline uint32_t *database_find(const struct map *m, const struct cell *id) {
  return id->type == CELL_INT ? map_get(m, (uint64_t)id->i) : NULL;
}
/* Adds the value of a cell to the args under construction, unless it is NULL. */
void database_arg(struct database *d, tk_id key, const struct cell *c);

/* Adds the text "[x,y,z]" of three integers to the args under construction. */
void database_triple(struct database *d, tk_id key, const struct cell *v);

/* ---- times and events ---- */

/* Converts a time in ns, which may be text. If there is no origin yet, the first time becomes the origin of the trace, because
 * a host may run for longer than the range of tk_time. Returns false if the cell has no time, or a time more than 100 days from
 * the origin. */
bool database_time(struct database *d, const struct cell *c, tk_time *ts);
/* Fills in kind and times of a span. A span without an end time becomes a begin event. Returns false, with a note, if the span has no
 * usable start. */
bool database_span(struct database *d, const struct cell *start, const struct cell *end, struct tk_event *e);
/* Adds an event; returns its id. */
tk_id database_add(struct database *d, const struct tk_event *e);
/* Adds a sample of a counter. The args under construction become its series. */
void database_sample(struct database *d, tk_id counter, tk_time ts);
/* Adds a point of a flow at the start of an event. */
void database_point(struct database *d, tk_id event, enum tk_flow_role role, int64_t id, tk_id cls);
/* Adds a flow from one event to another. */
void database_link(struct database *d, tk_id from, tk_id to, tk_id cls);

/* Adds a process for a device, with a pid that no other process has so far. */
tk_id database_add_process(struct database *d, const char *name);
/* Same as database_add_process, for a device with a number, which becomes the pid if no process has it. Reports name devices by their
 * pid, as in Kineto's traces. */
tk_id database_add_device(struct database *d, const char *name, int64_t number);
/* Returns the track for a counter of a process. */
tk_id database_counter(struct database *d, tk_id process, tk_id name);
/* Names a track. Writers must write the name themselves, because no record contains it. */
void database_name(struct database *d, tk_id track, tk_id name);

#endif
