/* events.h - the tables whose rows are events: which columns each has, and how a query's conditions become a walk over the graph.
 *
 * The tables differ in their columns and in which events they hold; one cursor serves all.  A plan (events_plan.c) is a text that
 * SQLite hands back to the cursor (events.c): which conditions it gets values for, and which way to go. */
#ifndef SQL_EVENTS_H
#define SQL_EVENTS_H

#include "sql.h"

enum column {
  COL_ID, COL_TS, COL_DUR, COL_TRACK_ID, COL_CATEGORY, COL_NAME, COL_DEPTH, COL_STACK_ID, COL_PARENT_STACK_ID, COL_PARENT_ID,
  COL_ARG_SET_ID, COL_NULL_INT, COL_TRACK_NAME, COL_THREAD_NAME, COL_UTID, COL_TID, COL_IS_MAIN_THREAD, COL_PROCESS_NAME, COL_UPID,
  COL_PID, COL_KIND, COL_KINDS, COL_RANK, COL_HOST, COL_STEP, COL_STREAM, COL_DEVICE, COL_SELF_DUR, COL_PHASE, COL_ARGUMENT
};

struct event_table {
  const char *name, *schema; /* as CREATE TABLE has it, without what is NOT NULL */
  const uint8_t *columns;    /* enum column, in the order of the schema */
  uint8_t sorts;             /* of tracks, whose events it holds */
  bool all;                  /* counter samples too */
  uint8_t walk;              /* enum walk, of a table that is a function of an event or of a stack */
};

/* Ways over the events. */
enum walk {
  WALK_ALL,         /* track after track */
  WALK_ID,          /* one */
  WALK_TRACK,       /* of one track */
  WALK_CHILDREN,    /* of one event */
  WALK_NAMES,       /* name after name */
  WALK_ANCESTORS,   /* outermost first */
  WALK_DESCENDANTS,
  WALK_STACK_UP,    /* ancestors of the events of a stack */
  WALK_STACK_DOWN
};

/* How a walk over names or tracks goes.  Of each name, events come track after track. */
enum order {
  ORDER_NAMES = 1, /* in the order of names; else as they are numbered */
  NAMES_DOWN = 2,
  TRACKS_DOWN = 4,
  GLOBALS_APART = 8 /* of all tracks, those of the global one come together, as the first track's do */
};

/* Letters of a plan: walk and order as digits, then what each of the cursor's values is compared with. */
enum { TESTS = 2 };

enum test {
  TEST_KEY = 'k',     /* of the walk */
  TEST_TS_GE = 'a', TEST_TS_GT, TEST_TS_LE, TEST_TS_LT, TEST_TS_EQ,
  TEST_DUR_GE = 'f', TEST_DUR_GT, TEST_DUR_LE, TEST_DUR_LT, TEST_DUR_EQ,
  TEST_DEPTH_GE = 'p', TEST_DEPTH_GT, TEST_DEPTH_LE, TEST_DEPTH_LT, TEST_DEPTH_EQ,
  TEST_NAME_EQ = 'A', TEST_NAME_LIKE, TEST_NAME_GLOB, TEST_NAME_THERE /* enum name_test */
};

struct range {
  int64_t low, high; /* both belong to it */
  bool asked;
};

struct event_filter {
  struct range ts, dur, depth;
  tk_time clear_low, clear_high; /* durations between them pass however they are rounded */
  uint8_t *names; /* by number of a name: does it pass?  NULL = all do */
  bool none;      /* nothing passes */
  bool asked;     /* not all passes */
};

struct event_vtab {
  sqlite3_vtab base;
  struct tk_sql *sql;
  const struct event_table *table;
};

struct event_cursor {
  sqlite3_vtab_cursor base;
  struct tk_sql *sql;
  const struct event_table *table;
  struct event_filter filter;
  enum walk walk;
  unsigned order; /* enum order */
  bool end, all_placed, globals; /* globals: only what is global is wanted of the track that is walked */
  tk_id at, stop;          /* the row; behind the last event of the stretch that is walked */
  tk_id track, last_track; /* of walks over tracks */
  tk_id wanted;            /* of WALK_TRACK */
  const tk_id *named;      /* of WALK_NAMES: where the event is in the list of its name */
  int step;                /* ... to the next, 1 or -1 */
  uint32_t n_named, name;  /* ... events of the name that are left; names that are entered */
  const char *text;        /* ... the name */
  size_t text_n;
  tk_id *list;             /* of walks over few events */
  uint32_t place, n_list, cap_list;
  sqlite3_int64 argument;  /* of tables that are functions */
};

extern const struct event_table event_tables[];

int events_plan(sqlite3_vtab *vtab, sqlite3_index_info *info);
int events_value(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int column);

#endif
