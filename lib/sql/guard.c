/* guard.c - see guard.h.
 *
 * The database is in memory, and SQL can access only the trace: no other database, no file, no library. A query may create its
 * own tables and views there.
 *
 * Features of SQLite beyond the lists in allowed.c are blocked twice. The authoriser refuses them with a message when a
 * statement is prepared. But SQLite does not call the authoriser for everything, for example not for functions in a DEFAULT.
 * So forbidden functions are also replaced by one that fails, and forbidden modules are removed from the database.
 *
 * The progress handler, which SQLite calls about every ten microseconds, enforces the limits for time and memory. */
#include "guard.h"

#include <string.h>
#include <time.h>

#include "allowed.h"
#include "differences.h"
#include "spans.h"

enum { OPERATIONS = 2000, MOST_BYTES = 64 << 20, MOST_SQL = 16 << 20, DEEPEST_TRIGGERS = 100, DEEPEST_EXPRESSION = 1000 };

static uint64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- allowed actions ---- */

/* True if the table exposes the trace, and is therefore read-only. */
static bool is_ours(const char *table) {
  static const char *const NAMES[] = {"metadata", "stats", "machine", "instant", "counters", "collective", "slice_self_dur", NULL};
  for (const char *const *n = NAMES; *n; n++)
    if (table && sqlite3_stricmp(table, *n) == 0) return true;
  return false;
}

static int refuse(const struct tk_sql *s, const char *kind, const char *name) {
  if (!name) name = "";
  err_set(s->err, TK_EUSAGE, "SQL: %s %.100s is not allowed; queries can only read the trace", kind, name);
  return SQLITE_DENY;
}

static int refuse_writing(const struct tk_sql *s, const char *table) {
  err_set(s->err, TK_EUSAGE, "SQL: %s is read-only because it is a view of the trace", table);
  return SQLITE_DENY;
}

/* True for pragmas that the library itself uses when it copies tables (export.c). */
static bool is_of_copy(const char *pragma) {
  return sqlite3_stricmp(pragma, "journal_mode") == 0 || sqlite3_stricmp(pragma, "synchronous") == 0;
}

int guard_authorise(void *arg, int action, const char *a, const char *b, const char *schema, const char *view) {
  struct tk_sql *s = arg;
  (void)schema, (void)view;
  if (action == SQLITE_READ) differences_touch(s, a, b);
  switch (action) {
  case SQLITE_FUNCTION: return allowed_function(b) ? SQLITE_OK : refuse(s, "function", b);
  case SQLITE_PRAGMA: return allowed_pragma(a) || (s->copying && is_of_copy(a)) ? SQLITE_OK : refuse(s, "pragma", a);
  case SQLITE_ATTACH: case SQLITE_DETACH: return s->copying ? SQLITE_OK : refuse(s, "access to another", "database");
  case SQLITE_CREATE_VTABLE: case SQLITE_DROP_VTABLE: return spans_is_module(b) ? SQLITE_OK : refuse(s, "module", b);
  case SQLITE_INSERT: case SQLITE_UPDATE: case SQLITE_DELETE: case SQLITE_DROP_TABLE: case SQLITE_DROP_VIEW:
    return is_ours(a) ? refuse_writing(s, a) : SQLITE_OK;
  case SQLITE_ALTER_TABLE: return is_ours(b) ? refuse_writing(s, b) : SQLITE_OK;
  case SQLITE_SELECT: case SQLITE_READ: case SQLITE_RECURSIVE: case SQLITE_TRANSACTION: case SQLITE_SAVEPOINT:
  case SQLITE_CREATE_TABLE: case SQLITE_CREATE_TEMP_TABLE: case SQLITE_DROP_TEMP_TABLE:
  case SQLITE_CREATE_INDEX: case SQLITE_CREATE_TEMP_INDEX: case SQLITE_DROP_INDEX: case SQLITE_DROP_TEMP_INDEX:
  case SQLITE_CREATE_VIEW: case SQLITE_CREATE_TEMP_VIEW: case SQLITE_DROP_TEMP_VIEW:
  case SQLITE_CREATE_TRIGGER: case SQLITE_CREATE_TEMP_TRIGGER: case SQLITE_DROP_TRIGGER: case SQLITE_DROP_TEMP_TRIGGER:
  case SQLITE_REINDEX: case SQLITE_ANALYZE: return SQLITE_OK;
  default: return refuse(s, "this kind of", "statement");
  }
}

static int go_on(void *arg) {
  struct tk_sql *s = arg;
  const struct tk_progress *p = &s->opt.progress;
  if (p->tick && !p->tick(p->arg, 0, 0)) {
    err_set(s->err, TK_EINTERRUPTED, "interrupted");
    return 1;
  }
  if (s->deadline_ms && now_ms() > s->deadline_ms) {
    err_for(s->err, TK_OPTION_TIMEOUT, TK_ELIMIT, "the query exceeded its time limit");
    return 1;
  }
  if (s->limit && s->graph_bytes + s->mem.used + (uint64_t)sqlite3_memory_used() > s->limit) {
    err_for(s->err, TK_OPTION_MAX_MEMORY, TK_ELIMIT, "the query exceeded its memory limit");
    return 1;
  }
  return 0;
}

/* ---- functions and modules of the database ---- */

static void fail_call(sqlite3_context *out, int argc, sqlite3_value **argv) {
  (void)argc, (void)argv;
  char *why = sqlite3_mprintf("function %s is not allowed", (const char *)sqlite3_user_data(out));
  if (!why) return sqlite3_result_error_nomem(out);
  sqlite3_result_error(out, why, -1);
  sqlite3_free(why);
}

static bool replace_function(sqlite3 *db, const char *name, int args) {
  char *copy = sqlite3_mprintf("%s", name);
  return copy && sqlite3_create_function_v2(db, name, args, SQLITE_UTF8 | SQLITE_DIRECTONLY, copy, fail_call, NULL, NULL,
                                            sqlite3_free) == SQLITE_OK;
}

struct refused {
  char *name;
  int args;
};

/* Replaces forbidden functions. Collects the list first, because replacing a function ends the statement that reads the
 * list. */
static bool replace_functions(struct tk_sql *s) {
  struct refused *v = NULL;
  uint32_t n = 0, cap = 0;
  sqlite3_stmt *stmt = NULL;
  bool ok = true;
  if (sqlite3_prepare_v2(s->db, "SELECT DISTINCT name, narg FROM pragma_function_list", -1, &stmt, NULL) != SQLITE_OK)
    return (sqlite3_errcode(s->db) & 0xff) != SQLITE_NOMEM; /* this SQLite cannot list its functions; the authoriser is then the only
                                                             * protection */
  while (ok && sqlite3_step(stmt) == SQLITE_ROW) {
    const char *name = (const char *)sqlite3_column_text(stmt, 0);
    if (name && allowed_function(name)) continue;
    ok = name && mem_grow(&s->mem, (void **)&v, &cap, (uint64_t)n + 1, sizeof *v);
    if (ok) v[n++] = (struct refused){sqlite3_mprintf("%s", name), sqlite3_column_int(stmt, 1)};
  }
  ok = sqlite3_finalize(stmt) == SQLITE_OK && ok;
  for (uint32_t i = 0; i < n; i++) {
    ok = ok && v[i].name && replace_function(s->db, v[i].name, v[i].args);
    sqlite3_free(v[i].name);
  }
  mem_free(&s->mem, v);
  return ok;
}

/* Removes forbidden modules. Called after functions are replaced, because functions may use data of their module. */
static bool remove_modules(struct tk_sql *s) {
  uint32_t n = 0;
  while (allowed_modules[n]) n++;
  const char **kept = mem_array(&s->mem, (uint64_t)n + s->n_table_names + 1, sizeof *kept);
  if (!kept) return false;
  memcpy(kept, allowed_modules, n * sizeof *kept);
  memcpy(kept + n, s->table_names, s->n_table_names * sizeof *kept);
  kept[n + s->n_table_names] = NULL;
  const bool ok = sqlite3_drop_modules(s->db, kept) == SQLITE_OK;
  mem_free(&s->mem, kept);
  return ok;
}

static void configure(sqlite3 *db) {
  static const int OFF[] = {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
                            SQLITE_DBCONFIG_TRUSTED_SCHEMA};
  static const int ON[] = {SQLITE_DBCONFIG_DEFENSIVE, SQLITE_DBCONFIG_DQS_DML};
  for (size_t i = 0; i < sizeof OFF / sizeof *OFF; i++) sqlite3_db_config(db, OFF[i], 0, (int *)NULL);
  for (size_t i = 0; i < sizeof ON / sizeof *ON; i++) sqlite3_db_config(db, ON[i], 1, (int *)NULL);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MOST_BYTES);
  sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, MOST_SQL);
  sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, DEEPEST_EXPRESSION);
  sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, DEEPEST_TRIGGERS);
  sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
}

bool guard_install(struct tk_sql *s) {
  if (!replace_functions(s) || !remove_modules(s)) return false;
  configure(s->db);
  guard_resume(s);
  sqlite3_set_authorizer(s->db, guard_authorise, s);
  sqlite3_progress_handler(s->db, OPERATIONS, go_on, s);
  return true;
}

void guard_suspend(struct tk_sql *s) {
  s->copying = true;
  sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 1);
}

void guard_resume(struct tk_sql *s) {
  s->copying = false;
  sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
}

void guard_start(struct tk_sql *s, struct tk_err *err) {
  s->err = err;
  s->deadline_ms = s->opt.timeout_ms ? now_ms() + s->opt.timeout_ms : 0;
}
