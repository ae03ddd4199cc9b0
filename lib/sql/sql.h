/* sql.h - data that all tables share: the trace, the database, and the indexes that are built when a query first needs them.
 *
 * The graph is not copied. SQL ids of events and tracks are their ids in the graph, so that a lookup by id is an array access.
 * Properties that the graph does not store (parents, self times, events by name) are arrays by event, built once. */
#ifndef SQL_SQL_H
#define SQL_SQL_H

#include <sqlite3.h>

#include "format/format.h"
#include "graph/kind.h"
#include "graph/origin.h"
#include "graph/steps.h"
#include "op/around.h"
#include "times.h"

#define SQL_NONE UINT32_MAX
/* Name of an unnamed slice in formats that store a name per event. */
#define NO_NAME "[No name]"

/* Kinds of tracks, by the table of Perfetto that contains them. */
enum sort { SORT_THREAD = 1, SORT_PROCESS = 2, SORT_OTHER = 4, SORT_COUNTER = 8, SORT_ALL = 15 };

struct sql_track {
  uint32_t utid, upid; /* both are set for a thread's track; SQL_NONE = none */
  uint32_t globals;    /* for a process: number of its instants with global scope */
  uint32_t samples;    /* number of its stack samples, for which trace_processor has no track */
  uint8_t sort;        /* enum sort */
  const char *type;
  struct format_track filed; /* the track as the file describes it; kind FORMAT_TRACK_NONE if the file does not */
};

/* Id of the track for Chrome's global instants, which the graph stores on the tracks of their processes. */
enum { GLOBAL_TRACK = 0 };

struct sql_process {
  tk_id track; /* 0 = the idle process, which has no track */
  tk_id name;
  int64_t pid;
};

struct sql_thread {
  tk_id track; /* 0 = no track: a main thread without events, or the idle thread */
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
  uint32_t number; /* ordinal of the flow, by first appearance */
};

/* Events by name: each distinct name has a number (0 = unnamed), and each number a list of events sorted by track and id. */
struct by_name {
  uint32_t n;         /* number of names */
  uint32_t *of_class;
  tk_id *name;        /* name[number]: string id of the name */
  uint32_t *counts;   /* counts[number]: how many events have the name; NULL = not built yet */
  uint32_t *first;    /* events[first[number] .. first[number + 1]) have the name; NULL = not built yet */
  tk_id *events;
  uint32_t *order;    /* numbers sorted by name; NULL = not built yet */
};

struct row_index;

enum { SQL_OTHERS = 7, SQL_SHOWN = 1024 };

/* Returns the slot of a string in strings_shown, a cache of the strings that columns returned. */
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
  /* These are built on demand; NULL = not built yet. */
  tk_id *parents, *children, *siblings;
  tk_id *timeline; /* events of all tracks in the order of their times (timeline.c) */
  tk_time *selves;
  int64_t *child_durs; /* ns */
  tk_id *launches;     /* host event that launched the work; 0 = unknown, or not device work */
  uint64_t *stacks;
  struct counter_track *counter_tracks;
  struct counter_row *counters;
  struct flow_row *flows;
  struct sql_stacks {
    tk_id *samples;    /* stack samples in the order of their times */
    tk_id *modules;    /* modules shown as mappings, after the mappings of the file: string ids; 0 = none */
    uint32_t *mapping; /* by frame */
    tk_id *symbols;    /* frames that have a symbol */
    uint32_t *symbol;  /* by frame: index in `symbols`; SQL_NONE = none */
    uint32_t n_samples, n_modules, n_symbols;
    bool known;
  } stack;
  uint32_t n_counter_tracks, cap_counter_tracks, n_counters, cap_counters, n_flows, cap_flows;
  struct kinds kinds;
  struct steps steps;
  struct around around[AROUND_FACTS]; /* by fact; t is NULL until a query needs the fact */
  struct map kind_texts, text_numbers; /* text_numbers: text used as pid or tid -> its number */
  struct intern texts; /* texts created for columns */
  struct row_index *indices;
  tk_id key_tts, key_end_tts; /* ids of the key strings in the trace; 0 = no event has the arg */
  const char **strings_shown; /* [SQL_SHOWN] strings of the trace that columns returned, by sql_shown_slot */
  const char **table_names;
  uint32_t n_table_names, cap_table_names;
  uint32_t n_globals;
  bool is_filed; /* true if the format describes the tracks */
  bool has_counters, has_flows, has_kinds, has_steps, has_bounds;
  int64_t start_ns, end_ns;
  uint64_t deadline_ms; /* deadline of the running statement; 0 = none */
  uint64_t graph_bytes, limit;
  struct tk_err *err;   /* receives the error of the running call */
  bool copying;         /* true while the library copies the tables; it may then attach a database */
  uint64_t touched;     /* bit set: rows of differences.c that statements have used */
  unsigned n_spans;     /* number of span joins whose statements run */
  bool changed;         /* true if statements may have created tables or views */
  struct tk_sql *others[SQL_OTHERS]; /* databases of other threads (ahead.c) */
  unsigned n_others;
};

static inline bool is_slice(const struct tk_event *e) { return e->kind != TK_EVENT_COUNTER && e->kind != TK_EVENT_SAMPLE; }

/* ---- indexes for the tables (relatives.c, names.c, tracks.c, samples.c, facts.c) ---- */

enum name_test { NAME_EQUAL, NAME_LIKE, NAME_GLOB, NAME_THERE };

/* Records that a string of the trace is, or will be, the result of a column. */
static inline void sql_shows(const struct tk_sql *s, const char *text) { s->strings_shown[sql_shown_slot(text)] = text; }

/* Frees a virtual table that owns no other memory. */
static inline int sql_disconnect(sqlite3_vtab *vtab) {
  sqlite3_free(vtab);
  return SQLITE_OK;
}

#endif
