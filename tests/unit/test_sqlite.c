/* test_sqlite.c - compares the reader of SQLite databases with SQLite itself. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/sqlite.h"
#include "help.h"

enum { MOST_COLUMNS = 8 };

struct random {
  uint64_t state;
};

static uint32_t draw(struct random *r, uint32_t n) {
  r->state = r->state * 6364136223846793005u + 1442695040888963407u;
  return n ? (uint32_t)(r->state >> 33) % n : 0;
}

static void run(sqlite3 *db, const char *sql) {
  char *message = NULL;
  if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", sql, message);
}

static sqlite3 *fresh(const char *settings) {
  sqlite3 *db;
  assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
  run(db, settings);
  return db;
}

/* A database as bytes, opened by the walker. */
struct opened {
  struct mem mem;
  struct tk_err err;
  unsigned char *bytes;
  sqlite3_int64 size;
  struct in *in;
  struct sqlite *db;
};

static void open_bytes(struct opened *o) {
  o->err = (struct tk_err){.offset = UINT64_MAX};
  o->in = in_memory(o->bytes, (size_t)o->size, &o->mem, &o->err);
  assert_non_null(o->in);
  o->db = sqlite_open(o->in, &o->mem, &o->err);
}

static struct opened *open_database(sqlite3 *db) {
  struct opened *o = calloc(1, sizeof *o);
  assert_non_null(o);
  o->bytes = sqlite3_serialize(db, "main", &o->size, 0);
  assert_non_null(o->bytes);
  open_bytes(o);
  return o;
}

static void close_bytes(struct opened *o) {
  sqlite_close(o->db);
  in_close(o->in);
}

static void close_database(struct opened *o) {
  close_bytes(o);
  assert_int_equal(o->mem.used, 0);
  sqlite3_free(o->bytes);
  free(o);
}

/* ---- comparing ---- */

static void compare_cell(sqlite3_stmt *s, int i, const struct cell *c) {
  static const int TYPES[] = {[CELL_NULL] = SQLITE_NULL, [CELL_INT] = SQLITE_INTEGER, [CELL_REAL] = SQLITE_FLOAT,
                              [CELL_TEXT] = SQLITE_TEXT, [CELL_BLOB] = SQLITE_BLOB};
  const int type = sqlite3_column_type(s, i);
  /* SQLite stores whole numbers in a REAL column as integers. */
  if (type == SQLITE_FLOAT && c->type == CELL_INT) {
    assert_true(sqlite3_column_double(s, i) == (double)c->i);
    return;
  }
  assert_int_equal(TYPES[c->type], type);
  if (type == SQLITE_INTEGER) assert_int_equal(c->i, sqlite3_column_int64(s, i));
  if (type == SQLITE_FLOAT) assert_true(c->d == sqlite3_column_double(s, i));
  if (type != SQLITE_TEXT && type != SQLITE_BLOB) return;
  const void *p = type == SQLITE_TEXT ? (const void *)sqlite3_column_text(s, i) : sqlite3_column_blob(s, i);
  assert_int_equal(c->n, sqlite3_column_bytes(s, i));
  if (c->n) assert_memory_equal(c->p, p, c->n);
}

/* Compares all columns of a table, row by row. */
static void compare(sqlite3 *db, const char *table) {
  struct opened *o = open_database(db);
  struct sqlite_scan scan;
  sqlite3_stmt *s;
  char sql[200];
  int columns[SQLITE_COLUMNS];
  assert_non_null(o->db);
  const struct sqlite_table *t = sqlite_find(o->db, table);
  assert_non_null(t);
  snprintf(sql, sizeof sql, "select * from \"%s\" order by rowid", table);
  assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
  const int n = sqlite3_column_count(s);
  assert_int_equal(n, t->n_columns);
  for (int i = 0; i < n; i++) {
    assert_string_equal(t->columns[i].name, sqlite3_column_name(s, i));
    columns[i] = i;
  }
  assert_true(sqlite_begin(&scan, o->db, t, columns, (unsigned)n, &o->err));
  uint64_t rows = 0;
  for (; sqlite3_step(s) == SQLITE_ROW; rows++) {
    assert_true(sqlite_next(&scan, &o->err));
    for (int i = 0; i < n; i++)
      if (t->columns[i].stored != -2) compare_cell(s, i, &scan.v[i]);
  }
  assert_false(sqlite_next(&scan, &o->err));
  assert_int_equal(scan.lost_rows + scan.lost_pages, 0);
  sqlite_end(&scan);
  assert_int_equal(sqlite_count(o->db, t), rows);
  sqlite3_finalize(s);
  close_database(o);
}

/* ---- random tables ---- */

static void bind(struct random *r, sqlite3_stmt *s, int at) {
  static const sqlite3_int64 NUMBERS[] = {0, 1, -1, 127, 128, -129, 32768, 8388608, -2147483649LL, 1LL << 47, INT64_MAX, INT64_MIN};
  static char long_text[70000];
  switch (draw(r, 7)) {
  case 0: sqlite3_bind_null(s, at); return;
  case 1: sqlite3_bind_int64(s, at, NUMBERS[draw(r, sizeof NUMBERS / sizeof *NUMBERS)]); return;
  case 2: sqlite3_bind_double(s, at, draw(r, 1000) / 7.0 - 50); return;
  case 3: sqlite3_bind_text(s, at, "caf\xc3\xa9 \xf0\x9f\x9a\x80 kernel", -1, SQLITE_STATIC); return;
  case 4: sqlite3_bind_text(s, at, "", 0, SQLITE_STATIC); return;
  case 5: sqlite3_bind_blob(s, at, "\0\xff\x80 bytes", (int)draw(r, 9), SQLITE_STATIC); return;
  default: break;
  }
  const uint32_t n = draw(r, 20) ? draw(r, 60) : draw(r, sizeof long_text);
  for (uint32_t i = 0; i < n; i++) long_text[i] = (char)('a' + draw(r, 26));
  sqlite3_bind_text(s, at, long_text, (int)n, SQLITE_TRANSIENT);
}

static void fill(sqlite3 *db, struct random *r, uint32_t n_columns, uint32_t rows, bool keyed) {
  char sql[200] = "insert into t values(";
  sqlite3_stmt *s;
  for (uint32_t i = 0; i < n_columns; i++) strcat(sql, i ? ",?" : "?");
  strcat(sql, ")");
  assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
  run(db, "begin");
  for (uint32_t i = 0; i < rows; i++) {
    for (uint32_t k = 0; k < n_columns; k++) bind(r, s, (int)k + 1);
    if (keyed) sqlite3_bind_null(s, 1);
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    sqlite3_reset(s);
  }
  run(db, "commit");
  sqlite3_finalize(s);
}

static void random_table(uint64_t seed) {
  static const char *const PAGES[] = {"512", "1024", "4096", "65536"}, *const ENCODINGS[] = {"UTF-8", "UTF-16le", "UTF-16be"};
  static const char *const TYPES[] = {"", "INTEGER", "TEXT", "REAL", "BLOB", "NUMERIC", "VARCHAR(10, 2)"};
  struct random r = {seed * 77 + 5};
  char sql[600], settings[100];
  snprintf(settings, sizeof settings, "pragma page_size = %s; pragma encoding = '%s'", PAGES[draw(&r, 4)], ENCODINGS[draw(&r, 3)]);
  sqlite3 *db = fresh(settings);
  const uint32_t n = 1 + draw(&r, MOST_COLUMNS);
  const bool keyed = draw(&r, 2);
  size_t at = (size_t)snprintf(sql, sizeof sql, "create table t (");
  for (uint32_t i = 0; i < n; i++)
    at += (size_t)snprintf(sql + at, sizeof sql - at, "%s\"c %u\" %s", i ? ", " : "", i,
                           keyed && i == 0 ? "INTEGER PRIMARY KEY" : TYPES[draw(&r, 7)]);
  snprintf(sql + at, sizeof sql - at, ")");
  run(db, sql);
  run(db, "create table other (a, b); insert into other values (1, 2); create index i on other (a); create view v as select 1");
  fill(db, &r, n, draw(&r, 4) ? draw(&r, 300) : draw(&r, 3), keyed);
  if (draw(&r, 2)) run(db, "delete from t where rowid % 3 = 0");
  if (draw(&r, 3) == 0) run(db, "vacuum");
  if (draw(&r, 3) == 0) run(db, "alter table t add column late TEXT");
  compare(db, "t");
  compare(db, "other");
  sqlite3_close(db);
}

static void random_tables(void **state) {
  (void)state;
  const uint64_t most = getenv("LONG") ? 2000 : 60;
  for (uint64_t seed = 0; seed < most; seed++) random_table(seed);
}

/* ---- statements ---- */

static void statements(void **state) {
  static const char *const TABLES[] = {
      "create table t (a INTEGER PRIMARY KEY, b TEXT)",
      "create table t (a integer primary key desc, b)", /* no alias of the rowid */
      "create table t (b TEXT, a INTEGER, PRIMARY KEY (a))",
      "create table t (a INT PRIMARY KEY, b)", /* nor this */
      "create table t(\n  start INTEGER NOT NULL, -- Event start, (ns).\n  \"end\" INTEGER /* may be NULL, */,\n  [odd name] TEXT\n)",
      "create table t (`a``b` TEXT, 'c' TEXT, \"d\"\"e\" TEXT)",
      "create table t (a, b AS (a * 2), c AS (a + 1) STORED, d GENERATED ALWAYS AS (a - 1) VIRTUAL, e)",
      "create table t (a DECIMAL(10, 2) DEFAULT (1 + 2), b TEXT CHECK (b <> ','), UNIQUE (a, b), CONSTRAINT k CHECK (a > 0))",
      "create table t as select 1 as x, 'y' as z",
      "create table if not exists main.t (a, b)"};
  (void)state;
  for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
    sqlite3 *db = fresh("pragma page_size = 1024");
    run(db, TABLES[i]);
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, "select count(*) from pragma_table_info('t')", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    const int n = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    static const char *const INSERTS[] = {"", "insert into t values (5)", "insert into t values (5, 6)",
                                          "insert into t values (5, 6, 7)"};
    const char *insert = INSERTS[n < 4 ? n : 0];
    run(db, strstr(TABLES[i], " AS (") ? "insert into t (a, e) values (5, 'behind')" : insert);
    if (!strstr(TABLES[i], "`")) compare(db, "t"); /* SQLite removes the doubled quotes of a name, the walker does not */
    sqlite3_close(db);
  }
}

static void refused(const char *settings, const char *table, const char *why) {
  sqlite3 *db = fresh("pragma page_size = 4096");
  struct sqlite_scan scan;
  run(db, table);
  run(db, settings);
  struct opened *o = open_database(db);
  if (o->db && sqlite_find(o->db, "t")) {
    assert_false(sqlite_begin(&scan, o->db, sqlite_find(o->db, "t"), NULL, 0, &o->err));
    sqlite_end(&scan);
  }
  if (!strstr(o->err.msg, why)) fail_msg("'%s' lacks '%s'", o->err.msg, why);
  close_database(o);
  sqlite3_close(db);
}

static void what_cannot_be_read(void **state) {
  (void)state;
  refused("select 1", "create table t (a PRIMARY KEY, b) WITHOUT ROWID", "WITHOUT ROWID");
  refused("select 1", "create view v as select 1", "without readable tables");
}

static void write_ahead_log(void **state) {
  (void)state;
  sqlite3 *db = fresh("create table t (a)");
  struct opened *o = open_database(db);
  assert_non_null(o->db);
  close_bytes(o);
  o->bytes[18] = o->bytes[19] = 2;
  open_bytes(o);
  assert_non_null(o->db);
  assert_true(sqlite_is_wal(o->db));
  close_database(o);
  sqlite3_close(db);
}

/* ---- damage ---- */

static void walk_all(struct opened *o) {
  const struct sqlite_table *t;
  int columns[SQLITE_COLUMNS];
  open_bytes(o);
  for (size_t i = 0; o->db && (t = sqlite_row(o->db, i)) != NULL; i++) {
    struct sqlite_scan scan;
    uint64_t sum = 0;
    unsigned n = t->n_columns < SQLITE_COLUMNS ? t->n_columns : SQLITE_COLUMNS;
    for (unsigned k = 0; k < n; k++) columns[k] = (int)k;
    bool ok = sqlite_begin(&scan, o->db, t, columns, n, &o->err);
    while (ok && sqlite_next(&scan, &o->err))
      for (unsigned k = 0; k < n; k++)
        for (size_t b = 0; b < scan.v[k].n; b++) sum += scan.v[k].p[b];
    assert_true(scan.rows < 1000000);
    sqlite_end(&scan);
  }
  close_bytes(o);
}

/* Changes every byte in several ways, and truncates the file at every byte: reading must not crash, run forever or leak. */
static void damage(void **state) {
  (void)state;
  sqlite3 *db = fresh("pragma page_size = 512; create table t (a INTEGER PRIMARY KEY, b TEXT, c)");
  struct random r = {1};
  fill(db, &r, 3, 40, true);
  struct opened *o = open_database(db);
  close_bytes(o);
  const sqlite3_int64 size = o->size, most = size < 8 * 512 ? size : 8 * 512;
  for (sqlite3_int64 i = 0; i < most; i++) {
    const unsigned char was = o->bytes[i], VALUES[] = {0, 0xff, (unsigned char)(was + 1), (unsigned char)(was ^ 0x80), 5, 13};
    for (size_t k = 0; k < sizeof VALUES; k++) {
      o->bytes[i] = VALUES[k];
      walk_all(o);
    }
    o->bytes[i] = was;
  }
  for (o->size = 0; o->size < most; o->size += 7) walk_all(o);
  o->size = size;
  open_bytes(o);
  close_database(o);
  sqlite3_close(db);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_tables), cmocka_unit_test(statements), cmocka_unit_test(what_cannot_be_read),
      cmocka_unit_test(write_ahead_log), cmocka_unit_test(damage)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
