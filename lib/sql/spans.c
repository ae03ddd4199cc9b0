/* spans.c - the modules span_join, span_left_join and span_outer_join: CREATE VIRTUAL TABLE x USING span_join(a PARTITIONED c, b
 * PARTITIONED c).
 *
 * The rows are read by statements on the same database, so the guard applies to them as well. A span join that reads itself would never
 * end, so it is an error; so are span joins nested deeper than DEEPEST_SPANS. */
#include "spans.h"

#include <stdlib.h>
#include <string.h>

#include "table.h"

enum { MODULES = 3, DEEPEST_SPANS = 32, TIMED_COLUMNS = 2 };

static const struct spans_module {
  const char *name;
  bool fills[2];
} modules[MODULES] = {
    {"span_join", {false, false}}, {"span_left_join", {false, true}}, {"span_outer_join", {true, true}}};

/* Position of a column: the table, and the column there; -1 for columns of the join itself. */
struct spans_column {
  int side, at;
};

struct spans_vtab {
  sqlite3_vtab base;
  struct tk_sql *sql;
  struct spans_table tables[2];
  struct spans_column *columns;
  int n;
  bool parted;
  bool running; /* true while the statements of a cursor run */
};

struct spans_cursor {
  sqlite3_vtab_cursor base;
  struct spans_walk walk;
  sqlite3_int64 row;
};

bool spans_is_module(const char *name) {
  for (int i = 0; i < MODULES; i++)
    if (name && sqlite3_stricmp(modules[i].name, name) == 0) return true;
  return false;
}

/* ---- definition ---- */

static char *spans_word(const char **p) {
  static const char SPACE[] = " \t\r\n";
  *p += strspn(*p, SPACE);
  const char quote = **p == '"' ? *(*p)++ : 0;
  const size_t n = quote ? strcspn(*p, "\"") : strcspn(*p, SPACE);
  char *word = n ? sqlite3_mprintf("%.*s", (int)n, *p) : NULL;
  *p += n + (quote && (*p)[n] == quote);
  return word;
}

/* Reads "table" or "table PARTITIONED column". */
static bool read_table(struct spans_table *t, const char *text) {
  t->name = spans_word(&text);
  char *word = spans_word(&text);
  const bool parted = word && sqlite3_stricmp(word, "PARTITIONED") == 0, bare = !word;
  sqlite3_free(word);
  if (parted) t->partition = spans_word(&text);
  return t->name && (bare || t->partition) && text[strspn(text, " \t\r\n")] == 0;
}

static bool is_timed(const struct spans_table *t, int i) { return i == t->ts || i == t->dur || (t->partition && i == t->part); }

/* Finds the columns; returns a message if one is missing, otherwise NULL. */
static char *find_columns(struct spans_table *t, sqlite3 *db, sqlite3_stmt **stmt) {
  char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", t->name);
  const int status = sql ? sqlite3_prepare_v2(db, sql, -1, stmt, NULL) : SQLITE_NOMEM;
  sqlite3_free(sql);
  if (status != SQLITE_OK) return sqlite3_mprintf("%s", sqlite3_errmsg(db));
  t->n = sqlite3_column_count(*stmt);
  t->ts = t->dur = t->part = -1;
  for (int i = 0; i < t->n; i++) {
    const char *name = sqlite3_column_name(*stmt, i);
    if (!name) return sqlite3_mprintf("out of memory");
    if (sqlite3_stricmp(name, "ts") == 0) t->ts = i;
    else if (sqlite3_stricmp(name, "dur") == 0) t->dur = i;
    else if (t->partition && sqlite3_stricmp(name, t->partition) == 0) t->part = i;
  }
  if (t->ts < 0 || t->dur < 0) return sqlite3_mprintf("table %s needs the columns ts and dur", t->name);
  return t->partition && t->part < 0 ? sqlite3_mprintf("table %s has no column %s", t->name, t->partition) : NULL;
}

/* Adds the columns that the join does not compute itself. */
static char *add_columns(struct spans_vtab *v, int side, sqlite3_stmt *stmt, sqlite3_str *schema) {
  const struct spans_table *t = &v->tables[side];
  struct spans_column *columns = sqlite3_realloc64(v->columns, ((sqlite3_uint64)v->n + (sqlite3_uint64)t->n + 3) * sizeof *columns);
  if (!columns) return sqlite3_mprintf("out of memory");
  v->columns = columns;
  for (int i = 0; i < t->n; i++) {
    const char *name = is_timed(t, i) ? NULL : sqlite3_column_name(stmt, i);
    if (!name) continue;
    sqlite3_str_appendf(schema, ", \"%w\"", name);
    columns[v->n++] = (struct spans_column){side, i};
  }
  return NULL;
}

/* Defines the table by the arguments of CREATE VIRTUAL TABLE. Returns an error message, or NULL on success. */
static char *define(struct spans_vtab *v, sqlite3 *db, int argc, const char *const *argv) {
  enum { FIRST = 3 };
  sqlite3_stmt *stmts[2] = {0};
  char *why = NULL;
  if (argc != FIRST + 2) return sqlite3_mprintf("%s: expected two tables", argv[0]);
  for (int i = 0; i < 2; i++)
    if (!read_table(&v->tables[i], argv[FIRST + i])) return sqlite3_mprintf("%s: expected TABLE or TABLE PARTITIONED COLUMN", argv[0]);
  const char *a = v->tables[0].partition, *b = v->tables[1].partition;
  if (a && b && sqlite3_stricmp(a, b) != 0) return sqlite3_mprintf("%s: the tables are partitioned by different columns", argv[0]);
  sqlite3_str *schema = sqlite3_str_new(db);
  v->parted = a || b;
  v->n = TIMED_COLUMNS + v->parted;
  sqlite3_str_appendall(schema, "CREATE TABLE x(ts INTEGER, dur INTEGER");
  if (v->parted) sqlite3_str_appendf(schema, ", \"%w\" INTEGER", a ? a : b);
  for (int i = 0; !why && i < 2; i++)
    if (!(why = find_columns(&v->tables[i], db, &stmts[i]))) why = add_columns(v, i, stmts[i], schema);
  sqlite3_str_appendall(schema, ")");
  for (int i = 0; i < 2; i++) sqlite3_finalize(stmts[i]);
  char *text = sqlite3_str_finish(schema);
  if (!why && !text) why = sqlite3_mprintf("out of memory");
  if (!why && sql_declare(db, text) != SQLITE_OK) why = sqlite3_mprintf("%s; rename it in a view", sqlite3_errmsg(db));
  sqlite3_free(text);
  return why;
}

static int spans_disconnect(sqlite3_vtab *vtab) {
  struct spans_vtab *v = (struct spans_vtab *)vtab;
  for (int i = 0; i < 2; i++) {
    sqlite3_free(v->tables[i].name);
    sqlite3_free(v->tables[i].partition);
  }
  sqlite3_free(v->columns);
  sqlite3_free(v);
  return SQLITE_OK;
}

static int spans_connect(sqlite3 *db, void *arg, int argc, const char *const *argv, sqlite3_vtab **vtab, char **why) {
  const struct spans_module *m = modules;
  while (sqlite3_stricmp(m->name, argv[0]) != 0) m++; /* argv[0] is always one of the registered names */
  struct spans_vtab *v = sqlite3_malloc(sizeof *v);
  if (!v) return SQLITE_NOMEM;
  *v = (struct spans_vtab){.sql = arg, .tables = {{.fills = m->fills[0]}, {.fills = m->fills[1]}}};
  *why = define(v, db, argc, argv);
  if (*why) {
    spans_disconnect(&v->base);
    return SQLITE_ERROR;
  }
  *vtab = &v->base;
  return SQLITE_OK;
}

/* Must differ from spans_connect: if xCreate and xConnect were the same function, SQLite would accept the module's name as a table. */
static int spans_create(sqlite3 *db, void *arg, int argc, const char *const *argv, sqlite3_vtab **vtab, char **why) {
  return spans_connect(db, arg, argc, argv, vtab, why);
}

/* ---- cursors ---- */

/* Rows are returned in the order of partition and start. Their number is unknown, so it is guessed; the cost covers reading both
 * tables. */
static int spans_plan(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  enum { ROWS = 100000 };
  const bool parted = ((const struct spans_vtab *)vtab)->parted;
  bool sorted = info->nOrderBy > 0 && info->nOrderBy <= 1 + parted;
  for (int i = 0; i < info->nOrderBy && sorted; i++) {
    const int column = parted ? (i == 0 ? TIMED_COLUMNS : 0) : 0;
    sorted = info->aOrderBy[i].iColumn == column && !info->aOrderBy[i].desc;
  }
  info->orderByConsumed = sorted;
  info->estimatedRows = ROWS;
  info->estimatedCost = 2 * ROWS;
  return SQLITE_OK;
}

static int spans_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor) {
  const struct spans_vtab *v = (const struct spans_vtab *)vtab;
  struct spans_cursor *c = sqlite3_malloc(sizeof *c);
  if (!c) return SQLITE_NOMEM;
  *c = (struct spans_cursor){.walk = {.db = v->sql->db, .sides = {{.table = &v->tables[0]}, {.table = &v->tables[1]}}}};
  *cursor = &c->base;
  return SQLITE_OK;
}

static int spans_close_cursor(sqlite3_vtab_cursor *cursor) {
  struct spans_cursor *c = (struct spans_cursor *)cursor;
  spans_close(&c->walk);
  sqlite3_free(c);
  return SQLITE_OK;
}

static int set_error(struct spans_vtab *v, int status, const char *why) {
  sqlite3_free(v->base.zErrMsg);
  v->base.zErrMsg = sqlite3_mprintf("%s", why);
  return status;
}

/* Runs a step of the walk. Its statements may read other span joins. */
static int advance(struct spans_cursor *c, int (*go)(struct spans_walk *)) {
  struct spans_vtab *v = (struct spans_vtab *)c->base.pVtab;
  struct tk_sql *s = v->sql;
  if (v->running) return set_error(v, SQLITE_ERROR, "the span join is defined by itself");
  if (s->n_spans == DEEPEST_SPANS) return set_error(v, SQLITE_ERROR, "too many span joins of span joins");
  v->running = true;
  s->n_spans++;
  const int status = go(&c->walk);
  s->n_spans--;
  v->running = false;
  if (status == SQLITE_MISMATCH) return set_error(v, SQLITE_ERROR, "the partition of a span join must be an integer");
  if (status == SQLITE_SCHEMA) return set_error(v, SQLITE_ERROR, "a table of the span join has changed");
  return status == SQLITE_OK ? status : set_error(v, status, sqlite3_errmsg(s->db));
}

static int spans_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc, sqlite3_value **argv) {
  struct spans_cursor *c = (struct spans_cursor *)cursor;
  (void)plan, (void)text, (void)argc, (void)argv;
  c->row = 0;
  return advance(c, spans_begin);
}

static int spans_step(sqlite3_vtab_cursor *cursor) {
  struct spans_cursor *c = (struct spans_cursor *)cursor;
  c->row++;
  return advance(c, spans_next);
}

static int spans_eof(sqlite3_vtab_cursor *cursor) { return ((struct spans_cursor *)cursor)->walk.end; }

static int spans_value(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int column) {
  const struct spans_cursor *c = (const struct spans_cursor *)cursor;
  const struct spans_vtab *v = (const struct spans_vtab *)cursor->pVtab;
  const struct spans_walk *w = &c->walk;
  if (column == 0) sqlite3_result_int64(out, spans_start(w));
  else if (column == 1) sqlite3_result_int64(out, spans_duration(w));
  else if (column == TIMED_COLUMNS && v->parted) sqlite3_result_int64(out, w->part);
  else {
    const struct spans_side *side = &w->sides[v->columns[column].side];
    if (!side->gap) sqlite3_result_value(out, sqlite3_column_value(side->stmt, v->columns[column].at));
  }
  return SQLITE_OK;
}

static int spans_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id) {
  *id = ((const struct spans_cursor *)cursor)->row;
  return SQLITE_OK;
}

bool sql_register_spans(struct tk_sql *s) {
  static const sqlite3_module module = {
      .xCreate = spans_create,     .xConnect = spans_connect, .xBestIndex = spans_plan, .xDisconnect = spans_disconnect,
      .xDestroy = spans_disconnect, .xOpen = spans_open,      .xClose = spans_close_cursor, .xFilter = spans_filter,
      .xNext = spans_step,         .xEof = spans_eof,         .xColumn = spans_value,   .xRowid = spans_rowid,
  };
  bool ok = true;
  for (int i = 0; ok && i < MODULES; i++) ok = sqlite3_create_module(s->db, modules[i].name, &module, s) == SQLITE_OK;
  return ok;
}
