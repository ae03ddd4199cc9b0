/* views.c - views on other tables, small tables of trace-wide properties, and modules that may be included. */
#include <string.h>

#include "views.h"
#include "sql.h"

static const char VIEWS[] =
    "CREATE VIEW instant AS SELECT ts, track_id, name, arg_set_id FROM slice WHERE dur = 0;"
    "CREATE VIEW counters AS SELECT v.*, t.name, t.unit FROM counter v JOIN counter_track t ON v.track_id = t.id;"
    "CREATE VIEW slice_self_dur AS SELECT id, dur - child_dur AS self_dur FROM slice;"
    "CREATE VIEW collective AS SELECT id, ts, dur, name, rank, host, step, stream, device, track_id, arg_set_id, "
    "extract_arg(arg_set_id, 'args.Collective name') AS collective, "
    "extract_arg(arg_set_id, 'args.Process Group Name') AS process_group, "
    "extract_arg(arg_set_id, 'args.Group size') AS group_size, extract_arg(arg_set_id, 'args.dtype') AS dtype, "
    "extract_arg(arg_set_id, 'args.In msg nelems') AS in_elements, extract_arg(arg_set_id, 'args.Out msg nelems') AS "
    "out_elements "
    "FROM event WHERE kind = 'collective';"
    "CREATE TABLE metadata(id INTEGER PRIMARY KEY, name TEXT, key_type TEXT, int_value INTEGER, str_value TEXT);"
    "CREATE TABLE stats(name TEXT, idx INTEGER, severity TEXT, source TEXT, value INTEGER, description TEXT);"
    "CREATE TABLE machine(id INTEGER, raw_id INTEGER, name TEXT, sysname TEXT, release TEXT, version TEXT, arch TEXT, "
    "num_cpus INTEGER);";

/* ---- rows of small tables ---- */

struct filling {
  sqlite3_stmt *insert;
  bool ok;
};

static void begin(struct filling *f, sqlite3 *db, const char *sql) {
  f->ok = sqlite3_prepare_v2(db, sql, -1, &f->insert, NULL) == SQLITE_OK;
}

static void views_put_text(struct filling *f, int at, const char *text, size_t n) {
  if (f->ok && text) f->ok = sqlite3_bind_text(f->insert, at, text, (int)n, SQLITE_TRANSIENT) == SQLITE_OK;
}

static void views_put_number(struct filling *f, int at, int64_t number) {
  if (f->ok) f->ok = sqlite3_bind_int64(f->insert, at, number) == SQLITE_OK;
}

static void end_row(struct filling *f) {
  if (f->ok) f->ok = sqlite3_step(f->insert) == SQLITE_DONE && sqlite3_reset(f->insert) == SQLITE_OK &&
                     sqlite3_clear_bindings(f->insert) == SQLITE_OK;
}

static bool end(struct filling *f) { return sqlite3_finalize(f->insert) == SQLITE_OK && f->ok; }

static void put_fact(struct filling *f, const char *name, const char *text, size_t n) {
  views_put_text(f, 1, name, strlen(name));
  views_put_text(f, 2, text, n);
  end_row(f);
}

/* Fills the table with the top-level data of the trace, by key. */
static bool fill_metadata(struct tk_sql *s) {
  struct filling f;
  begin(&f, s->db, "INSERT INTO metadata(name, key_type, str_value) VALUES (?, 'single', ?)");
  const char *type = s->times.exact ? "proto" : s->t->format;
  if (type) put_fact(&f, "trace_type", type, strlen(type));
  for (tk_id i = 1; i <= s->t->n_metas; i++) {
    const struct tk_meta *m = &s->t->metas[i];
    if (m->origin) continue;
    put_fact(&f, tk_string(s->t, m->key, NULL), trace_raw(s->t, m->at), (size_t)m->size);
  }
  return end(&f);
}

static bool fill_stats(struct tk_sql *s) {
  static const char *const SEVERITIES[] = {[TK_NOTE_INFO] = "info", [TK_NOTE_REPAIR] = "error", [TK_NOTE_FACT] = "info"};
  struct filling f;
  begin(&f, s->db, "INSERT INTO stats(name, severity, source, value, description) VALUES (?, ?, 'analysis', ?, ?)");
  for (tk_id i = 1; i <= s->t->n_notes; i++) {
    const struct tk_note *note = &s->t->notes[i];
    size_t n;
    const char *text = tk_string(s->t, note->text, &n);
    views_put_text(&f, 1, "tracekit_note", 13);
    views_put_text(&f, 2, SEVERITIES[note->kind], strlen(SEVERITIES[note->kind]));
    views_put_number(&f, 3, (int64_t)note->count);
    views_put_text(&f, 4, text, n);
    end_row(&f);
  }
  return end(&f);
}

/* Fills the table of machines. Number 0 is for processes without a machine. */
static bool fill_machines(struct tk_sql *s) {
  struct filling f;
  struct map seen;
  map_init(&seen, &s->mem);
  begin(&f, s->db, "INSERT INTO machine(id, raw_id, name) VALUES (?, ?, ?)");
  views_put_number(&f, 1, 0);
  views_put_number(&f, 2, 0);
  end_row(&f);
  for (tk_id i = 1; i <= s->t->n_tracks; i++) {
    const tk_id machine = s->t->tracks[i].machine;
    uint32_t *slot = machine ? map_put(&seen, machine, 0) : NULL;
    size_t n;
    if (!slot || (*slot)++) continue;
    views_put_number(&f, 1, machine);
    views_put_number(&f, 2, machine);
    views_put_text(&f, 3, tk_string(s->t, machine, &n), strlen(tk_string(s->t, machine, NULL)));
    end_row(&f);
  }
  map_free(&seen);
  return end(&f) && !s->mem.failed;
}

bool sql_register_views(struct tk_sql *s) {
  return sqlite3_exec(s->db, VIEWS, NULL, NULL, NULL) == SQLITE_OK && fill_metadata(s) && fill_stats(s) && fill_machines(s);
}

/* ---- time bounds ---- */

static void widen(struct tk_sql *s, int64_t from, int64_t to) {
  if (from < s->start_ns) s->start_ns = from;
  if (to > s->end_ns) s->end_ns = to;
}

void sql_bounds(struct tk_sql *s) {
  if (s->has_bounds) return;
  s->start_ns = INT64_MAX;
  s->end_ns = INT64_MIN;
  for (tk_id i = 1; i <= s->t->n_events; i++) {
    const struct tk_event *e = &s->t->events[i];
    if (e->flags & TK_FLAG_LOST_CLOCK) continue;
    const int64_t ts = times_at(&s->times, e->ts);
    widen(s, ts, ts + (is_slice(e) ? times_dur(&s->times, e) : 0));
  }
  if (s->start_ns > s->end_ns) s->start_ns = s->end_ns = 0;
  else if (s->start_ns == s->end_ns) s->end_ns++; /* as in trace_processor: the duration of a trace with events is never 0 */
  s->has_bounds = true;
}

/* ---- INCLUDE PERFETTO MODULE ---- */

bool sql_include(const char *module, size_t n, struct tk_err *err) {
  static const char *const HAVE[] = {"slices.with_context", "slices.stack", "slices.self_dur", "time.conversion", NULL};
  for (const char *const *m = HAVE; *m; m++)
    if (strlen(*m) == n && memcmp(*m, module, n) == 0) return true;
  return err_set(err, TK_EUSAGE, "SQL: unknown module %.*s; available modules: slices.with_context, slices.stack, "
                                 "slices.self_dur, time.conversion",
                 (int)(n < 200 ? n : 200), module);
}
