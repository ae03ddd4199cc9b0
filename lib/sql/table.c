/* table.c - see table.h. */
#include "table.h"

#include <stdlib.h>
#include <string.h>

struct table_vtab {
  sqlite3_vtab base;
  struct tk_sql *sql;
  const struct table *table;
};

struct table_cursor {
  sqlite3_vtab_cursor base;
  struct tk_sql *sql;
  const struct table *table;
  const struct row_key *keys; /* NULL = the row numbers themselves */
  uint32_t at, end;
  bool keyed, down; /* keyed: all visited rows have the same key; down: rows are visited from the end */
};

/* ---- orders of keys ---- */

static int by_key(const void *a, const void *b) {
  const struct row_key *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

static bool number_rows(struct tk_sql *s, const struct table *table, uint32_t *n) {
  *n = 1;
  return !table->rows || table->rows(s, n);
}

static void fill_index(const struct tk_sql *s, struct row_index *index, uint32_t n) {
  bool sorted = true;
  for (uint32_t i = 0; i < n; i++) {
    int64_t key;
    if (index->table->has && !index->table->has(s, i)) continue;
    if (!index->table->key(s, i, index->column, &key)) continue;
    sorted &= index->n == 0 || index->keys[index->n - 1].key <= key;
    index->keys[index->n++] = (struct row_key){key, i};
  }
  if (!sorted) qsort(index->keys, index->n, sizeof *index->keys, by_key);
}

const struct row_index *table_index(struct tk_sql *s, const struct table *table, int column) {
  struct row_index *index = s->indices;
  uint32_t n;
  while (index && (index->table != table || index->column != column)) index = index->next;
  if (index) return index;
  if (!number_rows(s, table, &n)) return NULL;
  index = mem_alloc(&s->mem, sizeof *index);
  struct row_key *keys = mem_array(&s->mem, (uint64_t)n + 1, sizeof *keys);
  if (!index || !keys) {
    mem_free(&s->mem, index);
    mem_free(&s->mem, keys);
    return NULL;
  }
  *index = (struct row_index){.table = table, .column = column, .keys = keys, .next = s->indices};
  fill_index(s, index, n);
  return s->indices = index;
}

void table_free_indices(struct tk_sql *s) {
  while (s->indices) {
    struct row_index *next = s->indices->next;
    mem_free(&s->mem, s->indices->keys);
    mem_free(&s->mem, s->indices);
    s->indices = next;
  }
}

static uint32_t lower_bound(const struct row_index *index, int64_t key, bool behind) {
  uint32_t from = 0, to = index->n;
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    if (index->keys[middle].key < key || (behind && index->keys[middle].key == key)) from = middle + 1;
    else to = middle;
  }
  return from;
}

void table_find(const struct row_index *index, int64_t key, uint32_t *from, uint32_t *to) {
  *from = lower_bound(index, key, false);
  *to = lower_bound(index, key, true);
}

/* ---- plans: 1 + column whose index is used, 0 = none; flags for the order of rows and the meaning of the values ---- */

enum {
  PLAN_COLUMN = 255,
  PLAN_ID = 256,    /* the value is an id */
  PLAN_KEY = 512,   /* the first value is a key of the index */
  PLAN_LOW = 1024,  /* the next value is the lower bound of times */
  PLAN_HIGH = 2048, /* the next value is the upper bound of times */
  PLAN_DOWN = 4096  /* rows are visited backwards */
};

static int cost_of(const struct table *table, int column) {
  if (column < 0 || column > 31) return 0;
  return table->ids >> column & 1 ? 1 : table->keys >> column & 1 ? 10 : 0;
}

static bool is_low(unsigned op) { return op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT; }
static bool is_high(unsigned op) { return op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT; }

/* Finds the first condition on the time column whose operator passes `fits`, and uses its value as a bound. Returns false if there is
 * none. Bounds are inclusive, because SQLite checks the condition again. */
static bool take_bound(const struct table *table, sqlite3_index_info *info, bool (*fits)(unsigned), int *values) {
  for (int i = 0; i < info->nConstraint; i++) {
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    if (!table->time || c->iColumn != table->time || !c->usable || !fits(c->op)) continue;
    info->aConstraintUsage[i].argvIndex = ++*values;
    return true;
  }
  return false;
}

/* If the query restricts or sorts times, plans to visit rows in the order of their times: all rows, or only the rows with
 * the key. */
static void plan_times(const struct table *table, sqlite3_index_info *info, uint32_t n, int values) {
  const bool keyed = info->idxNum & PLAN_KEY, sorts = info->nOrderBy == 1 && info->aOrderBy[0].iColumn == table->time;
  if (!table->time || (keyed && !(table->timed >> ((info->idxNum & PLAN_COLUMN) - 1) & 1))) return;
  const bool low = take_bound(table, info, is_low, &values), high = take_bound(table, info, is_high, &values);
  if (!low && !high && !sorts) return;
  if (!keyed) info->idxNum = table->time + 1;
  info->idxNum |= (low ? PLAN_LOW : 0) | (high ? PLAN_HIGH : 0) | (sorts && info->aOrderBy[0].desc ? PLAN_DOWN : 0);
  info->orderByConsumed = sorts;
  if (keyed) return;
  const uint32_t share = low && high ? n / 64 : low || high ? n / 4 : n;
  info->estimatedRows = share + 1;
  info->estimatedCost = share + 10;
}

static int table_plan(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  const struct table_vtab *v = (const struct table_vtab *)vtab;
  uint32_t n;
  int best = -1;
  if (!number_rows(v->sql, v->table, &n)) return SQLITE_NOMEM;
  for (int i = 0; i < info->nConstraint; i++) {
    int cost = cost_of(v->table, info->aConstraint[i].iColumn);
    if (!cost || !info->aConstraint[i].usable || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (best < 0 || cost < cost_of(v->table, info->aConstraint[best].iColumn)) best = i;
  }
  info->idxNum = 0;
  info->estimatedRows = n;
  info->estimatedCost = n + 1;
  if (best < 0) {
    plan_times(v->table, info, n, 0);
    return SQLITE_OK;
  }
  const int column = info->aConstraint[best].iColumn, cost = cost_of(v->table, column);
  info->aConstraintUsage[best].argvIndex = 1;
  info->idxNum = (column + 1) | (cost == 1 ? PLAN_ID : PLAN_KEY);
  if (cost == 1) info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  info->estimatedRows = cost == 1 ? 1 : 5;
  info->estimatedCost = cost * 2;
  if (cost > 1) plan_times(v->table, info, n, 1);
  return SQLITE_OK;
}

/* ---- cursors ---- */

static void skip(struct table_cursor *c) {
  if (c->keys || !c->table->has) return;
  while (c->at < c->end && !c->table->has(c->sql, c->at)) c->at++;
}

static void seek_id(struct table_cursor *c, sqlite3_value *v, uint32_t n) {
  const int64_t row = sqlite3_value_int64(v) - c->table->base;
  c->at = row >= 0 && row < n ? (uint32_t)row : 0;
  c->end = row >= 0 && row < n ? c->at + 1 : 0;
}

/* Returns the first row of [from, to) at or after a time; with `behind`, after it. */
static uint32_t first_time(const struct table_cursor *c, uint32_t from, uint32_t to, double time, bool behind) {
  while (from < to) {
    const uint32_t middle = from + (to - from) / 2;
    int64_t at = c->keys[middle].key;
    if (c->keyed) c->table->key(c->sql, c->keys[middle].row, c->table->time, &at);
    if ((double)at < time || (behind && (double)at <= time)) from = middle + 1;
    else to = middle;
  }
  return from;
}

/* Narrows the rows to times up to the value (`high`), or from the value on. Numbers are compared as doubles, so the range may be too
 * large but not too small. Text does not narrow the range, because SQLite checks the condition again. */
static void narrow(struct table_cursor *c, sqlite3_value *v, bool high) {
  const int type = sqlite3_value_numeric_type(v);
  if (type == SQLITE_NULL) c->end = c->at;
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
  const double time = sqlite3_value_double(v);
  if (high) c->end = first_time(c, c->at, c->end, time, true);
  else c->at = first_time(c, c->at, c->end, time, false);
}

static int seek(struct table_cursor *c, int plan, sqlite3_value **argv) {
  const struct row_index *index = table_index(c->sql, c->table, (plan & PLAN_COLUMN) - 1);
  if (!index) return SQLITE_NOMEM;
  c->keys = index->keys;
  c->end = index->n;
  c->keyed = plan & PLAN_KEY;
  if (c->keyed) {
    table_find(index, sqlite3_value_int64(*argv), &c->at, &c->end);
    if (sqlite3_value_type(*argv++) == SQLITE_NULL) c->end = c->at;
  }
  if (plan & PLAN_LOW) narrow(c, *argv++, false);
  if (plan & PLAN_HIGH) narrow(c, *argv, true);
  c->down = plan & PLAN_DOWN;
  return SQLITE_OK;
}

static int table_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc, sqlite3_value **argv) {
  struct table_cursor *c = (struct table_cursor *)cursor;
  uint32_t n;
  (void)text;
  if (!number_rows(c->sql, c->table, &n)) return SQLITE_NOMEM;
  c->keys = NULL;
  c->at = 0;
  c->end = n;
  c->down = false;
  int status = SQLITE_OK;
  if (plan & PLAN_ID && sqlite3_value_type(argv[0]) == SQLITE_NULL) c->end = 0;
  else if (plan & PLAN_ID) seek_id(c, argv[0], n);
  else if (plan) status = seek(c, plan, argv);
  (void)argc;
  skip(c);
  return status;
}

static int table_next(sqlite3_vtab_cursor *cursor) {
  struct table_cursor *c = (struct table_cursor *)cursor;
  if (c->down) c->end--;
  else c->at++;
  skip(c);
  return SQLITE_OK;
}

static int table_eof(sqlite3_vtab_cursor *cursor) {
  const struct table_cursor *c = (const struct table_cursor *)cursor;
  return c->at >= c->end;
}

static uint32_t table_row_of(const struct table_cursor *c) {
  return c->keys ? c->keys[c->down ? c->end - 1 : c->at].row : c->at;
}

static int table_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int column) {
  const struct table_cursor *c = (const struct table_cursor *)cursor;
  const uint32_t row = table_row_of(c);
  if (column < 32 && c->table->ids >> column & 1) {
    sqlite3_result_int64(out, (sqlite3_int64)row + c->table->base);
    return SQLITE_OK;
  }
  return c->table->value(c->sql, row, column, out);
}

static int table_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id) {
  *id = table_row_of((const struct table_cursor *)cursor);
  return SQLITE_OK;
}

static int table_connect(sqlite3 *db, void *arg, int argc, const char *const *argv, sqlite3_vtab **vtab, char **why) {
  const struct table_vtab *made = arg;
  (void)argc, (void)argv, (void)why;
  char *schema = sqlite3_mprintf("CREATE TABLE x(%s)", made->table->schema);
  struct table_vtab *v = sqlite3_malloc(sizeof *v);
  int status = schema && v ? sql_declare(db, schema) : SQLITE_NOMEM;
  sqlite3_free(schema);
  if (status != SQLITE_OK) {
    sqlite3_free(v);
    return status;
  }
  *v = *made;
  *vtab = &v->base;
  return SQLITE_OK;
}

static int table_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor) {
  const struct table_vtab *v = (const struct table_vtab *)vtab;
  struct table_cursor *c = sqlite3_malloc(sizeof *c);
  if (!c) return SQLITE_NOMEM;
  *c = (struct table_cursor){.sql = v->sql, .table = v->table};
  *cursor = &c->base;
  return SQLITE_OK;
}

static int table_close(sqlite3_vtab_cursor *cursor) {
  sqlite3_free(cursor);
  return SQLITE_OK;
}

bool sql_add_table(struct tk_sql *s, const char *name, const sqlite3_module *module, void *arg, void (*drop)(void *)) {
  if (!mem_grow(&s->mem, (void **)&s->table_names, &s->cap_table_names, (uint64_t)s->n_table_names + 1, sizeof *s->table_names))
    return false;
  s->table_names[s->n_table_names++] = name;
  return sqlite3_create_module_v2(s->db, name, module, arg, drop) == SQLITE_OK;
}

bool sql_add_function(struct tk_sql *s, const char *name, int args, int flags, void *arg,
                      void (*call)(sqlite3_context *, int, sqlite3_value **)) {
  return sqlite3_create_function(s->db, name, args, SQLITE_UTF8 | SQLITE_INNOCUOUS | flags, arg, call, NULL, NULL) == SQLITE_OK;
}

int sql_declare(sqlite3 *db, const char *schema) {
  const int status = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  return status == SQLITE_OK ? sqlite3_declare_vtab(db, schema) : status;
}

bool table_register(struct tk_sql *s, const struct table *table) {
  static const sqlite3_module module = {
      .xConnect = table_connect, .xBestIndex = table_plan, .xDisconnect = sql_disconnect, .xOpen = table_open,
      .xClose = table_close,     .xFilter = table_filter,  .xNext = table_next,             .xEof = table_eof,
      .xColumn = table_column,   .xRowid = table_rowid,
  };
  struct table_vtab *made = sqlite3_malloc(sizeof *made);
  if (!made) return false;
  *made = (struct table_vtab){.sql = s, .table = table};
  return sql_add_table(s, table->name, &module, made, sqlite3_free);
}
