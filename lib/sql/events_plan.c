/* events_plan.c - chooses the conditions that the table of events evaluates itself, and estimates the cost.
 *
 * Each condition that the cursor evaluates gets a letter in the plan. Conditions on numbers are evaluated exactly if the value is an
 * integer literal; SQLite then skips its own check, which costs 20 ns a row. A condition on the name is evaluated once for each
 * distinct name. For GROUP BY name, track, or name and track, the cursor returns the rows already grouped, because SQLite's sorter
 * would copy and compare every name.
 *
 * The rows that pass a condition on the name are counted, because their number decides how to evaluate an OR of LIKEs. SQLite can
 * convert the OR to a union of walks, but must then remember the rows that it has seen: 0.7 us and 160 bytes for each passing row. Or
 * SQLite can scan and check all rows: 0.16 us for each row. */
#include <math.h>
#include <string.h>

#include "events.h"
#include "names.h"

#ifndef SQLITE_INDEX_CONSTRAINT_LIMIT
#define SQLITE_INDEX_CONSTRAINT_LIMIT 73
#endif

enum {
  UNITED = 5, /* cost of a row in a union of walks, as a multiple of its cost in a scan */
  SORTED = 12, /* cost of sorting a row in SQLite, as a multiple of its cost in a scan */
  FEW = 64     /* a name with fewer events is walked by name rather than by a range of times */
};

/* Bounds of ts whose values are unknown when the query is planned: they come from another table of a join. */
enum { OPEN_LOW = 1, OPEN_HIGH = 2, OPEN_EQUAL = 4 };

struct plan {
  char text[64]; /* events.h: enum { TESTS } */
  int n;
  double rows;
  double in_time; /* estimated number of events in the range of times */
  double named;   /* estimated number of events whose names pass */
  unsigned open;  /* set of OPEN_LOW, OPEN_HIGH and OPEN_EQUAL */
  enum walk walk;
  unsigned order; /* enum order */
  bool names; /* true if there is a condition on the name */
  bool likes; /* true if SQLite may convert this condition to a union */
};

static bool takes(struct plan *p, sqlite3_index_info *info, int i, char test) {
  if (p->n >= (int)sizeof p->text - 2) return false;
  p->text[p->n++] = test;
  info->aConstraintUsage[i].argvIndex = p->n - TESTS;
  return true;
}

/* True if the condition compares with an integer literal. */
static bool events_is_whole(sqlite3_index_info *info, int i) {
#if SQLITE_VERSION_NUMBER >= 3038000
  sqlite3_value *v = NULL;
  if (sqlite3_libversion_number() >= 3038000 && sqlite3_vtab_rhs_value(info, i, &v) == SQLITE_OK && v)
    return sqlite3_value_type(v) == SQLITE_INTEGER;
#endif
  return false;
}

/* Returns the plan letter of the test `column op value`; 0 if there is none. first: letter of the column's >= test; the letters of >,
 * <=, < and = follow it. */
static char letter(char first, unsigned op) {
  switch (op) {
  case SQLITE_INDEX_CONSTRAINT_GE: return first;
  case SQLITE_INDEX_CONSTRAINT_GT: return (char)(first + 1);
  case SQLITE_INDEX_CONSTRAINT_LE: return (char)(first + 2);
  case SQLITE_INDEX_CONSTRAINT_LT: return (char)(first + 3);
  case SQLITE_INDEX_CONSTRAINT_EQ: return (char)(first + 4);
  default: return 0;
  }
}

static bool events_number_of(sqlite3_index_info *info, int i, double *number) {
#if SQLITE_VERSION_NUMBER >= 3038000
  sqlite3_value *v = NULL;
  if (sqlite3_libversion_number() < 3038000 || sqlite3_vtab_rhs_value(info, i, &v) != SQLITE_OK || !v) return false;
  *number = sqlite3_value_double(v);
  return sqlite3_value_type(v) == SQLITE_INTEGER || sqlite3_value_type(v) == SQLITE_FLOAT;
#else
  return false;
#endif
}

static bool compares(double value, unsigned op, double with) {
  switch (op) {
  case SQLITE_INDEX_CONSTRAINT_GE: return value >= with;
  case SQLITE_INDEX_CONSTRAINT_GT: return value > with;
  case SQLITE_INDEX_CONSTRAINT_LE: return value <= with;
  case SQLITE_INDEX_CONSTRAINT_LT: return value < with;
  default: return value == with;
  }
}

/* Estimates the share of passing events from a sample of about a thousand. If the value is not known yet, returns a guess. */
static double share_of_events(const struct tk_sql *s, sqlite3_index_info *info, int i, char first) {
  enum { ASKED = 1000 };
  const unsigned op = info->aConstraint[i].op;
  const bool equal = op == SQLITE_INDEX_CONSTRAINT_EQ;
  double number, all = 1, some = 0.5;
  if (!events_number_of(info, i, &number)) return equal ? 0.05 : 0.25;
  for (uint64_t k = 1; k <= s->t->n_events; k += s->t->n_events / ASKED + 1) {
    const struct tk_event *e = &s->t->events[k];
    const int64_t value = first == TEST_TS_GE ? times_at(&s->times, e->ts) : first == TEST_DUR_GE ? times_dur(&s->times, e) : e->depth;
    all++;
    some += compares((double)value, op, number);
  }
  return some / all;
}

static void take_number(struct plan *p, const struct tk_sql *s, sqlite3_index_info *info, int i, char first) {
  char test = letter(first, info->aConstraint[i].op);
  double number;
  if (!test || !takes(p, info, i, test)) return;
  info->aConstraintUsage[i].omit = events_is_whole(info, i);
  if (first == TEST_TS_GE && !events_number_of(info, i, &number)) {
    p->open |= test == TEST_TS_EQ ? OPEN_EQUAL : test < TEST_TS_LE ? OPEN_LOW : OPEN_HIGH;
    return;
  }
  const double share = share_of_events(s, info, i, first);
  p->rows *= share;
  if (first == TEST_TS_GE) p->in_time *= share;
}

/* Estimates the share of events in a range of times that is not known yet. A range with two bounds is assumed to be one of many
 * short ranges, as in a join of intervals with the events inside of them. */
static double share_of_open(unsigned open, double all) {
  if (open & OPEN_EQUAL) return 1 / all;
  if (open == (OPEN_LOW | OPEN_HIGH)) return 1 / sqrt(all);
  return open ? 0.25 : 1;
}

/* Returns the text literal of the condition; NULL if it is computed, or not text. */
static const char *events_text_of(sqlite3_index_info *info, int i) {
#if SQLITE_VERSION_NUMBER >= 3038000
  sqlite3_value *v = NULL;
  if (sqlite3_libversion_number() >= 3038000 && sqlite3_vtab_rhs_value(info, i, &v) == SQLITE_OK && v)
    return sqlite3_value_type(v) == SQLITE_TEXT ? (const char *)sqlite3_value_text(v) : NULL;
#endif
  return NULL;
}

/* Estimates the share of rows with a passing name from a sample of some thousand names; returns `guess` if the text is
 * unknown. */
static double share_of_names(struct tk_sql *s, char test, const char *text, double guess) {
  enum { ASKED = 2048 };
  uint64_t all = 0, some = 0;
  if (!text || !sql_names_counts(s)) return guess;
  for (uint32_t i = 0; i < s->names.n; i += s->names.n / ASKED + 1) {
    all += s->names.counts[i];
    if (sql_name_passes(s, i, (enum name_test)(test - TEST_NAME_EQ), text)) some += s->names.counts[i];
  }
  return all ? (double)some / (double)all : guess;
}

static void take_name(struct plan *p, struct tk_sql *s, sqlite3_index_info *info, int i) {
  const unsigned op = info->aConstraint[i].op;
  const bool equal = op == SQLITE_INDEX_CONSTRAINT_EQ, like = op == SQLITE_INDEX_CONSTRAINT_LIKE;
  const char test = equal ? TEST_NAME_EQ : like ? TEST_NAME_LIKE : TEST_NAME_GLOB;
  if (op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL && takes(p, info, i, TEST_NAME_THERE)) info->aConstraintUsage[i].omit = 1;
  if (!(equal || like || op == SQLITE_INDEX_CONSTRAINT_GLOB) || !takes(p, info, i, test)) return;
  info->aConstraintUsage[i].omit = !equal;
  const double share = share_of_names(s, test, events_text_of(info, i), equal ? 0.01 : 0.1);
  p->rows *= share;
  p->named *= share;
  p->names = true;
  p->likes |= !equal;
}

static enum column column_of(const struct event_table *table, int i) { return i < 0 ? COL_ID : (enum column)table->columns[i]; }

static void take_tests(struct plan *p, const struct event_vtab *v, sqlite3_index_info *info, int key) {
  for (int i = 0; i < info->nConstraint; i++) {
    if (!info->aConstraint[i].usable || i == key) continue;
    switch (column_of(v->table, info->aConstraint[i].iColumn)) {
    case COL_TS: take_number(p, v->sql, info, i, TEST_TS_GE); break;
    case COL_DUR: take_number(p, v->sql, info, i, TEST_DUR_GE); break;
    case COL_DEPTH: take_number(p, v->sql, info, i, TEST_DEPTH_GE); break;
    case COL_NAME: take_name(p, v->sql, info, i); break;
    default: break;
    }
  }
}

/* Returns the index of the usable condition "column = value"; -1 if there is none. */
static int equality(const struct event_table *table, const sqlite3_index_info *info, enum column column) {
  for (int i = 0; i < info->nConstraint; i++)
    if (info->aConstraint[i].usable && info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
        column_of(table, info->aConstraint[i].iColumn) == column)
      return i;
  return -1;
}

/* Chooses the best walk. Returns the index of the condition that it needs; -1 if none. */
static int choose_walk(struct plan *p, const struct event_vtab *v, sqlite3_index_info *info) {
  const struct tk_trace *t = v->sql->t;
  const double tracks = t->n_tracks ? t->n_tracks : 1;
  static const struct {
    enum column column;
    enum walk walk;
  } WAYS[] = {{COL_ID, WALK_ID}, {COL_PARENT_ID, WALK_CHILDREN}, {COL_TRACK_ID, WALK_TRACK}};
  for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
    int found = equality(v->table, info, WAYS[i].column);
    if (found < 0) continue;
    p->walk = WAYS[i].walk;
    p->rows = p->walk == WALK_ID ? 1 : p->walk == WALK_CHILDREN ? 4 : p->rows / tracks;
    takes(p, info, found, TEST_KEY);
    info->aConstraintUsage[found].omit = events_is_whole(info, found);
    if (p->walk == WALK_ID) info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
    return found;
  }
  return -1;
}

static int distinct_of(sqlite3_index_info *info) {
#if SQLITE_VERSION_NUMBER >= 3038000
  if (sqlite3_libversion_number() >= 3038000) return sqlite3_vtab_distinct(info);
#endif
  (void)info;
  return 0;
}

/* True if rows must be grouped but not sorted: by name, by track, or by both. Within a name, rows are in the order of
 * tracks. */
static bool groups(struct plan *p, const struct event_vtab *v, const sqlite3_index_info *info) {
  const struct event_table *table = v->table;
  bool name = false, other = false;
  for (int i = 0; i < info->nOrderBy; i++) {
    enum column c = column_of(table, info->aOrderBy[i].iColumn);
    name |= c == COL_NAME;
    other |= c != COL_NAME && c != COL_TRACK_ID;
  }
  if (other || p->walk != WALK_ALL) return !other && p->walk == WALK_TRACK && !name;
  if (name) p->walk = WALK_NAMES;
  else if (v->sql->n_globals) p->order |= GLOBALS_APART;
  return true;
}

/* Plans the rows of a GROUP BY. SQLite reports that grouping is enough. But if an ORDER BY has the same columns, it relies on sorted
 * rows and passes the DESC flags of the ORDER BY. So rows are returned in exactly the order of aOrderBy. */
static bool groups_in_order(struct plan *p, const struct event_vtab *v, const sqlite3_index_info *info) {
  const bool by_name = column_of(v->table, info->aOrderBy[0].iColumn) == COL_NAME;
  const bool by_track = info->nOrderBy == 1 + by_name && column_of(v->table, info->aOrderBy[by_name].iColumn) == COL_TRACK_ID;
  if (info->nOrderBy > 1 && (!by_name || !by_track)) return false;
  if ((by_name && !sql_names_order(v->sql)) || !groups(p, v, info)) return false;
  if (by_track && info->aOrderBy[by_name].desc) p->order |= TRACKS_DOWN;
  if (by_name && info->aOrderBy[0].desc) p->order |= NAMES_DOWN;
  if (by_name) p->order |= ORDER_NAMES;
  return true;
}

/* True if the walk returns rows in the requested order anyway: by id; by track, or by track and time; or by time within one
 * track. */
static bool orders_tracks(const struct plan *p, const struct event_vtab *v, const sqlite3_index_info *info) {
  const enum column first = column_of(v->table, info->aOrderBy[0].iColumn);
  if (info->nOrderBy == 1 && first == COL_ID) return p->walk == WALK_ALL || p->walk == WALK_CHILDREN || p->walk == WALK_TRACK;
  if (p->walk == WALK_ALL && first == COL_TRACK_ID && !v->sql->n_globals)
    return info->nOrderBy == 1 || (info->nOrderBy == 2 && column_of(v->table, info->aOrderBy[1].iColumn) == COL_TS);
  return p->walk == WALK_TRACK && info->nOrderBy == 1 && first == COL_TS;
}

/* True if the query sorts by time, or by time and id, both in one direction. */
static bool asks_times(const struct event_table *table, const sqlite3_index_info *info) {
  if (info->nOrderBy < 1 || info->nOrderBy > 2 || column_of(table, info->aOrderBy[0].iColumn) != COL_TS) return false;
  return info->nOrderBy == 1 ||
         (column_of(table, info->aOrderBy[1].iColumn) == COL_ID && info->aOrderBy[0].desc == info->aOrderBy[1].desc);
}

/* Plans a walk in the order of times if it costs less than SQLite's sorter, which sorts only the rows that pass. */
static bool orders_times(struct plan *p, const struct event_vtab *v, const sqlite3_index_info *info) {
  const double making = v->sql->timeline ? 0 : v->sql->t->n_events;
  if (!asks_times(v->table, info) || (p->walk != WALK_ALL && p->walk != WALK_TIMES)) return false;
  if (p->walk == WALK_ALL && p->rows * SORTED < p->in_time + making) return false;
  p->walk = WALK_TIMES;
  if (info->aOrderBy[0].desc) p->order |= TIMES_DOWN;
  return true;
}

static bool orders(struct plan *p, const struct event_vtab *v, const sqlite3_index_info *info) {
  bool up = true;
  for (int i = 0; i < info->nOrderBy; i++) up &= !info->aOrderBy[i].desc;
  const bool by_names = p->walk == WALK_ALL && p->names; /* a walk over the lists of names returns rows in another order */
  if (p->walk == WALK_ID || (up && !by_names && orders_tracks(p, v, info))) return true;
  return orders_times(p, v, info);
}

/* Returns the estimated work: the number of rows that SQLite sees, plus a little for skipped rows. EXPLAIN QUERY PLAN shows it, and
 * ahead.c uses it to choose the next statement. */
static int work_of(const struct plan *p, double cost) {
  const double work = p->rows * (p->likes ? UNITED : 1) + cost / 16;
  return work < INT32_MAX ? (int)work : INT32_MAX;
}

static int finish_plan(struct plan *p, sqlite3_index_info *info, double cost) {
  p->text[0] = (char)('0' + p->walk);
  p->text[1] = (char)('0' + p->order);
  p->text[p->n] = 0;
  info->idxStr = sqlite3_mprintf("%s%s", p->text, p->walk == WALK_TIMES ? " in the order of ts" : "");
  info->needToFreeIdxStr = 1;
  if (p->rows < 1) p->rows = 1;
  info->estimatedRows = (sqlite3_int64)p->rows;
  info->estimatedCost = cost;
  info->idxNum = work_of(p, cost);
  return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* Plans a table-valued function. Returns SQLITE_CONSTRAINT if its argument is not available. */
static int plan_function(const struct event_vtab *v, sqlite3_index_info *info) {
  struct plan p = {.n = TESTS, .rows = 10, .walk = (enum walk)v->table->walk};
  int found = equality(v->table, info, COL_ARGUMENT);
  if (found < 0) return SQLITE_CONSTRAINT;
  takes(&p, info, found, TEST_KEY);
  info->aConstraintUsage[found].omit = 1;
  return finish_plan(&p, info, 20);
}

/* Chooses a walk over the timeline for a range of times that comes from another table, and estimates its rows. */
static void choose_times(struct plan *p) {
  const double share = share_of_open(p->open, p->in_time);
  p->rows *= share;
  p->in_time *= share;
  if (p->walk == WALK_ALL && p->open && !(p->names && p->named < FEW)) p->walk = WALK_TIMES;
}

static double cost_of_walk(const struct plan *p) {
  switch (p->walk) {
  case WALK_ID: return 2;
  case WALK_CHILDREN: return 8;
  case WALK_TIMES: return p->in_time + 2;
  case WALK_ALL: return p->names ? p->rows * (p->likes ? UNITED : 1) + 10 : p->in_time; /* visits the lists of the names that pass */
  default: return p->in_time;
  }
}

int events_plan(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  const struct event_vtab *v = (const struct event_vtab *)vtab;
  const double all = (double)v->sql->t->n_events + 1;
  struct plan p = {.n = TESTS, .rows = all, .named = all, .walk = WALK_ALL};
  if (v->table->walk != WALK_ALL) return plan_function(v, info);
  int key = choose_walk(&p, v, info);
  p.in_time = p.rows;
  take_tests(&p, v, info, key);
  choose_times(&p);
  double cost = cost_of_walk(&p);
  const int distinct = info->nOrderBy ? distinct_of(info) : 0;
  if (distinct == 1) info->orderByConsumed = groups_in_order(&p, v, info);
  if (distinct == 2) info->orderByConsumed = groups(&p, v, info);
  if (info->nOrderBy && !info->orderByConsumed) info->orderByConsumed = distinct == 0 && orders(&p, v, info);
  if (p.walk == WALK_ALL && p.names && !info->orderByConsumed) p.walk = WALK_NAMES;
  return finish_plan(&p, info, cost);
}
