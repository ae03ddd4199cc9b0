/* run.c - runs the statements of a text, sequentially or in parallel. */
#include "ahead.h"
#include "statement.h"

bool tk_sql_run(struct tk_sql *s, const char *sql, const struct tk_sql_answer *to, struct tk_err *err) {
  struct tk_err own;
  bool ok = true;
  if (!err) err = &own;
  err_clear(err);
  for (const char *p = statement_at(sql); ok && *p; p = statement_at(p)) {
    const char *const from = p;
    ok = ahead_run(s, sql, &p, to, err);
    if (ok && p == from) ok = statement_run(s, sql, &p, to, err);
  }
  s->err = NULL;
  return ok;
}

bool tk_sql_complete(const char *sql) { return sqlite3_complete(sql) != 0; }
