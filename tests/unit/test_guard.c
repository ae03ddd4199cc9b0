/* test_guard.c - SQLite features that are not listed in lib/sql/allowed.c are refused in every statement that can use them; and each
 * function and module of the running SQLite is on a list, so that none is refused by oversight. */
#include "help.h"

#include <sqlite3.h>

#include "sql/allowed.h"

/* Functions that queries cannot call, by reason. */
static const char *const REFUSED_FUNCTIONS[] = {
    "bm25", "fts3_tokenizer", "fts5", "fts5_get_locale", "fts5_insttoken", "fts5_locale", "fts5_source_id", "highlight", "match",
    "matchinfo", "offsets", "optimize", "snippet",                                    /* for full-text search, which no table has */
    "load_extension", "edit", "readfile", "writefile", "lsmode",         /* they access files */
    "rtreecheck", "rtreedepth", "rtreenode",                             /* they decode untrusted data */
    "geopoly_area", "geopoly_bbox", "geopoly_blob", "geopoly_ccw", "geopoly_contains_point", "geopoly_debug", "geopoly_group_bbox",
    "geopoly_json", "geopoly_overlap", "geopoly_regular", "geopoly_svg", "geopoly_within", "geopoly_xform", /* the same */
    "sqlite_log", "sqlite_offset", "unknown",                            /* for tests of SQLite itself */
    "ieee754", "ieee754_exponent", "ieee754_from_blob", "ieee754_inc", "ieee754_mantissa", "ieee754_to_blob", /* for the shell
                                                                                                               * of SQLite */
};
static const char *const REFUSED_MODULES[] = {
    "fts3", "fts3tokenize", "fts4", "fts4aux", "fts5", "fts5vocab", /* full-text search */
    "geopoly", "rtree", "rtree_i32",                                /* they decode untrusted data */
    "bytecode", "tables_used", "sqlite_stmt", "dbstat", "sqlite_dbdata", "sqlite_dbpage", "sqlite_dbptr", /* internals of
                                                                                                           * SQLite */
    "carray", "fsdir", "zipfile",                                   /* they access memory and files */
};

static bool is_in(const char *const *list, size_t n, const char *name) {
  for (size_t i = 0; i < n; i++)
    if (sqlite3_stricmp(list[i], name) == 0) return true;
  return false;
}

/* Returns the number of rows of a query on an unguarded database; the caller frees the names. */
static size_t rows_of(const char *sql, char **names, int *numbers, size_t most) {
  sqlite3 *db;
  sqlite3_stmt *stmt;
  size_t n = 0;
  assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
  while (sqlite3_step(stmt) == SQLITE_ROW) {
    assert_true(n < most);
    names[n] = strdup((const char *)sqlite3_column_text(stmt, 0));
    assert_non_null(names[n]);
    numbers[n++] = sqlite3_column_int(stmt, 1);
  }
  sqlite3_finalize(stmt);
  sqlite3_close(db);
  return n;
}

enum { MOST = 1000 };
static char *names[MOST];
static int numbers[MOST];

static void free_names(size_t n) {
  while (n) free(names[--n]);
}

static void functions_are_decided(void **state) {
  const size_t n = rows_of("SELECT DISTINCT name, 0 FROM pragma_function_list", names, numbers, MOST);
  (void)state;
  assert_true(n > 50);
  for (size_t i = 0; i < n; i++) {
    const bool allowed = allowed_function(names[i]), refused = is_in(REFUSED_FUNCTIONS, LENGTH(REFUSED_FUNCTIONS), names[i]);
    expect(allowed != refused, names[i], allowed ? "a function on both lists" : "a function on no list", "one list");
  }
  free_names(n);
}

static void modules_are_decided(void **state) {
  const char *const sql = "SELECT DISTINCT name, 0 FROM pragma_module_list WHERE name NOT GLOB 'pragma_*'";
  const size_t n = rows_of(sql, names, numbers, MOST);
  (void)state;
  for (size_t i = 0; i < n; i++) {
    const bool allowed = allowed_module(names[i]), refused = is_in(REFUSED_MODULES, LENGTH(REFUSED_MODULES), names[i]);
    expect(allowed != refused, names[i], allowed ? "a module on both lists" : "a module on no list", "one list");
  }
  free_names(n);
}

/* ---- refused statements ---- */

static struct tk_trace *trace;

static int make_trace(void **state) {
  (void)state;
  trace = feed_text("{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":1,\"args\":{\"k\":1}}]}");
  return 0;
}

static int free_trace(void **state) {
  (void)state;
  tk_free(trace);
  return 0;
}

/* Runs statements in a new database. */
static bool run(const char *sql, struct tk_err *err) {
  const struct tk_sql_options one = {.size = sizeof one, .threads = 1};
  struct tk_sql *s = tk_sql_open(trace, &one, err);
  assert_non_null(s);
  const bool ok = tk_sql_run(s, sql, NULL, err);
  tk_sql_close(s);
  return ok;
}

static void expect_refused(const char *sql, const char *name) {
  struct tk_err err = {0};
  const bool ok = run(sql, &err);
  const bool told = strstr(err.msg, name) && (strstr(err.msg, "not allowed") || strstr(err.msg, "no such"));
  expect(!ok && told, sql, ok ? "no error" : err.msg, name);
}

/* Statements that call a function; the call is inserted between `before` and `after`. */
static const struct {
  const char *before, *after;
} CALLS[] = {
    {"SELECT ", ""},
    {"EXPLAIN SELECT ", ""},
    {"CREATE VIEW v AS SELECT ", " AS x; SELECT x FROM v"},
    {"CREATE TABLE d(a, b DEFAULT (", ")); INSERT INTO d(a) VALUES (1)"},
    {"CREATE TABLE d(a, CHECK (a <> ", ")); INSERT INTO d(a) VALUES (1)"},
    {"CREATE TABLE d(a); CREATE TRIGGER g AFTER INSERT ON d BEGIN SELECT ", "; END; INSERT INTO d(a) VALUES (1)"},
    {"CREATE TABLE d(a); INSERT INTO d VALUES (1); ALTER TABLE d ADD COLUMN b DEFAULT (", "); SELECT * FROM d"},
    {"CREATE VIEW slice AS SELECT ", " AS x; SELECT x FROM slice"},
};

static void functions_are_refused(void **state) {
  const size_t n = rows_of("SELECT DISTINCT name, narg FROM pragma_function_list", names, numbers, MOST);
  char sql[500];
  size_t tried = 0;
  (void)state;
  for (size_t i = 0; i < n; i++) {
    if (allowed_function(names[i])) continue;
    for (size_t k = 0; k < LENGTH(CALLS); k++) {
      size_t len = (size_t)snprintf(sql, sizeof sql, "%s\"%s\"(", CALLS[k].before, names[i]);
      for (int a = 0; a < (numbers[i] < 0 ? 2 : numbers[i]); a++)
        len += (size_t)snprintf(sql + len, sizeof sql - len, "%s'1'", a ? "," : "");
      snprintf(sql + len, sizeof sql - len, ")%s", CALLS[k].after);
      struct tk_err err = {0};
      expect(!run(sql, &err), sql, "no error", "an error");
      tried++;
    }
  }
  assert_true(tried > 0);
  free_names(n);
}

static void pragmas_are_refused(void **state) {
  const size_t n = rows_of("SELECT DISTINCT name, 0 FROM pragma_pragma_list", names, numbers, MOST);
  char sql[300];
  (void)state;
  assert_true(n > 20);
  for (size_t i = 0; i < n; i++) {
    if (allowed_pragma(names[i])) continue;
    snprintf(sql, sizeof sql, "PRAGMA %s", names[i]);
    expect_refused(sql, names[i]);
    snprintf(sql, sizeof sql, "PRAGMA %s = 1", names[i]);
    expect_refused(sql, names[i]);
    snprintf(sql, sizeof sql, "SELECT * FROM pragma_%s", names[i]);
    expect_refused(sql, names[i]);
  }
  free_names(n);
}

static void modules_are_refused(void **state) {
  char sql[300];
  (void)state;
  for (size_t i = 0; i < LENGTH(REFUSED_MODULES); i++) {
    snprintf(sql, sizeof sql, "SELECT * FROM %s", REFUSED_MODULES[i]);
    expect_refused(sql, REFUSED_MODULES[i]);
    snprintf(sql, sizeof sql, "CREATE VIRTUAL TABLE t USING %s(a, b, c, d, e)", REFUSED_MODULES[i]);
    expect_refused(sql, REFUSED_MODULES[i]);
  }
  expect_refused("CREATE VIRTUAL TABLE t USING slice", "slice");
  expect_refused("CREATE VIRTUAL TABLE t USING json_each", "json_each");
}

static void attacks_are_refused(void **state) {
  (void)state;
  expect_refused("SELECT fts3_tokenizer('simple', x'4141414141414141');"
      "SELECT * FROM fts3tokenize WHERE input = 'a'", "fts3_tokenizer");
  expect_refused("SELECT hex(fts3_tokenizer('simple'))", "fts3_tokenizer"); /* returns an address */
  expect_refused("SELECT load_extension('x')", "load_extension");
  expect_refused("ATTACH 'x' AS y", "another database");
  expect_refused("VACUUM INTO 'x'", "another database");
  struct tk_err err = {0};
  assert_false(run("UPDATE metadata SET name = 'x'", &err));
  assert_non_null(strstr(err.msg, "metadata is read-only"));
}

/* tk_sql_copy evaluates a view that the user created in place of a table; a refused function in this view stays refused. */
static void copies_are_guarded(void **state) {
  const struct tk_sql_options one = {.size = sizeof one, .threads = 1};
  struct tk_err err = {0};
  (void)state;
  struct tk_sql *s = tk_sql_open(trace, &one, &err);
  assert_true(tk_sql_run(s, "CREATE VIEW slice AS SELECT load_extension('x') AS id", NULL, &err));
  assert_false(tk_sql_copy(s, "/dev/null", true, &err));
  assert_non_null(strstr(err.msg, "load_extension"));
  tk_sql_close(s);
}

/* Statements that must be allowed. */
static void the_rest_is_allowed(void **state) {
  static const char *const FINE[] = {
      "SELECT count(*), max(self_dur) FROM event",
      "CREATE VIEW v AS SELECT extract_arg(arg_set_id, 'args.k') AS k, name LIKE 'a%' AS l FROM slice WHERE name REGEXP 'a';"
      "SELECT * FROM v",
      "SELECT * FROM collective; SELECT * FROM counters; SELECT * FROM instant; SELECT * FROM slice_self_dur",
      "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2); UPDATE t SET a = 3; DELETE FROM t; DROP TABLE t",
      "CREATE TABLE t(a, b); ALTER TABLE t RENAME COLUMN a TO c; ALTER TABLE t RENAME TO u; ALTER TABLE u DROP COLUMN b",
      "CREATE TABLE t(a); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN b CHECK (b > 0)",
      "CREATE TABLE t(a); CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END; INSERT INTO t VALUES (1)",
      "CREATE TABLE t(a UNIQUE DEFAULT (upper('a'))); CREATE INDEX i ON t(lower(a)); INSERT INTO t DEFAULT VALUES; REINDEX",
      "CREATE TABLE t(a); ANALYZE",
      "CREATE TEMP TABLE t AS SELECT * FROM slice; CREATE TEMP VIEW v AS SELECT * FROM t; SELECT * FROM v",
      "SELECT key, value FROM json_each('[1, 2]'); SELECT json_extract('{\"a\":1}', '$.a')",
      "CREATE VIEW v AS SELECT value FROM json_each('[1]'); SELECT * FROM v",
      "SELECT row_number() OVER (ORDER BY ts), lag(ts) OVER (ORDER BY ts) FROM slice",
      "BEGIN; CREATE TABLE t(a); SAVEPOINT s; ROLLBACK TO s; COMMIT",
      "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 9) SELECT sum(x) FROM r",
      "PRAGMA table_info(slice); SELECT name FROM pragma_table_info('slice'); SELECT count(*) FROM pragma_function_list",
      "SELECT slice_is_ancestor(-1, id), slice_is_ancestor(id, -1), slice_is_ancestor(0, 1 << 40) FROM slice",
      "SELECT current_timestamp, strftime('%Y', 0), date('now'), \"text\"",
  };
  (void)state;
  for (size_t i = 0; i < LENGTH(FINE); i++) {
    struct tk_err err = {0};
    const bool ok = run(FINE[i], &err);
    expect(ok, FINE[i], err.msg, "no error");
  }
}

static bool add_number(void *arg, const struct tk_sql_value *values, size_t n) {
  for (size_t i = 0; i < n; i++) *(int64_t *)arg += values[i].i;
  return true;
}

/* Values reach every statement, also those that other threads run; a statement without one of its values is refused. */
static void parameters_are_bound(void **state) {
  static const struct tk_sql_param PARAMS[] = {{NULL, {.type = TK_SQL_INTEGER, .i = 1}},
                                               {"x", {.type = TK_SQL_INTEGER, .i = 1000}},
                                               {NULL, {.type = TK_SQL_INTEGER, .i = 20}}};
  static const struct {
    const char *sql;
    int64_t sum;
  } GOOD[] = {{"SELECT ?", 1},
              {"SELECT ?, ?", 21},
              {"SELECT ?2", 20},
              {"SELECT :x, @x, $x, :x", 4000},
              {"SELECT ?; SELECT ?, ?; SELECT $x", 1022}};
  static const char *const BAD[] = {"SELECT ?, ?, ?", "SELECT ?3", "SELECT :y", "SELECT ?; SELECT ?, ?, ?",
                                    "CREATE TABLE t AS SELECT $y"};
  (void)state;
  for (unsigned threads = 1; threads <= 2; threads++) {
    const struct tk_sql_options opt = {.size = sizeof opt, .threads = threads, .params = PARAMS,
                                       .n_params = LENGTH(PARAMS)};
    struct tk_err err = {0};
    struct tk_sql *s = tk_sql_open(trace, &opt, &err);
    assert_non_null(s);
    for (size_t i = 0; i < LENGTH(GOOD); i++) {
      int64_t sum = 0;
      const struct tk_sql_answer to = {.row = add_number, .arg = &sum};
      expect(tk_sql_run(s, GOOD[i].sql, &to, &err), GOOD[i].sql, err.msg, "no error");
      assert_int_equal(sum, GOOD[i].sum);
    }
    for (size_t i = 0; i < LENGTH(BAD); i++) {
      const bool ok = tk_sql_run(s, BAD[i], NULL, &err);
      expect(!ok && strstr(err.msg, "has no value"), BAD[i], ok ? "no error" : err.msg, "has no value");
    }
    tk_sql_close(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_are_decided), cmocka_unit_test(modules_are_decided), cmocka_unit_test(functions_are_refused),
      cmocka_unit_test(pragmas_are_refused),   cmocka_unit_test(modules_are_refused), cmocka_unit_test(attacks_are_refused),
      cmocka_unit_test(copies_are_guarded),    cmocka_unit_test(the_rest_is_allowed),
      cmocka_unit_test(parameters_are_bound),
  };
  return cmocka_run_group_tests(tests, make_trace, free_trace);
}
