/* without.c - determines, before a trace is loaded, which of its data the SQL statements do not need. The statements are prepared on an
 * empty trace, and SQLite reports which tables and columns they read.
 *
 * Most queries sum up slices by name and time. A trace that is loaded without flows and args is smaller and loads faster: five such
 * queries on a Kineto trace of 1.9 GB took 375 MB with flows and args, 83 MB of it for flows. */
#include <string.h>

#include "graph/seal.h"
#include "guard.h"
#include "statement.h"

/* True for tables that do not depend on flows, and that depend on args only in the columns that ask_column checks. */
static bool is_plain(const char *table) {
  static const char *const NAMES[] = {
      "slice",   "slices",         "slice_with_stack_id", "thread_slice",            "process_slice", "thread_or_process_slice",
      "instant", "ancestor_slice", "descendant_slice",    "ancestor_slice_by_stack", "descendant_slice_by_stack",
      "thread",  "process",        "track",               "thread_track",            "process_track", "sqlite_master",
      "slice_self_dur", NULL,
  };
  for (const char *const *n = NAMES; *n; n++)
    if (sqlite3_stricmp(table, *n) == 0) return true;
  return false;
}

static uint8_t ask_column(const char *table, const char *column) {
  if (!is_plain(table)) return TK_WITHOUT_FLOWS | TK_WITHOUT_ARGS;
  return strstr(column, "arg_set_id") || strstr(column, "thread_ts") || strstr(column, "thread_dur") ? TK_WITHOUT_ARGS : 0;
}

struct asking {
  struct tk_sql *s;
  uint8_t asked;
};

/* Callback for SQLite's authoriser: notes which flows and args a statement reads. SQLite also reads sqlite_schema when it
 * first uses one of our tables. */
static int take_note(void *arg, int action, const char *a, const char *b, const char *schema, const char *view) {
  struct asking *q = arg;
  if (action == SQLITE_READ) q->asked |= ask_column(a, b);
  if (action == SQLITE_FUNCTION && sqlite3_stricmp(b, "extract_arg") == 0) q->asked |= TK_WITHOUT_FLOWS | TK_WITHOUT_ARGS;
  return guard_authorise(q->s, action, a, b, schema, view);
}

static struct tk_sql *open_empty(struct tk_trace *t) {
  struct tk_err ignored = {0};
  const struct tk_sql_options one = {.size = sizeof one, .threads = 1};
  return t && seal(t, 1, &ignored) ? tk_sql_open(t, &one, &ignored) : NULL;
}

uint8_t tk_sql_without(const char *sql) {
  struct tk_trace *t = trace_new(0);
  struct tk_sql *s = open_empty(t);
  struct asking q = {.s = s};
  bool known = s != NULL;
  if (s) sqlite3_set_authorizer(s->db, take_note, &q);
  for (const char *p = statement_at(sql), *behind; *p && known; p = statement_at(p)) {
    if ((behind = statement_behind_include(p)) != p) p = behind;
    else known = statement_passes_reading(s, &p);
  }
  tk_sql_close(s);
  tk_free(t);
  return TK_WITHOUT_RESTORING | (known ? (TK_WITHOUT_FLOWS | TK_WITHOUT_ARGS) & ~q.asked : 0);
}
