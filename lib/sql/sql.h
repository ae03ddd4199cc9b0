/* sql.h - what the tables share: the trace, the database that asks of it, and what is made of the graph when a query first needs it.
 *
 * Nothing of the graph is copied.  Ids of SQL are those of the graph where there is one (events, tracks), so that a look by id is a
 * look into an array.  What the graph does not hold (parents, self times, events by name) is an array by event, made once. */
#ifndef SQL_SQL_H
#define SQL_SQL_H

#include <sqlite3.h>

#include "graph/kind.h"
#include "graph/origin.h"
#include "graph/steps.h"
#include "times.h"

#define SQL_NONE UINT32_MAX
/* What a slice without a name is called, where its format says names in each event. */
#define NO_NAME "[No name]"

/* What Perfetto's tables make of a track of the graph. */
enum sort { SORT_THREAD = 1, SORT_PROCESS = 2, SORT_OTHER = 4, SORT_COUNTER = 8, SORT_ALL = 15 };

struct sql_track {
  uint32_t utid, upid; /* of a thread's track both; SQL_NONE = none */
  uint32_t globals;    /* of a process: instants on it that are of no process */
  uint8_t sort;        /* enum sort */
  const char *type;
};

/* Chrome's instants of global scope, which the graph has on their processes. */
enum { GLOBAL_TRACK = 0 };

struct sql_process {
  tk_id track; /* 0 = idle */
  tk_id name;
  int64_t pid;
};

struct sql_thread {
  tk_id track; /* 0 = made by the tables: a main thread without events, or idle */
  tk_id name;
  uint32_t upid;
  int64_t tid;
  bool main;
};

struct counter_track {
  tk_id track, key;
  tk_id name; /* string */
};

struct counter_row {
  tk_id event;
  uint32_t track; /* counter_tracks[track] */
  double value;
};

struct flow_row {
  tk_id out, in, point;
};

/* Events by name: classes have numbers, 0 = without a name, and each number its events, by track and id. */
struct by_name {
  uint32_t n;         /* numbers are 0 .. n - 1 */
  uint32_t *of_class;
  tk_id *name;        /* by number: string */
  uint32_t *counts;   /* by number: events; NULL = not asked for yet */
  uint32_t *first;    /* by number, n + 1: where its events begin; NULL = not asked for yet */
  tk_id *events;
  uint32_t *order;    /* numbers in the order of their names; NULL = not asked for yet */
};

struct row_index;

enum { SQL_OTHERS = 7, SQL_SHOWN = 1024 };

/* Where a string that a column shows is remembered. */
static inline unsigned sql_shown_slot(const char *p) { return (unsigned)((uintptr_t)p >> 4 ^ (uintptr_t)p >> 13) % SQL_SHOWN; }

struct tk_sql {
  struct tk_trace *t;
  struct mem mem;
  sqlite3 *db;
  struct tk_sql_options opt;
  struct times times;
  struct track_origin *origins;
  struct sql_track *tracks; /* by track */
  struct sql_process *processes;
  struct sql_thread *threads;
  uint32_t n_processes, n_threads, cap_threads;
  struct by_name names;
  /* Made when they are asked for; NULL = not yet. */
  tk_id *parents, *children, *siblings;
  tk_time *selves;
  uint64_t *stacks;
  struct counter_track *counter_tracks;
  struct counter_row *counters;
  struct flow_row *flows;
  uint32_t n_counter_tracks, cap_counter_tracks, n_counters, cap_counters, n_flows, cap_flows;
  struct kinds kinds;
  struct steps steps;
  struct map kind_texts, text_numbers; /* by text that is a pid or tid: its number among them */
  struct intern texts; /* made for columns */
  struct row_index *indices;
  const char **strings_shown; /* [SQL_SHOWN], texts of the trace by sql_shown_slot */
  const char **table_names;
  uint32_t n_table_names, cap_table_names;
  uint32_t n_globals;
  bool has_counters, has_flows, has_kinds, has_steps, has_bounds;
  int64_t start_ns, end_ns;
  uint64_t deadline_ms; /* of the statement that runs; 0 = none */
  uint64_t graph_bytes, limit;
  struct tk_err *err;   /* of the call that runs */
  bool copying;         /* the library copies the tables: it may attach a database */
  bool changed;         /* statements have made tables or views, or may have */
  struct tk_sql *others[SQL_OTHERS]; /* of other threads (ahead.c) */
  unsigned n_others;
};

static inline bool is_slice(const struct tk_event *e) { return e->kind != TK_COUNTER; }

/* ---- what the tables look into (relatives.c, names.c, tracks.c, samples.c, facts.c) ---- */

/* False when memory runs out. */
bool sql_parents(struct tk_sql *s);
bool sql_children(struct tk_sql *s); /* by event: first child, next sibling */
bool sql_selves(struct tk_sql *s);
bool sql_stacks(struct tk_sql *s);
/* A table of this name, which SQLite itself does not list (tk_sql_tables does).  False when memory runs out. */
bool sql_add_table(struct tk_sql *s, const char *name, const sqlite3_module *module, void *arg, void (*drop)(void *));
/* A function of these many arguments; flags are SQLite's.  Views may call it. */
bool sql_add_function(struct tk_sql *s, const char *name, int args, int flags, void *arg,
                      void (*call)(sqlite3_context *, int, sqlite3_value **));
/* Declares the columns of a table within its xConnect, as a table that views may read; returns a status of SQLite. */
int sql_declare(sqlite3 *db, const char *schema);
/* Behind the last event that is below `event`. */
tk_id sql_subtree_end(const struct tk_sql *s, tk_id event);

bool sql_names(struct tk_sql *s);
bool sql_names_counts(struct tk_sql *s);
const char *sql_name(const struct tk_sql *s, uint32_t number, size_t *n); /* NULL = none; n may be NULL */
enum name_test { NAME_EQUAL, NAME_LIKE, NAME_GLOB, NAME_THERE };
/* `number`: of a name; `text`: none for NAME_THERE. */
bool sql_name_passes(const struct tk_sql *s, uint32_t number, enum name_test test, const char *text);
bool sql_names_events(struct tk_sql *s);
bool sql_names_order(struct tk_sql *s); /* false, too, where they are too many for it */

bool sql_tracks(struct tk_sql *s);
/* The track that an event stands on: its own, or GLOBAL_TRACK. */
tk_id sql_track_of(const struct tk_sql *s, const struct tk_event *e);
tk_id sql_track_name(const struct tk_sql *s, tk_id track); /* string; tracks of threads and processes have none of their own */
bool sql_counters(struct tk_sql *s);
bool sql_flows(struct tk_sql *s);
void sql_bounds(struct tk_sql *s);
bool sql_kinds(struct tk_sql *s);
bool sql_steps(struct tk_sql *s);

/* A text that stays where it is as long as the trace does is a result, or will be one. */
static inline void sql_shows(const struct tk_sql *s, const char *text) { s->strings_shown[sql_shown_slot(text)] = text; }
/* A string of the trace as a result: NULL for 0. */
void sql_result_string(const struct tk_sql *s, sqlite3_context *out, tk_id id);
void sql_result_id(sqlite3_context *out, uint32_t id); /* NULL for SQL_NONE */

/* ---- sets of args (argsets.c) ---- */

/* Numbers of sets: of events their ids, then processes, threads, tracks and flows. */
uint32_t argset_of_event(const struct tk_sql *s, tk_id event); /* 0 = it has none */
uint32_t argset_of_process(const struct tk_sql *s, uint32_t upid);
uint32_t argset_of_thread(const struct tk_sql *s, uint32_t utid);
uint32_t argset_of_track(const struct tk_sql *s, tk_id track);
uint32_t argset_of_flow(const struct tk_sql *s, uint32_t flow);
uint64_t argset_last(const struct tk_sql *s);

/* ---- registration ---- */

bool sql_register_events(struct tk_sql *s);
bool sql_register_tables(struct tk_sql *s);
bool sql_register_args(struct tk_sql *s);
bool sql_register_connected(struct tk_sql *s);
bool sql_register_functions(struct tk_sql *s);
bool sql_register_texts(struct tk_sql *s);
bool sql_register_views(struct tk_sql *s);
/* False, and err says so, if there is no such module. */
bool sql_include(const char *module, size_t n, struct tk_err *err);

/* LIKE and GLOB as SQLite has them, in time that is bounded by the product of the lengths. */
bool like_matches(const char *pattern, const char *text, int escape);
bool glob_text_matches(const char *pattern, const char *text);

#endif
