/* guard.c - what a query may not do, and how long and how large it may get.
 *
 * The database is in memory, and what SQL can reach is the trace alone: no other database, no file, no library.  A query may make
 * tables and views of its own there.  SQLite asks now and then whether to go on; between two questions are some ten microseconds. */
#include "guard.h"

#include <string.h>
#include <time.h>

enum { OPERATIONS = 2000, MOST_BYTES = 64 << 20 };

static uint64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool is_reading_pragma(const char *name) {
  static const char *const FINE[] = {"table_info", "table_xinfo", "table_list",  "database_list", "function_list", "pragma_list",
                                     "index_list", "index_info",  "index_xinfo", "module_list",   "compile_options", "collation_list",
                                     "data_version", NULL};
  for (const char *const *f = FINE; *f; f++)
    if (sqlite3_stricmp(name, *f) == 0) return true;
  return false;
}

/* What the trace says is not to be written to. */
static bool is_ours(const char *table) {
  static const char *const NAMES[] = {"metadata", "stats", "machine", "instant", "counters", "collective", "slice_self_dur", NULL};
  for (const char *const *n = NAMES; *n; n++)
    if (table && sqlite3_stricmp(table, *n) == 0) return true;
  return false;
}

static int authorise(void *arg, int action, const char *a, const char *b, const char *schema, const char *view) {
  (void)arg, (void)schema, (void)view;
  switch (action) {
  case SQLITE_ATTACH: case SQLITE_DETACH: case SQLITE_CREATE_VTABLE: case SQLITE_DROP_VTABLE: return SQLITE_DENY;
  case SQLITE_PRAGMA: return is_reading_pragma(a) ? SQLITE_OK : SQLITE_DENY;
  case SQLITE_FUNCTION: return b && sqlite3_stricmp(b, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
  case SQLITE_INSERT: case SQLITE_UPDATE: case SQLITE_DELETE: case SQLITE_DROP_TABLE: case SQLITE_DROP_VIEW: case SQLITE_ALTER_TABLE:
    return is_ours(action == SQLITE_ALTER_TABLE ? b : a) ? SQLITE_DENY : SQLITE_OK;
  default: return SQLITE_OK;
  }
}

static int go_on(void *arg) {
  struct tk_sql *s = arg;
  const struct tk_progress *p = &s->opt.progress;
  if (p->tick && !p->tick(p->arg, 0, 0)) return err_set(s->err, TK_EINTERRUPTED, "interrupted"), 1;
  if (s->deadline_ms && now_ms() > s->deadline_ms)
    return err_for(s->err, TK_OPTION_TIMEOUT, TK_ELIMIT, "the query takes longer than it may"), 1;
  if (s->limit && s->graph_bytes + s->mem.used + (uint64_t)sqlite3_memory_used() > s->limit)
    return err_for(s->err, TK_OPTION_MAX_MEMORY, TK_ELIMIT, "the query takes more memory than it may"), 1;
  return 0;
}

void guard_install(struct tk_sql *s) {
  sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, MOST_BYTES);
  sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(s->db, SQLITE_LIMIT_WORKER_THREADS, 0);
  sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
  sqlite3_db_config(s->db, SQLITE_DBCONFIG_DQS_DML, 1, (int *)NULL);
  sqlite3_set_authorizer(s->db, authorise, s);
  sqlite3_progress_handler(s->db, OPERATIONS, go_on, s);
}

void guard_suspend(struct tk_sql *s) {
  sqlite3_set_authorizer(s->db, NULL, NULL);
  sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 1);
}

void guard_start(struct tk_sql *s, struct tk_err *err) {
  s->err = err;
  s->deadline_ms = s->opt.timeout_ms ? now_ms() + s->opt.timeout_ms : 0;
}
