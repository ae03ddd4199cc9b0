/* events.c - the cursor over events: walks the graph according to the plan and skips events that fail the filter.
 *
 * The rounded duration of a row is computed only if the picoseconds in the graph are too close to a bound to decide. */
#include "events.h"
#include "names.h"
#include "relatives.h"
#include "table.h"
#include "timeline.h"
#include "tracks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AHEAD = 16, SLACK_DUR = 2000 /* SLACK_DUR: ps; more than rounding can change a duration */ };

/* ---- filters ---- */

static const struct range EVERYTHING = {INT64_MIN, INT64_MAX, false};

static void narrow(struct range *r, int64_t low, int64_t high) {
  r->asked = true;
  if (low > r->low) r->low = low;
  if (high < r->high) r->high = high;
}

/* Converts a bound to integers. Text that contains a number counts as a number, as in a comparison with a column of integers. Fractions
 * are rounded outwards, and SQLite checks the exact condition again. */
static bool bounds_of(sqlite3_value *v, int64_t *low, int64_t *high) {
  const int type = sqlite3_value_numeric_type(v);
  const double d = sqlite3_value_double(v), most = 9.2e18;
  if (type == SQLITE_INTEGER) {
    *low = *high = sqlite3_value_int64(v);
    return true;
  }
  if (type != SQLITE_FLOAT || !(d > -most && d < most)) return false;
  *low = (int64_t)floor(d);
  *high = (int64_t)ceil(d);
  return true;
}

/* Narrows the range by a comparison; `op`: 0 to 4 for >=, >, <=, < and =. Sets *none if no event can pass. */
static void bound(struct range *r, int op, sqlite3_value *v, bool *none) {
  int64_t low, high;
  if (sqlite3_value_type(v) == SQLITE_NULL) *none = true;
  if (!bounds_of(v, &low, &high)) return;
  const bool whole = low == high;
  if (whole && op == 1 && low < INT64_MAX) low++;
  else if (whole && op == 1) *none = true;
  if (whole && op == 3 && high > INT64_MIN) high--;
  else if (whole && op == 3) *none = true;
  narrow(r, op < 2 || op == 4 ? low : INT64_MIN, op >= 2 ? high : INT64_MAX);
}

/* Applies a condition on the name to names_kept. `fresh`: true for the first such condition. */
static bool filter_names(struct event_cursor *c, char test, sqlite3_value *v, bool fresh) {
  struct tk_sql *s = c->sql;
  const char *text = test == TEST_NAME_THERE ? "" : (const char *)sqlite3_value_text(v);
  if (!c->names_kept) c->names_kept = mem_alloc(&s->mem, s->names.n);
  if (!c->names_kept || !text) return false;
  for (uint32_t i = 0; i < s->names.n; i++)
    c->names_kept[i] = (fresh || c->names_kept[i]) && sql_name_passes(s, i, (enum name_test)(test - TEST_NAME_EQ), text);
  return true;
}

/* True if the condition depends on the name alone. A comparison with anything but text is left to SQLite. */
static bool is_of_name(char test, sqlite3_value *v) {
  if (test < TEST_NAME_EQ || test > TEST_NAME_THERE) return false;
  const int type = sqlite3_value_type(v);
  return test == TEST_NAME_THERE || (test == TEST_NAME_EQ ? type == SQLITE_TEXT : type != SQLITE_NULL);
}

static bool append_condition(struct buf *asked, char test, sqlite3_value *v) {
  const char *text = test == TEST_NAME_THERE ? "" : (const char *)sqlite3_value_text(v);
  return text && buf_append(asked, &test, 1) && buf_append(asked, text, strlen(text) + 1);
}

/* Decides which names pass. The last result is cached, because the inner loop of a join repeats the same conditions. */
static bool read_names(struct event_cursor *c, const char *tests, int argc, sqlite3_value **argv) {
  struct buf asked = {.mem = &c->sql->mem};
  bool ok = true, fresh = true;
  for (int i = 0; ok && i < argc; i++) {
    if (!is_of_name(tests[i], argv[i])) continue;
    ok = append_condition(&asked, tests[i], argv[i]);
  }
  const bool same = ok && asked.len == c->names_asked.len && asked.len && memcmp(asked.data, c->names_asked.data, asked.len) == 0;
  for (int i = 0; ok && !same && i < argc; i++) {
    if (!is_of_name(tests[i], argv[i])) continue;
    ok = filter_names(c, tests[i], argv[i], fresh);
    fresh = false;
  }
  buf_free(&c->names_asked);
  c->names_asked = asked;
  c->filter.names = asked.len ? c->names_kept : NULL;
  if (!ok) buf_free(&c->names_asked);
  return ok;
}

/* Reads a condition on a number. No event passes a comparison with NULL. */
static void read_test(struct event_filter *f, char test, sqlite3_value *v) {
  if (sqlite3_value_type(v) == SQLITE_NULL && test != TEST_NAME_THERE) f->none = true;
  else if (test >= TEST_TS_GE && test <= TEST_TS_EQ) bound(&f->ts, test - TEST_TS_GE, v, &f->none);
  else if (test >= TEST_DUR_GE && test <= TEST_DUR_EQ) bound(&f->dur, test - TEST_DUR_GE, v, &f->none);
  else if (test >= TEST_DEPTH_GE && test <= TEST_DEPTH_EQ) bound(&f->depth, test - TEST_DEPTH_GE, v, &f->none);
}

static int64_t in_ps(int64_t ns) {
  if (ns > INT64_MAX / 1000 - 4) return INT64_MAX - SLACK_DUR;
  return ns < INT64_MIN / 1000 + 4 ? INT64_MIN + SLACK_DUR : ns * 1000;
}

static void find_clear(struct event_filter *f) {
  f->clear_low = in_ps(f->dur.low) + SLACK_DUR;
  f->clear_high = in_ps(f->dur.high) - SLACK_DUR;
}

static bool dur_passes(const struct tk_sql *s, const struct event_filter *f, const struct tk_event *e) {
  if (!(e->flags & TK_FLAG_UNFINISHED)) {
    if (e->dur > f->clear_low && e->dur < f->clear_high) return true;
    if (e->dur < f->clear_low - 2 * SLACK_DUR || e->dur > f->clear_high + 2 * SLACK_DUR) return false;
  }
  const int64_t dur = times_dur(&s->times, e);
  return dur >= f->dur.low && dur <= f->dur.high;
}

static bool passes(const struct event_cursor *c, tk_id event) {
  const struct event_filter *f = &c->filter;
  const struct tk_event *e = &c->sql->t->events[event];
  if (!c->table->all && !is_slice(e)) return false;
  if (!f->asked) return true;
  if (f->names && c->walk != WALK_NAMES && !f->names[c->sql->names.of_class[e->cls]]) return false; /* WALK_NAMES has already
                                                                                                     * checked the name */
  if (f->depth.asked && (!is_slice(e) || e->depth < f->depth.low || e->depth > f->depth.high)) return false;
  if (f->dur.asked && (!is_slice(e) || !dur_passes(c->sql, f, e))) return false;
  if (!f->ts.asked || c->walk == WALK_ALL || c->walk == WALK_TRACK || c->walk == WALK_TIMES) return true; /* the walk visits only events
                                                                                                           * in the range of times */
  const int64_t ts = times_at(&c->sql->times, e->ts);
  return ts >= f->ts.low && ts <= f->ts.high;
}

static bool of_sort(const struct event_cursor *c, tk_id track) { return (c->table->sorts & c->sql->tracks[track].sort) != 0; }

/* True if the walk includes the track that the tables show for the event. The graph stores a global instant on its process's track, but
 * the tables show it on the global track. */
static bool is_placed(const struct event_cursor *c, const struct tk_event *e) {
  if (c->all_placed) return true;
  if (!c->sql->tracks[e->track].globals) return of_sort(c, e->track);
  const tk_id track = sql_track_of(c->sql, e);
  if (c->walk == WALK_TRACK && track != c->wanted) return false;
  return of_sort(c, track) && (!(c->order & GLOBALS_APART) || (track == GLOBAL_TRACK) == c->globals);
}

/* ---- walks ---- */

/* Returns the first event of [from, to) at or after a time. */
static tk_id first_at(const struct tk_sql *s, tk_id from, tk_id to, int64_t ns) {
  while (from < to) {
    tk_id middle = from + (to - from) / 2;
    if (times_at(&s->times, s->t->events[middle].ts) < ns) from = middle + 1;
    else to = middle;
  }
  return from;
}

/* Finds the range of events of a track that can pass; times on a track do not decrease. */
static void enter_track(struct event_cursor *c, tk_id track) {
  const struct tk_track *k = &c->sql->t->tracks[track];
  const struct range *ts = &c->filter.ts;
  c->at = k->first;
  const bool globals = c->sql->tracks[track].globals > 0, elsewhere = c->globals || (c->walk == WALK_TRACK && track != c->wanted);
  c->stop = globals || (of_sort(c, track) && !elsewhere) ? k->first + k->count : k->first;
  if (!ts->asked || c->at == c->stop) return;
  if (ts->low > INT64_MIN) c->at = first_at(c->sql, c->at, c->stop, ts->low);
  if (ts->high < INT64_MAX) c->stop = first_at(c->sql, c->at, c->stop, ts->high + 1);
}

/* Moves to the next track. If global events must be separate, the walk first visits the global events of all tracks, then all
 * other events. */
static void enter_next_track(struct event_cursor *c) {
  const tk_id n = c->sql->t->n_tracks, step = c->order & TRACKS_DOWN ? c->last_track - 1 - c->track : c->track;
  c->track++;
  c->globals = c->order & GLOBALS_APART && step < n;
  enter_track(c, step % n + 1);
}

static void find_in_tracks(struct event_cursor *c) {
  for (;;) {
    while (c->at < c->stop && !(passes(c, c->at) && is_placed(c, &c->sql->t->events[c->at]))) c->at++;
    if (c->at < c->stop) return;
    if (c->track >= c->last_track) break; /* WALK_TRACK visits one track; only the global track needs all tracks */
    enter_next_track(c);
  }
  c->end = true;
}

/* Enters the list of the next name. */
static void enter_name(struct event_cursor *c) {
  const struct by_name *b = &c->sql->names;
  const uint32_t place = c->order & NAMES_DOWN ? b->n - 1 - c->name : c->name;
  const uint32_t number = c->order & ORDER_NAMES ? b->order[place] : place;
  const bool wanted = !c->filter.names || c->filter.names[number];
  c->name++;
  c->n_named = wanted ? b->first[number + 1] - b->first[number] : 0;
  c->text = sql_name(c->sql, number, &c->text_n);
  if (c->text) sql_shows(c->sql, c->text);
  c->named = b->events + b->first[number] + (c->n_named && c->step < 0 ? c->n_named - 1 : 0);
}

static void find_in_names(struct event_cursor *c) {
  for (;;) {
    for (; c->n_named; c->n_named--, c->named += c->step) {
      c->at = *c->named;
      __builtin_prefetch(&c->sql->t->events[c->n_named > AHEAD ? c->named[AHEAD * c->step] : c->at]);
      if (is_placed(c, &c->sql->t->events[c->at]) && passes(c, c->at)) return;
    }
    if (c->name == c->sql->names.n) break;
    enter_name(c);
  }
  c->end = true;
}

/* Enters the range of the timeline. The search starts at the range of the previous walk, because the intervals of a join are often
 * sorted. */
static bool enter_times(struct event_cursor *c) {
  const struct range *ts = &c->filter.ts;
  const uint32_t n = c->sql->t->n_events;
  if (!timeline_build(c->sql)) return false;
  c->from = ts->low > INT64_MIN ? timeline_first(c->sql, ts->low, c->from) : 0;
  c->to = ts->high < INT64_MAX ? timeline_first(c->sql, ts->high + 1, c->from) : n;
  c->n_list = c->to > c->from ? c->to - c->from : 0;
  return true;
}

static void find_in_times(struct event_cursor *c) {
  const bool down = c->order & TIMES_DOWN;
  const tk_id *timeline = c->sql->timeline;
  for (; c->place < c->n_list; c->place++) {
    const uint32_t at = down ? c->to - 1 - c->place : c->from + c->place;
    if (c->n_list - c->place > AHEAD) __builtin_prefetch(&c->sql->t->events[timeline[down ? at - AHEAD : at + AHEAD]]);
    if (c->at = timeline[at], is_placed(c, &c->sql->t->events[c->at]) && passes(c, c->at)) return;
  }
  c->end = true;
}

static void find_in_list(struct event_cursor *c) {
  for (; c->place < c->n_list; c->place++)
    if (c->at = c->list[c->place], is_placed(c, &c->sql->t->events[c->at]) && passes(c, c->at)) return;
  c->end = true;
}

static bool add_to_list(struct event_cursor *c, tk_id event) {
  if (!mem_grow(&c->sql->mem, (void **)&c->list, &c->cap_list, (uint64_t)c->n_list + 1, sizeof *c->list)) return false;
  c->list[c->n_list++] = event;
  return true;
}

static bool list_ancestors(struct event_cursor *c, tk_id event) {
  const uint32_t first = c->n_list;
  if (!sql_parents(c->sql)) return false;
  for (tk_id i = c->sql->parents[event]; i; i = c->sql->parents[i])
    if (!add_to_list(c, i)) return false;
  for (uint32_t a = first, b = c->n_list; a + 1 < b; a++) {
    tk_id swapped = c->list[a];
    c->list[a] = c->list[--b];
    c->list[b] = swapped;
  }
  return true;
}

static bool list_descendants(struct event_cursor *c, tk_id event) {
  const struct below b = sql_below(c->sql, event);
  for (tk_id i = b.first; i < b.end; i++)
    if (is_below(c->sql, &b, i) && !add_to_list(c, i)) return false;
  return true;
}

static bool list_children(struct event_cursor *c, tk_id event) {
  if (!sql_children(c->sql)) return false;
  for (tk_id i = c->sql->children[event]; i; i = c->sql->siblings[i])
    if (!add_to_list(c, i)) return false;
  return true;
}

static int by_id(const void *a, const void *b) {
  const tk_id x = *(const tk_id *)a, y = *(const tk_id *)b;
  return (x > y) - (x < y);
}

/* Lists the ancestors (`up`) or the descendants of all events with the stack, each once. */
static bool list_stack(struct event_cursor *c, bool up) {
  struct tk_sql *s = c->sql;
  if (!sql_stacks(s)) return false;
  for (tk_id i = 1; i <= s->t->n_events; i++)
    if (s->stacks[i] == (uint64_t)c->argument && is_slice(&s->t->events[i]))
      if (!(up ? list_ancestors(c, i) : list_descendants(c, i))) return false;
  if (c->n_list) qsort(c->list, c->n_list, sizeof *c->list, by_id);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < c->n_list; i++)
    if (!i || c->list[i] != c->list[kept - 1]) c->list[kept++] = c->list[i];
  c->n_list = kept;
  return true;
}

static bool is_event(const struct tk_sql *s, int64_t id) { return id > 0 && id <= s->t->n_events; }

static bool start_list(struct event_cursor *c, int64_t key) {
  const bool known = is_event(c->sql, key) && is_slice(&c->sql->t->events[key]);
  switch (c->walk) {
  case WALK_ID: return !is_event(c->sql, key) || add_to_list(c, (tk_id)key);
  case WALK_CHILDREN: return !is_event(c->sql, key) || list_children(c, (tk_id)key);
  case WALK_ANCESTORS: return !known || list_ancestors(c, (tk_id)key);
  case WALK_DESCENDANTS: return !known || list_descendants(c, (tk_id)key);
  default: return list_stack(c, c->walk == WALK_STACK_UP);
  }
}

static bool start_walk(struct event_cursor *c, sqlite3_value *key) {
  const int64_t number = key ? sqlite3_value_int64(key) : 0;
  const struct tk_trace *t = c->sql->t;
  c->argument = number;
  switch (c->walk) {
  case WALK_ALL:
    c->last_track = c->order & GLOBALS_APART ? 2 * t->n_tracks : t->n_tracks;
    return true;
  case WALK_TRACK:
    c->wanted = number >= 0 && number <= t->n_tracks ? (tk_id)number : 0;
    if (number == GLOBAL_TRACK) c->last_track = c->sql->n_globals ? t->n_tracks : 0;
    else if (c->wanted) enter_track(c, c->track = c->last_track = c->wanted);
    return true;
  case WALK_NAMES:
    c->step = c->order & TRACKS_DOWN ? -1 : 1;
    return sql_names_events(c->sql) && (!(c->order & ORDER_NAMES) || sql_names_order(c->sql));
  case WALK_TIMES: return enter_times(c);
  default: return start_list(c, number);
  }
}

static void events_find(struct event_cursor *c) {
  switch (c->walk) {
  case WALK_ALL: case WALK_TRACK: find_in_tracks(c); break;
  case WALK_NAMES: find_in_names(c); break;
  case WALK_TIMES: find_in_times(c); break;
  default: find_in_list(c); break;
  }
}

/* ---- the virtual table ---- */

/* True if all events of the walk are on wanted tracks, so that is_placed need not check each one: all tracks are wanted, or
 * enter_track skips the others. */
static bool is_all_placed(const struct event_cursor *c) {
  if (c->table->sorts == SORT_ALL && c->walk != WALK_TRACK && !(c->order & GLOBALS_APART)) return true;
  return !c->sql->n_globals && (c->walk == WALK_ALL || c->walk == WALK_TRACK);
}

static void reset(struct event_cursor *c) {
  c->filter = (struct event_filter){.ts = EVERYTHING, .dur = EVERYTHING, .depth = EVERYTHING};
  c->n_list = c->place = c->n_named = c->name = c->at = c->stop = c->track = c->last_track = 0;
  c->end = c->globals = false;
}

static int events_filter(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc, sqlite3_value **argv) {
  struct event_cursor *c = (struct event_cursor *)cursor;
  sqlite3_value *key = NULL;
  (void)number;
  reset(c);
  c->walk = (enum walk)(plan[0] - '0');
  c->order = (unsigned)(plan[1] - '0');
  for (int i = 0; i < argc; i++) {
    if (plan[TESTS + i] == TEST_KEY) key = argv[i];
    else read_test(&c->filter, plan[TESTS + i], argv[i]);
  }
  if (key && sqlite3_value_type(key) == SQLITE_NULL) c->filter.none = true;
  if (c->filter.none) {
    c->end = true;
    return SQLITE_OK;
  }
  if (!read_names(c, plan + TESTS, argc, argv)) return SQLITE_NOMEM;
  find_clear(&c->filter);
  c->filter.asked = c->filter.names || c->filter.ts.asked || c->filter.dur.asked || c->filter.depth.asked;
  c->all_placed = is_all_placed(c);
  if (!start_walk(c, key)) return SQLITE_NOMEM;
  events_find(c);
  return SQLITE_OK;
}

static int events_next(sqlite3_vtab_cursor *cursor) {
  struct event_cursor *c = (struct event_cursor *)cursor;
  if (c->walk == WALK_ALL || c->walk == WALK_TRACK) c->at++;
  else if (c->walk == WALK_NAMES) c->named += c->step, c->n_named--;
  else c->place++;
  events_find(c);
  return SQLITE_OK;
}

static int events_eof(sqlite3_vtab_cursor *cursor) { return ((struct event_cursor *)cursor)->end; }

static int events_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id) {
  *id = ((struct event_cursor *)cursor)->at;
  return SQLITE_OK;
}

/* True if the column has a value in all rows. */
static bool is_never_null(struct tk_sql *s, const struct event_table *table, enum column column) {
  switch (column) {
  case COL_ID: case COL_TS: case COL_TRACK_ID: return true;
  case COL_DUR: case COL_DEPTH: return !table->all;
  case COL_NAME: return !s->times.exact || (sql_names_counts(s) && s->names.counts[0] == 0);
  default: return false;
  }
}

/* Returns the schema of the table. Columns without NULLs are declared NOT NULL, so that SQLite skips its check for NULL,
 * which takes 25 ns per row. */
static char *schema_of(sqlite3 *db, struct tk_sql *s, const struct event_table *table) {
  sqlite3_str *schema = sqlite3_str_new(db);
  const char *p = table->schema;
  sqlite3_str_appendall(schema, "CREATE TABLE x(");
  for (int i = 0; *p; i++) {
    const int n = (int)strcspn(p, ",");
    sqlite3_str_append(schema, p, n);
    if (is_never_null(s, table, (enum column)table->columns[i])) sqlite3_str_appendall(schema, " NOT NULL");
    sqlite3_str_appendchar(schema, 1, p[n] ? ',' : ')');
    p += n + (p[n] != 0);
  }
  return sqlite3_str_finish(schema);
}

static int events_connect(sqlite3 *db, void *arg, int argc, const char *const *argv, sqlite3_vtab **vtab, char **why) {
  struct tk_sql *s = arg;
  const struct event_table *table = event_tables;
  (void)argc, (void)why;
  while (table->name && strcmp(table->name, argv[0]) != 0) table++;
  if (!table->name) return SQLITE_ERROR;
  char *schema = schema_of(db, s, table);
  struct event_vtab *v = sqlite3_malloc(sizeof *v);
  int status = schema && v ? sql_declare(db, schema) : SQLITE_NOMEM;
  sqlite3_free(schema);
  if (status != SQLITE_OK) {
    sqlite3_free(v);
    return status;
  }
  *v = (struct event_vtab){.sql = s, .table = table};
  *vtab = &v->base;
  return SQLITE_OK;
}

static int events_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor) {
  const struct event_vtab *v = (const struct event_vtab *)vtab;
  struct event_cursor *c = sqlite3_malloc(sizeof *c);
  if (!c) return SQLITE_NOMEM;
  *c = (struct event_cursor){.sql = v->sql, .table = v->table, .names_asked.mem = &v->sql->mem};
  *cursor = &c->base;
  return SQLITE_OK;
}

static int events_close(sqlite3_vtab_cursor *cursor) {
  struct event_cursor *c = (struct event_cursor *)cursor;
  mem_free(&c->sql->mem, c->names_kept);
  buf_free(&c->names_asked);
  mem_free(&c->sql->mem, c->list);
  sqlite3_free(c);
  return SQLITE_OK;
}

bool sql_register_events(struct tk_sql *s) {
  static const sqlite3_module module = {
      .xConnect = events_connect, .xBestIndex = events_plan,   .xDisconnect = sql_disconnect, .xOpen = events_open,
      .xClose = events_close,     .xFilter = events_filter,    .xNext = events_next,             .xEof = events_eof,
      .xColumn = events_value,    .xRowid = events_rowid,
  };
  bool ok = true;
  for (const struct event_table *table = event_tables; ok && table->name; table++)
    ok = sql_add_table(s, table->name, &module, s, NULL);
  return ok;
}
