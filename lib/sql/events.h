/* events.h - tables whose rows are events: their columns, and the mapping of query conditions to a walk over the graph.
 *
 * The tables differ in their columns and in the events they contain; one cursor serves all. A plan (events_plan.c) is a string
 * that SQLite passes to the cursor (events.c). It contains the kind of walk, and the conditions for which the cursor receives
 * values. */
#ifndef SQL_EVENTS_H
#define SQL_EVENTS_H

#include "sql.h"

enum column {
  COL_ID, COL_TS, COL_DUR, COL_TRACK_ID, COL_CATEGORY, COL_NAME, COL_DEPTH, COL_STACK_ID, COL_PARENT_STACK_ID, COL_PARENT_ID,
  COL_ARG_SET_ID, COL_NULL_INT, COL_THREAD_TS, COL_THREAD_DUR, COL_TRACK_NAME, COL_THREAD_NAME, COL_UTID, COL_TID,
  COL_IS_MAIN_THREAD, COL_PROCESS_NAME, COL_UPID,
  COL_PID, COL_KIND, COL_KINDS, COL_RANK, COL_HOST, COL_STEP, COL_STREAM, COL_DEVICE, COL_SELF_DUR, COL_TYPE,
  COL_PHASE, COL_OP, COL_MODULE, /* in the order of enum around_fact */
  COL_LAUNCH_ID, COL_CHILD_DUR, COL_ARGUMENT
};

struct event_table {
  const char *name, *schema; /* schema: as in CREATE TABLE, without NOT NULL */
  const uint8_t *columns;    /* enum column, in schema order */
  uint8_t sorts;             /* set of enum sort: tracks whose events the table contains */
  bool all;                  /* true if the table includes counter samples */
  uint8_t walk;              /* for a table-valued function of an event or a stack: enum walk */
};

/* Ways to iterate over events. */
enum walk {
  WALK_ALL,         /* all tracks in order */
  WALK_ID,          /* one event */
  WALK_TRACK,       /* one track */
  WALK_CHILDREN,    /* children of one event */
  WALK_NAMES,       /* all names in order */
  WALK_ANCESTORS,   /* ancestors of one event, outermost first */
  WALK_DESCENDANTS,
  WALK_STACK_UP,    /* ancestors of all events of a stack */
  WALK_STACK_DOWN,
  WALK_TIMES        /* all tracks at once, in the order of times */
};

/* Order of a walk over names or tracks. Within a name, events are in the order of tracks. */
enum order {
  ORDER_NAMES = 1, /* names in the order of their texts; otherwise in the order of their numbers */
  NAMES_DOWN = 2,
  TRACKS_DOWN = 4,
  TIMES_DOWN = 16,
  GLOBALS_APART = 8 /* in a walk over all tracks, the global events of all tracks come first, as events of a separate track */
};

/* A plan is a string: walk and order as digits, then a letter for each value that the cursor receives. Words that explain the plan to a
 * reader of EXPLAIN QUERY PLAN may follow. */
enum { TESTS = 2 };

enum test {
  TEST_KEY = 'k',     /* key of the walk (event, track, stack) */
  TEST_TS_GE = 'a', TEST_TS_GT, TEST_TS_LE, TEST_TS_LT, TEST_TS_EQ,
  TEST_DUR_GE = 'f', TEST_DUR_GT, TEST_DUR_LE, TEST_DUR_LT, TEST_DUR_EQ,
  TEST_DEPTH_GE = 'p', TEST_DEPTH_GT, TEST_DEPTH_LE, TEST_DEPTH_LT, TEST_DEPTH_EQ,
  TEST_NAME_EQ = 'A', TEST_NAME_LIKE, TEST_NAME_GLOB, TEST_NAME_THERE /* enum name_test */
};

struct range {
  int64_t low, high; /* inclusive bounds */
  bool asked;
};

struct event_filter {
  struct range ts, dur, depth;
  tk_time clear_low, clear_high; /* durations strictly between these bounds pass without comparing the rounded value */
  const uint8_t *names; /* names[number in struct by_name]: nonzero if the name passes; NULL = all names pass */
  bool none;      /* true if no event can pass */
  bool asked;     /* true if there is any condition */
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
  bool end, all_placed, globals; /* globals: only global events of the current track are wanted */
  tk_id at, stop;          /* current row; end of the range that is being visited */
  tk_id track, last_track; /* for walks over tracks */
  tk_id wanted;            /* for WALK_TRACK: the track */
  const tk_id *named;      /* for WALK_NAMES: position in the list of the name */
  int step;                /* for WALK_NAMES: direction, 1 or -1 */
  uint32_t n_named, name;  /* for WALK_NAMES: remaining events of the name; number of names visited */
  const char *text;        /* for WALK_NAMES: text of the name */
  size_t text_n;
  tk_id *list;             /* for walks over few events */
  uint32_t place, n_list, cap_list; /* place: index into the list; for WALK_TIMES: index into the timeline */
  uint32_t from, to;       /* for WALK_TIMES: range of the timeline */
  struct buf names_asked;  /* conditions on the name for which names_kept was computed */
  uint8_t *names_kept;     /* by number of the name, as in the filter; NULL = not computed yet */
  sqlite3_int64 argument;  /* for table-valued functions */
};

extern const struct event_table event_tables[];

int events_plan(sqlite3_vtab *vtab, sqlite3_index_info *info);
int events_value(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int column);

bool sql_register_events(struct tk_sql *s);

#endif
