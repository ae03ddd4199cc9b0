/* export.c - exports the tables as a separate SQLite database for other programs.
 *
 * SQLite writes to a temporary file, whose content is then copied to the output. As for every output, the file appears only if it is
 * complete, and replaces an existing file only if requested. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "guard.h"
#include "io/out.h"

/* Tables to copy, and the columns for which indices are created. */
static const struct {
  const char *table, *indexed; /* indexed: name of the column; NULL = none */
} TABLES[] = {{"slice", "id"},          {"slice", "track_id"},  {"slice", "parent_id"}, {"slice", "name"},     {"event", "id"},
              {"event", "kind"},        {"thread", "utid"},     {"process", "upid"},    {"track", "id"},       {"thread_track", "id"},
              {"thread_track", "utid"}, {"process_track", "id"}, {"counter_track", "id"}, {"process_counter_track", "id"},
              {"thread_counter_track", "id"}, {"counter", "track_id"}, {"args", "arg_set_id"}, {"flow", "slice_out"},
              {"flow", "slice_in"},     {"step", "number"},     {"metadata", NULL},     {"stats", NULL},       {"machine", NULL},
              {"trace_bounds", NULL},   {"stack_profile_mapping", "id"}, {"stack_profile_frame", "id"},
              {"stack_profile_symbol", "symbol_set_id"}, {"stack_profile_callsite", "id"}, {"stack_profile_callsite", "parent_id"},
              {"cpu_profile_stack_sample", "callsite_id"},
              {"perf_sample", "callsite_id"}, {"stack_sample", "callsite_id"}};

static const char VIEWS[] =
    "CREATE VIEW copy.slices AS SELECT * FROM slice;CREATE VIEW copy.instant AS SELECT ts, track_id, name, arg_set_id FROM "
    "slice WHERE dur = 0;CREATE VIEW copy.thread_slice AS SELECT s.id, s.ts, s.dur, s.category, s.name, s.track_id, k.name AS "
    "track_name, t.name AS thread_name, t.utid, t.tid, t.is_main_thread, p.name AS process_name, p.upid, p.pid, s.depth, "
    "s.parent_id, s.arg_set_id FROM slice s JOIN thread_track k ON k.id = s.track_id JOIN thread t USING (utid) LEFT JOIN "
    "process p USING (upid);CREATE VIEW copy.process_slice AS SELECT s.id, s.ts, s.dur, s.category, s.name, s.track_id, k.name "
    "AS track_name, p.name AS process_name, p.upid, p.pid, s.depth, s.parent_id, s.arg_set_id FROM slice s JOIN process_track "
    "k ON k.id = s.track_id JOIN process p USING (upid);";

static bool run(struct tk_sql *s, char *sql, struct tk_err *err) {
  const int status = sql ? sqlite3_exec(s->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
  sqlite3_free(sql);
  return status == SQLITE_OK || err_set(err, status == SQLITE_NOMEM ? TK_ELIMIT : TK_EWRITE, "SQLite: %s", sqlite3_errmsg(s->db));
}

static bool copy_tables(struct tk_sql *s, struct tk_err *err) {
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof TABLES / sizeof *TABLES; i++) {
    const char *table = TABLES[i].table, *by = TABLES[i].indexed;
    const bool fresh = i == 0 || strcmp(TABLES[i - 1].table, table) != 0;
    if (fresh) ok = run(s, sqlite3_mprintf("CREATE TABLE copy.\"%w\" AS SELECT * FROM main.\"%w\"", table, table), err);
    if (ok && by) ok = run(s, sqlite3_mprintf("CREATE INDEX copy.\"%w__%w\" ON \"%w\"(\"%w\")", table, by, table, by), err);
  }
  return ok && run(s, sqlite3_mprintf("%s", VIEWS), err);
}

/* Copies the tables. Both databases have tables with the same names, so each name is qualified. */
static bool fill(struct tk_sql *s, const char *path, struct tk_err *err) {
  if (!run(s, sqlite3_mprintf("ATTACH %Q AS copy", path), err)) return false;
  bool ok = run(s, sqlite3_mprintf("PRAGMA copy.journal_mode = OFF; PRAGMA copy.synchronous = OFF; BEGIN"), err) && copy_tables(s, err);
  ok = run(s, sqlite3_mprintf(ok ? "COMMIT" : "ROLLBACK"), ok ? err : NULL) && ok;
  return run(s, sqlite3_mprintf("DETACH copy"), ok ? err : NULL) && ok;
}

static bool send_file(int fd, struct out *to, struct tk_err *err) {
  enum { BLOCK = 1 << 16 };
  char block[BLOCK];
  ptrdiff_t n;
  while ((n = os_read(fd, block, BLOCK)) > 0) out_write(to, block, (size_t)n);
  return n == 0 || err_sys(err, TK_EREAD, errno, "failed to read the temporary file");
}

bool tk_sql_copy(struct tk_sql *s, const char *path, bool force, struct tk_err *err) {
  const struct out_options options = {.binary = true, .force = force, .inputs = s->t->files};
  struct out to = {0};
  struct tk_err own;
  char *temporary = NULL;
  if (!err) err = &own;
  err_clear(err);
  if (!out_open(&to, path, &options, &s->mem, err)) {
    err_prefix(err, "%s", path);
    return false;
  }
  const int fd = os_temporary(".sqlite", &temporary);
  bool ok = fd >= 0 || err_sys(err, TK_EWRITE, errno, "failed to create a temporary file");
  guard_start(s, err);
  s->deadline_ms = 0;
  guard_suspend(s);
  ok = ok && fill(s, temporary, err);
  guard_resume(s);
  s->err = NULL;
  ok = ok && send_file(fd, &to, err) && out_commit(&to, err);
  if (!ok && err->code == TK_EWRITE) err_prefix(err, "%s", path);
  if (fd >= 0) close(fd), unlink(temporary);
  free(temporary);
  out_close(&to);
  return ok;
}
