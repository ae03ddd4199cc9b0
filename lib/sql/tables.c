/* tables.c - threads, processes, tracks, counters, flows, and trace-wide properties: Perfetto's tables, and `step`. */
#include <stdlib.h>
#include <string.h>

#include "tables.h"
#include "table.h"
#include "argsets.h"
#include "events_value.h"
#include "samples.h"
#include "tracks.h"
#include "views.h"

#define WITHOUT_PLACE "start_ts INTEGER, end_ts INTEGER, "

static int done(void) { return SQLITE_OK; }

static int text_value(sqlite3_context *out, const char *text) {
  sqlite3_result_text(out, text, -1, SQLITE_STATIC);
  return SQLITE_OK;
}

static int number_value(sqlite3_context *out, int64_t number) {
  sqlite3_result_int64(out, number);
  return SQLITE_OK;
}

static int set_value(sqlite3_context *out, uint32_t set) {
  if (set) sqlite3_result_int64(out, set);
  return SQLITE_OK;
}

static int string_value(const struct tk_sql *s, sqlite3_context *out, tk_id id) {
  sql_result_string(s, out, id);
  return SQLITE_OK;
}

static int id_value(sqlite3_context *out, uint32_t id) {
  sql_result_id(out, id);
  return SQLITE_OK;
}

/* ---- machines: number 0, and each machine that a process names ---- */

static int machine_of(const struct tk_sql *s, uint32_t upid, sqlite3_context *out) {
  const tk_id track = upid == SQL_NONE ? 0 : s->processes[upid].track;
  if (track && s->t->tracks[track].machine) sqlite3_result_int64(out, s->t->tracks[track].machine);
  return SQLITE_OK;
}

/* ---- thread, process ---- */

static bool thread_rows(struct tk_sql *s, uint32_t *n) {
  *n = s->n_threads;
  return true;
}

static bool thread_key(const struct tk_sql *s, uint32_t row, int column, int64_t *key) {
  *key = column == 6 ? s->threads[row].upid : s->threads[row].tid;
  return column != 6 || s->threads[row].upid != SQL_NONE;
}

static int thread_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  const struct sql_thread *v = &s->threads[row];
  switch (column) {
  case 2: return number_value(out, v->tid);
  case 3: return row == 0 && s->times.exact && !s->times.thousands ? text_value(out, "swapper") : string_value(s, out, v->name);
  case 6: return id_value(out, v->upid);
  case 7: return v->upid == SQL_NONE ? done() : number_value(out, v->main);
  case 8: return number_value(out, row == 0);
  case 9: return machine_of(s, v->upid, out);
  case 10: return set_value(out, argset_of_thread(s, row));
  default: return done();
  }
}

static bool process_rows(struct tk_sql *s, uint32_t *n) {
  *n = s->n_processes;
  return true;
}

static bool process_key(const struct tk_sql *s, uint32_t row, int column, int64_t *key) {
  (void)column;
  *key = s->processes[row].pid;
  return true;
}

static int process_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  switch (column) {
  case 2: return number_value(out, s->processes[row].pid);
  case 3: return string_value(s, out, s->processes[row].name);
  case 11: return set_value(out, argset_of_process(s, row));
  case 12: return machine_of(s, row, out);
  default: return done();
  }
}

/* ---- tracks: graph tracks with events, by id; then the series of counters ---- */

static bool track_rows(struct tk_sql *s, uint32_t *n) {
  return sql_counters(s) && (*n = s->t->n_tracks + 1 + s->n_counter_tracks, true);
}

static const struct counter_track *series_of(const struct tk_sql *s, uint32_t row) {
  return row <= s->t->n_tracks ? NULL : &s->counter_tracks[row - s->t->n_tracks - 1];
}

/* Returns the graph's track for a row of the track tables. */
static tk_id track_of(const struct tk_sql *s, uint32_t row) { return row <= s->t->n_tracks ? row : series_of(s, row)->track; }

static bool has_sort(const struct tk_sql *s, uint32_t row, unsigned sort) {
  const tk_id track = track_of(s, row);
  if (row > s->t->n_tracks) return (sort & SORT_COUNTER) != 0;
  if (s->is_filed) return s->tracks[track].filed.used && s->tracks[track].sort & sort & ~(unsigned)SORT_COUNTER;
  if (!(s->tracks[track].sort & sort & ~(unsigned)SORT_COUNTER)) return false;
  return track == GLOBAL_TRACK ? s->n_globals > 0 : s->t->tracks[track].count - s->tracks[track].samples > s->tracks[track].globals;
}

static bool has_any(const struct tk_sql *s, uint32_t row) { return has_sort(s, row, SORT_ALL); }
static bool has_thread(const struct tk_sql *s, uint32_t row) { return has_sort(s, row, SORT_THREAD); }
static bool has_process(const struct tk_sql *s, uint32_t row) { return has_sort(s, row, SORT_PROCESS); }
static bool has_counter(const struct tk_sql *s, uint32_t row) { return has_sort(s, row, SORT_COUNTER); }

static bool has_process_counter(const struct tk_sql *s, uint32_t row) {
  const struct sql_track *v = &s->tracks[track_of(s, row)];
  return has_counter(s, row) && v->upid != SQL_NONE && v->utid == SQL_NONE;
}

static bool has_thread_counter(const struct tk_sql *s, uint32_t row) {
  return has_counter(s, row) && s->tracks[track_of(s, row)].utid != SQL_NONE;
}

static bool track_key(const struct tk_sql *s, uint32_t row, int64_t *key, bool process) {
  const struct sql_track *v = &s->tracks[track_of(s, row)];
  const uint32_t id = process ? v->upid : v->utid;
  *key = id;
  return id != SQL_NONE;
}

static bool key_is_utid(const struct tk_sql *s, uint32_t row, int column, int64_t *key) {
  (void)column;
  return track_key(s, row, key, false);
}

static bool key_is_upid(const struct tk_sql *s, uint32_t row, int column, int64_t *key) {
  (void)column;
  return track_key(s, row, key, true);
}

static int track_name(struct tk_sql *s, uint32_t row, sqlite3_context *out) {
  const struct counter_track *series = series_of(s, row);
  const tk_id track = track_of(s, row);
  if (!series) {
    sql_result_string(s, out, sql_track_name(s, track));
    return SQLITE_OK;
  }
  const struct intern_str *name = &s->texts.strs[series->name];
  sqlite3_result_text(out, (const char *)name->bytes, (int)name->len, SQLITE_STATIC);
  return SQLITE_OK;
}

static int track_machine(const struct tk_sql *s, uint32_t row, sqlite3_context *out) {
  const struct sql_track *v = &s->tracks[track_of(s, row)];
  return v->upid == SQL_NONE ? SQLITE_OK : machine_of(s, v->upid, out);
}

static int parent_value(const struct tk_sql *s, uint32_t row, sqlite3_context *out) {
  const tk_id parent = s->tracks[track_of(s, row)].filed.parent;
  return parent ? number_value(out, parent) : SQLITE_OK;
}

static int source_value(const struct tk_sql *s, uint32_t row, sqlite3_context *out) {
  return set_value(out, argset_of_source(s, track_of(s, row)));
}

static int track_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  switch (column) {
  case 1: return track_name(s, row, out);
  case 2: return text_value(out, s->tracks[track_of(s, row)].type);
  case 3: return set_value(out, series_of(s, row) ? 0 : argset_of_track(s, track_of(s, row)));
  case 4: return parent_value(s, row, out);
  case 5: return source_value(s, row, out);
  case 6: return track_machine(s, row, out);
  default: return done();
  }
}

/* Returns a value of the track tables. Their columns are: 0 id, 1 name, 2 type, 3 parent_id, 4 source_arg_set_id, 5 machine_id,
 * then columns that depend on the table. */
static int sorted_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  switch (column) {
  case 1: return track_name(s, row, out);
  case 2: return text_value(out, s->tracks[track_of(s, row)].type);
  case 4: return source_value(s, row, out);
  case 5: return track_machine(s, row, out);
  default: return done();
  }
}

static int thread_track_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  if (column == 3) return parent_value(s, row, out);
  return column == 6 ? id_value(out, s->tracks[track_of(s, row)].utid) : sorted_value(s, row, column, out);
}

static int process_track_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  if (column == 3) return parent_value(s, row, out);
  return column == 6 ? id_value(out, s->tracks[track_of(s, row)].upid) : sorted_value(s, row, column, out);
}

static int unit_value(const struct tk_sql *s, uint32_t row, sqlite3_context *out) {
  return string_value(s, out, s->tracks[track_of(s, row)].filed.unit);
}

static int description_value(const struct tk_sql *s, uint32_t row, sqlite3_context *out) {
  return string_value(s, out, s->tracks[track_of(s, row)].filed.description);
}

static int process_counter_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  switch (column) {
  case 6: return unit_value(s, row, out);
  case 7: return description_value(s, row, out);
  case 8: return id_value(out, s->tracks[track_of(s, row)].upid);
  default: return sorted_value(s, row, column, out);
  }
}

static int thread_counter_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  return column == 8 ? id_value(out, s->tracks[track_of(s, row)].utid) : process_counter_value(s, row, column, out);
}

static int counter_track_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  switch (column) {
  case 1: return track_name(s, row, out);
  case 3: return text_value(out, s->tracks[track_of(s, row)].type); /* only the table `track` has the parent, as in
                                                                     * trace_processor */
  case 5: return source_value(s, row, out);
  case 6: return track_machine(s, row, out);
  case 7: return unit_value(s, row, out);
  case 8: return description_value(s, row, out);
  default: return done();
  }
}

/* ---- counter ---- */

static bool counter_rows(struct tk_sql *s, uint32_t *n) { return sql_counters(s) && (*n = s->n_counters, true); }

static bool counter_key(const struct tk_sql *s, uint32_t row, int column, int64_t *key) {
  const struct counter_row *v = &s->counters[row];
  *key = column == 1 ? times_at(&s->times, s->t->events[v->event].ts) : (int64_t)s->t->n_tracks + 1 + v->track;
  return true;
}

static int counter_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  const struct counter_row *v = &s->counters[row];
  switch (column) {
  case 1: return number_value(out, times_at(&s->times, s->t->events[v->event].ts));
  case 2: return number_value(out, (int64_t)s->t->n_tracks + 1 + v->track);
  case 3:
    sqlite3_result_double(out, v->value);
    return SQLITE_OK;
  default: return done();
  }
}

/* ---- flow ---- */

static bool flow_rows(struct tk_sql *s, uint32_t *n) { return sql_flows(s) && (*n = s->n_flows, true); }

static bool flow_key(const struct tk_sql *s, uint32_t row, int column, int64_t *key) {
  *key = column == 1 ? s->flows[row].out : s->flows[row].in;
  return true;
}

/* Returns the id of a flow. As in trace_processor, flows whose points are separate events are numbered by first appearance; other flows
 * keep their ids. */
static int64_t flow_id(const struct tk_sql *s, const struct flow_row *v) {
  const struct tk_flow_point *f = &s->t->flow_points[v->point];
  struct tk_args it = tk_args_of(s->t, f->args);
  struct tk_arg arg;
  if (f->role < TK_FLOW_OUT) return v->number;
  if (f->id_kind == TK_FLOW_ID_STR) return (int64_t)strtoull(tk_string(s->t, (tk_id)f->id, NULL), NULL, 16);
  while (s->times.exact && tk_args_next(&it, &arg))
    if (arg.key == KEY_ID && arg.type == TK_ARG_INT) return arg.i;
  return f->id;
}

static int flow_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  const struct flow_row *v = &s->flows[row];
  switch (column) {
  case 1: return number_value(out, v->out);
  case 2: return number_value(out, v->in);
  case 3: return number_value(out, flow_id(s, v));
  case 4: return set_value(out, argset_of_flow(s, row));
  default: return done();
  }
}

/* ---- step: tracekit's own ---- */

static bool step_rows(struct tk_sql *s, uint32_t *n) { return sql_steps(s) && (*n = s->steps.n, true); }

static bool step_key(const struct tk_sql *s, uint32_t row, int column, int64_t *key) {
  const struct step *v = &s->steps.v[row];
  *key = column == 1 ? v->number : column == 2 ? times_at(&s->times, v->start) : v->track;
  return true;
}

static int step_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  const struct step *v = &s->steps.v[row];
  const struct track_origin *origin = &s->origins[v->track];
  const int64_t ts = times_at(&s->times, v->start);
  switch (column) {
  case 1: return number_value(out, v->number);
  case 2: return number_value(out, ts);
  case 3: return number_value(out, times_at(&s->times, v->end) - ts);
  case 4: return number_value(out, v->track);
  case 5: return origin->rank < 0 ? SQLITE_OK : number_value(out, origin->rank);
  case 6: return *origin->host ? text_value(out, origin->host) : SQLITE_OK;
  default: return done();
  }
}

/* ---- trace-wide properties ---- */

static int bounds_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  (void)row;
  sql_bounds(s);
  return number_value(out, column == 0 ? s->start_ns : s->end_ns);
}

#define TRACK_COLUMNS "id INTEGER, name TEXT, type TEXT, parent_id INTEGER, source_arg_set_id INTEGER, machine_id INTEGER, "
#define BIT(column) (1u << (column))

static const struct table tables[] = {
  {"thread", "utid INTEGER, id INTEGER, tid INTEGER, name TEXT, " WITHOUT_PLACE "upid INTEGER, is_main_thread INTEGER, "
             "is_idle INTEGER, machine_id INTEGER, arg_set_id INTEGER",
   thread_rows, NULL, thread_value, thread_key, BIT(0) | BIT(1), 0, BIT(2) | BIT(6), 0, 0},
  {"process", "upid INTEGER, id INTEGER, pid INTEGER, name TEXT, " WITHOUT_PLACE "parent_upid INTEGER, uid INTEGER, "
              "android_appid INTEGER, android_user_id INTEGER, cmdline TEXT, arg_set_id INTEGER, machine_id INTEGER",
   process_rows, NULL, process_value, process_key, BIT(0) | BIT(1), 0, BIT(2), 0, 0},
  {"track", "id INTEGER, name TEXT, type TEXT, dimension_arg_set_id INTEGER, parent_id INTEGER, source_arg_set_id INTEGER, "
            "machine_id INTEGER, track_group_id INTEGER",
   track_rows, has_any, track_value, NULL, BIT(0), 0, 0, 0, 0},
  {"thread_track", TRACK_COLUMNS "utid INTEGER", track_rows, has_thread, thread_track_value, key_is_utid, BIT(0), 0, BIT(6), 0, 0},
  {"process_track", TRACK_COLUMNS "upid INTEGER", track_rows, has_process, process_track_value, key_is_upid, BIT(0), 0, BIT(6), 0, 0},
  {"counter_track", "id INTEGER, name TEXT, parent_id INTEGER, type TEXT, dimension_arg_set_id INTEGER, source_arg_set_id INTEGER, "
                    "machine_id INTEGER, unit TEXT, description TEXT",
   track_rows, has_counter, counter_track_value, NULL, BIT(0), 0, 0, 0, 0},
  {"process_counter_track", TRACK_COLUMNS "unit TEXT, description TEXT, upid INTEGER",
   track_rows, has_process_counter, process_counter_value, key_is_upid, BIT(0), 0, BIT(8), 0, 0},
  {"thread_counter_track", TRACK_COLUMNS "unit TEXT, description TEXT, utid INTEGER",
   track_rows, has_thread_counter, thread_counter_value, key_is_utid, BIT(0), 0, BIT(8), 0, 0},
  {"counter", "id INTEGER, ts INTEGER, track_id INTEGER, value DOUBLE, arg_set_id INTEGER",
   counter_rows, NULL, counter_value, counter_key, BIT(0), 0, BIT(2), 1, BIT(2)},
  {"flow", "id INTEGER, slice_out INTEGER, slice_in INTEGER, trace_id INTEGER, arg_set_id INTEGER",
   flow_rows, NULL, flow_value, flow_key, BIT(0), 0, BIT(1) | BIT(2), 0, 0},
  {"step", "id INTEGER, number INTEGER, ts INTEGER, dur INTEGER, track_id INTEGER, rank INTEGER, host TEXT",
   step_rows, NULL, step_value, step_key, BIT(0), 0, BIT(1) | BIT(4), 2, 0},
  {"trace_bounds", "start_ts INTEGER, end_ts INTEGER", NULL, NULL, bounds_value, NULL, 0, 0, 0, 0, 0},
};

const struct table *sql_flow_table(void) {
  const struct table *table = tables;
  while (table->value != flow_value) table++;
  return table;
}

bool sql_register_tables(struct tk_sql *s) {
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof tables / sizeof *tables; i++) ok = table_register(s, &tables[i]);
  return ok;
}
