/* statement.c - see statement.h. */
#include "statement.h"

#include <string.h>

#include "base/text.h"
#include "guard.h"
#include "views.h"

/* ---- errors ---- */

static void place_of(const char *text, int offset, unsigned *line, unsigned *column) {
  *line = *column = 1;
  for (int i = 0; i < offset; i++) {
    if (text[i] == '\n') ++*line, *column = 1;
    else if ((text[i] & 0xc0) != 0x80) ++*column;
  }
}

static int offset_of_error(sqlite3 *db) {
#if SQLITE_VERSION_NUMBER >= 3038000
  if (sqlite3_libversion_number() >= 3038000) return sqlite3_error_offset(db);
#endif
  (void)db;
  return -1;
}

/* Sets the error of a statement. `whole`: the text that contains the statement; positions in messages refer to it. */
static bool fail(struct tk_sql *s, const char *whole, const char *statement, struct tk_err *err) {
  const int code = sqlite3_errcode(s->db), offset = offset_of_error(s->db);
  unsigned line, column;
  if (err->code != TK_OK) return false;
  if (s->mem.failed || (code & 0xff) == SQLITE_NOMEM) {
    s->mem.failed = false;
    return err_for(err, TK_OPTION_MAX_MEMORY, TK_ELIMIT, "the query exceeded its memory limit");
  }
  if (code == SQLITE_TOOBIG) return err_set(err, TK_ELIMIT, "SQL: %s", sqlite3_errmsg(s->db));
  if (code == SQLITE_AUTH) return err_set(err, TK_EUSAGE, "SQL: %s; queries can only read the trace", sqlite3_errmsg(s->db));
  if (offset < 0) return err_set(err, TK_EUSAGE, "SQL: %s", sqlite3_errmsg(s->db));
  place_of(whole, (int)(statement - whole) + offset, &line, &column);
  return err_set(err, TK_EUSAGE, "SQL: %s (line %u, column %u)", sqlite3_errmsg(s->db), line, column);
}

/* ---- PerfettoSQL statements ---- */

const char *statement_at(const char *p) {
  for (;;) {
    p += strspn(p, " \t\r\n\f;");
    if (text_begins(p, "--")) p += strcspn(p, "\n");
    else if (text_begins(p, "/*")) p = strstr(p + 2, "*/") ? strstr(p + 2, "*/") + 2 : p + strlen(p);
    else return p;
  }
}

/* Returns the position after the word, ignoring case; NULL if p does not begin with it. */
static const char *word(const char *p, const char *text) {
  const size_t n = strlen(text);
  if (!p || sqlite3_strnicmp(p, text, (int)n) != 0) return NULL;
  const char next = p[n];
  if ((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || (next >= '0' && next <= '9') || next == '_') return NULL;
  p += n;
  return p + strspn(p, " \t\r\n");
}

static const char *either(const char *p, const char *a, const char *b) {
  const char *found = word(p, a);
  return found ? found : word(p, b);
}

static size_t name_length(const char *p) {
  return strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.*");
}

/* Returns the position after an INCLUDE, or the statement itself if it is not an INCLUDE. Returns NULL with err if the module
 * is unknown. */
static const char *read_include(const char *statement, struct tk_err *err) {
  const char *p = word(word(word(statement, "INCLUDE"), "PERFETTO"), "MODULE");
  if (!p) return statement;
  const size_t n = name_length(p);
  if (!sql_include(p, n, err)) return NULL;
  return statement_at(p + n);
}

/* True, with err set, for statements that exist only in PerfettoSQL: CREATE [OR REPLACE] PERFETTO ..., and DROP PERFETTO ... . */
static bool is_refused(const char *statement, struct tk_err *err) {
  const char *p = either(statement, "CREATE", "DROP"), *replace = word(word(p, "OR"), "REPLACE");
  const char *what = word(replace ? replace : p, "PERFETTO");
  if (!what) return false;
  err_set(err, TK_EUSAGE, "SQL: %.6s PERFETTO %.*s exists only in PerfettoSQL; use CREATE TABLE or CREATE VIEW",
          statement, (int)name_length(what), what);
  return true;
}

const char *statement_behind_include(const char *p) {
  struct tk_err ignored = {0};
  const char *behind = read_include(p, &ignored);
  return behind ? behind : p;
}

static bool selects(const char *p) { return word(p, "SELECT") || word(p, "WITH") || word(p, "VALUES"); }

bool statement_passes_reading(struct tk_sql *s, const char **p) {
  sqlite3_stmt *stmt = NULL;
  const char *tail;
  struct tk_err ignored = {0};
  if (!selects(*p)) return false;
  guard_start(s, &ignored);
  const bool ok = sqlite3_prepare_v2(s->db, *p, -1, &stmt, &tail) == SQLITE_OK && stmt && sqlite3_stmt_readonly(stmt);
  sqlite3_finalize(stmt);
  s->err = NULL;
  if (ok) *p = tail;
  return ok;
}

/* ---- statements ---- */

static struct tk_sql_value value_at(sqlite3_stmt *stmt, int i) {
  struct tk_sql_value v = {.type = TK_SQL_NULL};
  switch (sqlite3_column_type(stmt, i)) {
  case SQLITE_INTEGER: v.type = TK_SQL_INTEGER, v.i = sqlite3_column_int64(stmt, i); break;
  case SQLITE_FLOAT: v.type = TK_SQL_REAL, v.d = sqlite3_column_double(stmt, i); break;
  case SQLITE_TEXT: v.type = TK_SQL_TEXT, v.text = (const char *)sqlite3_column_text(stmt, i); break;
  case SQLITE_BLOB: v.type = TK_SQL_BLOB, v.text = sqlite3_column_blob(stmt, i); break;
  default: break;
  }
  if (v.type == TK_SQL_TEXT || v.type == TK_SQL_BLOB) v.n = (size_t)sqlite3_column_bytes(stmt, i);
  return v;
}

/* Finds the value of parameter i of a statement, from 1; NULL = it has none. */
static const struct tk_sql_value *find_param(const struct tk_sql *s, const char *name, int i) {
  const bool by_name = name && *name != '?';
  int place = 0;
  for (size_t k = 0; k < s->opt.n_params; k++) {
    const struct tk_sql_param *p = &s->opt.params[k];
    if (by_name ? p->name && strcmp(p->name, name + 1) == 0 : !p->name && ++place == i) return &p->value;
  }
  return NULL;
}

static int bind_value(sqlite3_stmt *stmt, int i, const struct tk_sql_value *v) {
  switch (v->type) {
  case TK_SQL_INTEGER: return sqlite3_bind_int64(stmt, i, v->i);
  case TK_SQL_REAL: return sqlite3_bind_double(stmt, i, v->d);
  case TK_SQL_TEXT: return sqlite3_bind_text64(stmt, i, v->text, v->n, SQLITE_STATIC, SQLITE_UTF8);
  case TK_SQL_BLOB: return sqlite3_bind_blob64(stmt, i, v->text, v->n, SQLITE_STATIC);
  default: return sqlite3_bind_null(stmt, i);
  }
}

static bool bind_params(const struct tk_sql *s, sqlite3_stmt *stmt, struct tk_err *err) {
  const int n = stmt ? sqlite3_bind_parameter_count(stmt) : 0;
  for (int i = 1; i <= n; i++) {
    const char *name = sqlite3_bind_parameter_name(stmt, i);
    const struct tk_sql_value *v = find_param(s, name, i);
    if (!v) return err_set(err, TK_EUSAGE, "SQL: parameter %s has no value", name ? name : "?");
    if (bind_value(stmt, i, v) != SQLITE_OK) return err_set(err, TK_ELIMIT, "SQL: the value of parameter %d is too large", i);
  }
  return true;
}

struct running {
  struct tk_sql *s;
  sqlite3_stmt *stmt;
  const struct tk_sql_answer *to;
  struct tk_sql_value *values;
  uint64_t rows;
  int n;
  bool stopped, cut;
};

static bool put_row(struct running *r) {
  for (int i = 0; i < r->n; i++) r->values[i] = value_at(r->stmt, i);
  return !r->to || !r->to->row || r->to->row(r->to->arg, r->values, (size_t)r->n);
}

static bool begin_answer(struct running *r) {
  const char **names = mem_array(&r->s->mem, (uint64_t)r->n, sizeof *names);
  if (!names) return false;
  for (int i = 0; i < r->n; i++) names[i] = sqlite3_column_name(r->stmt, i);
  r->stopped = r->to && r->to->begin && !r->to->begin(r->to->arg, names, (size_t)r->n);
  mem_free(&r->s->mem, names);
  return true;
}

/* Runs one statement to the end; returns an SQLite status. */
static int step_through(struct running *r) {
  int status = SQLITE_ROW;
  const uint64_t most = r->s->opt.max_rows;
  while (!r->stopped && (status = sqlite3_step(r->stmt)) == SQLITE_ROW) {
    if (r->n == 0) continue;
    if (most && r->rows == most) {
      r->cut = true;
      return SQLITE_DONE;
    }
    r->rows++;
    r->stopped = !put_row(r);
  }
  return r->stopped ? SQLITE_DONE : status;
}

static bool run_statement(struct running *r, const char *whole, const char *statement, struct tk_err *err) {
  struct tk_sql *s = r->s;
  r->n = sqlite3_column_count(r->stmt);
  r->values = mem_array(&s->mem, (uint64_t)r->n + 1, sizeof *r->values);
  bool ok = r->values && (!r->n || begin_answer(r));
  if (ok && (step_through(r) != SQLITE_DONE || s->mem.failed)) ok = fail(s, whole, statement, err);
  else if (!ok) mem_refuse(&s->mem, err);
  if (ok && r->n && r->to && r->to->end) ok = r->to->end(r->to->arg, r->cut) || r->stopped;
  mem_free(&s->mem, r->values);
  sqlite3_finalize(r->stmt);
  return ok;
}

bool statement_run(struct tk_sql *s, const char *whole, const char **p, const struct tk_sql_answer *to, struct tk_err *err) {
  struct running r = {.s = s, .to = to};
  const char *statement = *p, *tail, *behind = read_include(statement, err);
  if (!behind) return false;
  if (behind != statement) {
    *p = behind;
    return true;
  }
  if (is_refused(statement, err)) return false;
  guard_start(s, err);
  if (sqlite3_prepare_v2(s->db, statement, -1, &r.stmt, &tail) != SQLITE_OK) return fail(s, whole, statement, err);
  *p = tail;
  if (!bind_params(s, r.stmt, err)) {
    sqlite3_finalize(r.stmt);
    return false;
  }
  s->changed |= r.stmt && !sqlite3_stmt_readonly(r.stmt);
  if (r.stmt && !run_statement(&r, whole, statement, err)) return false;
  if (r.stopped) *p = tail + strlen(tail);
  return true;
}
