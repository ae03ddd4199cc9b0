/* sql.h - shared by all tables: the trace, the database, and the indexes that are built when a query first needs them.
 *
 * Nothing of the graph is copied.  SQL ids are graph ids where the graph has them (events, tracks), so that a lookup by id is
 * an array access. Properties that the graph does not store (parents, self times, events by name) are arrays by event, built
 * once. */
#ifndef SQL_SQL_H
#define SQL_SQL_H

#include <sqlite3.h>

#include "format/format.h"
#include "graph/kind.h"
#include "graph/origin.h"
#include "graph/steps.h"
#include "times.h"

#define SQL_NONE UINT32_MAX
/* Name of an unnamed slice in formats that store a name per event. */
#define NO_NAME "[No name]"

/* Kinds of track in Perfetto's tables, for a track of the graph. */
enum sort { SORT_THREAD = 1, SORT_PROCESS = 2, SORT_OTHER = 4, SORT_COUNTER = 8, SORT_ALL = 15 };

struct sql_track {
  uint32_t utid, upid; /* both for a thread's track; SQL_NONE = none */
  uint32_t globals;    /* for a process: number of its instants with global scope */
  uint8_t sort;        /* enum sort */
  const char *type;
  struct format_track filed; /* as the file describes it; kind FORMAT_TRACK_NONE if it does not */
};

/* Track of Chrome's global instants, which the graph stores on their processes. */
enum { GLOBAL_TRACK = 0 };

struct sql_process {
  tk_id track; /* 0 = the idle process */
  tk_id name;
  int64_t pid;
};

struct sql_thread {
  tk_id track; /* 0 = not in the graph: a main thread without events, or the idle thread */
  tk_id name;
  uint32_t upid;
  int64_t tid;
  bool main;
};

struct counter_track {
  tk_id track, key;
  tk_id name; /* string id */
};

struct counter_row {
  tk_id event;
  uint32_t track; /* index into counter_tracks */
  double value;
};

struct flow_row {
  tk_id out, in, point;
  uint32_t number; /* of its flow, in order of appearance */
};

/* Events by name: each distinct name has a number (0 = unnamed), and each number a list of events sorted by track and id. */
struct by_name {
  uint32_t n;         /* number of names */
  uint32_t *of_class;
  tk_id *name;        /* by number: string id */
  uint32_t *counts;   /* by number: number of events; NULL = not built yet */
  uint32_t *first;    /* by number, n + 1 elements: start of its events; NULL = not built yet */
  tk_id *events;
  uint32_t *order;    /* numbers sorted by name; NULL = not built yet */
};

struct row_index;

enum { SQL_OTHERS = 7, SQL_SHOWN = 1024 };

/* Cache slot of a string that a column returned. */
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
  /* Built on demand; NULL = not yet. */
  tk_id *parents, *children, *siblings;
  tk_time *selves;
  uint64_t *stacks;
  struct counter_track *counter_tracks;
  struct counter_row *counters;
  struct flow_row *flows;
  uint32_t n_counter_tracks, cap_counter_tracks, n_counters, cap_counters, n_flows, cap_flows;
  struct kinds kinds;
  struct steps steps;
  struct map kind_texts, text_numbers; /* by text used as pid or tid: its number */
  struct intern texts; /* texts created for columns */
  struct row_index *indices;
  tk_id key_tts, key_end_tts; /* strings of the trace; 0 = no event has them */
  const char **strings_shown; /* [SQL_SHOWN] texts of the trace, by sql_shown_slot */
  const char **table_names;
  uint32_t n_table_names, cap_table_names;
  uint32_t n_globals;
  bool is_filed; /* the format has descriptions of the tracks */
  bool has_counters, has_flows, has_kinds, has_steps, has_bounds;
  int64_t start_ns, end_ns;
  uint64_t deadline_ms; /* of the running statement; 0 = none */
  uint64_t graph_bytes, limit;
  struct tk_err *err;   /* of the running call */
  bool copying;         /* the library copies the tables, and may attach a database */
  uint32_t touched;     /* rows of differences.c that statements have read, as bits */
  bool changed;         /* statements may have created tables or views */
  struct tk_sql *others[SQL_OTHERS]; /* databases of other threads (ahead.c) */
  unsigned n_others;
};

static inline bool is_slice(const struct tk_event *e) { return e->kind != TK_COUNTER; }

/* ---- indexes for the tables (relatives.c, names.c, tracks.c, samples.c, facts.c) ---- */

/* False if memory runs out. */
bool sql_parents(struct tk_sql *s);
bool sql_children(struct tk_sql *s); /* by event: first child, next sibling */
bool sql_selves(struct tk_sql *s);
bool sql_stacks(struct tk_sql *s);
/* A table of this name, which SQLite itself does not list (tk_sql_tables does).  False when memory runs out. */
bool sql_add_table(struct tk_sql *s, const char *name, const sqlite3_module *module, void *arg, void (*drop)(void *));
/* Registers a function with `args` arguments; flags are SQLite's.  Views may call it. */
bool sql_add_function(struct tk_sql *s, const char *name, int args, int flags, void *arg,
                      void (*call)(sqlite3_context *, int, sqlite3_value **));
/* Declares the columns of a table in its xConnect, and allows views to read the table; returns an SQLite status. */
int sql_declare(sqlite3 *db, const char *schema);
/* Returns the id after the last descendant of `event`. */
tk_id sql_subtree_end(const struct tk_sql *s, tk_id event);

bool sql_names(struct tk_sql *s);
bool sql_names_counts(struct tk_sql *s);
const char *sql_name(const struct tk_sql *s, uint32_t number, size_t *n); /* NULL = none; n may be NULL */
enum name_test { NAME_EQUAL, NAME_LIKE, NAME_GLOB, NAME_THERE };
/* True if the name with this number passes the test; `text` is unused for NAME_THERE. */
bool sql_name_passes(const struct tk_sql *s, uint32_t number, enum name_test test, const char *text);
bool sql_names_events(struct tk_sql *s);
bool sql_names_order(struct tk_sql *s); /* also false if there are too many names */

bool sql_tracks(struct tk_sql *s);
/* Returns the track of an event in the tables: its own, or GLOBAL_TRACK. */
tk_id sql_track_of(const struct tk_sql *s, const struct tk_event *e);
tk_id sql_track_name(const struct tk_sql *s, tk_id track); /* string id; tracks of threads and processes have no name of their
                                                            * own */
bool sql_counters(struct tk_sql *s);
bool sql_flows(struct tk_sql *s);
void sql_bounds(struct tk_sql *s);
bool sql_kinds(struct tk_sql *s);
bool sql_steps(struct tk_sql *s);

/* Records that a text owned by the trace is, or will be, a result. */
static inline void sql_shows(const struct tk_sql *s, const char *text) { s->strings_shown[sql_shown_slot(text)] = text; }
/* Returns a string of the trace as a result; NULL for id 0. */
void sql_result_string(const struct tk_sql *s, sqlite3_context *out, tk_id id);
void sql_result_id(sqlite3_context *out, uint32_t id); /* NULL for SQL_NONE */

/* ---- arg sets (argsets.c) ---- */

/* Ids of arg sets: event ids first, then processes, threads, tracks, sources of tracks, and flows. */
uint32_t argset_of_event(const struct tk_sql *s, tk_id event); /* 0 = none */
uint32_t argset_of_process(const struct tk_sql *s, uint32_t upid);
uint32_t argset_of_thread(const struct tk_sql *s, uint32_t utid);
uint32_t argset_of_track(const struct tk_sql *s, tk_id track);
uint32_t argset_of_source(const struct tk_sql *s, tk_id track); /* 0 = none */
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
/* False, with err, if there is no such module. */
bool sql_include(const char *module, size_t n, struct tk_err *err);

/* LIKE and GLOB with SQLite's semantics, in time bounded by the product of the lengths. */
bool like_matches(const char *pattern, const char *text, int escape);
bool glob_text_matches(const char *pattern, const char *text);

#endif
