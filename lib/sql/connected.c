/* connected.c - directly_connected_flow(ID), preceding_flow(ID) and following_flow(ID): rows of `flow` reachable from a slice,
 * as defined by Perfetto's trace_processor.
 *
 *     directly_connected_flow   backward along incoming flows, forward along outgoing flows, never changing direction
 *     preceding_flow            only backward, also from the ancestors of each slice
 *     following_flow            only forward, also from the descendants of each slice
 *
 * The search is breadth-first and visits each slice and flow once, so that its cost is proportional to the result. */
#include "connected.h"
#include "table.h"
#include "tables.h"
#include "relatives.h"

enum { START = 5 }; /* number of the hidden column, which follows the columns of `flow` */

struct connected {
  const char *name;
  bool back, on, above, below;
};

static const struct connected KINDS[] = {
    {"directly_connected_flow", true, true, false, false},
    {"preceding_flow", true, false, true, false},
    {"following_flow", false, true, false, true},
};

struct connected_vtab {
  sqlite3_vtab base;
  struct tk_sql *sql;
  const struct connected *kind;
};

/* Direction in which flows led to a slice: WAY_BACK along incoming flows, WAY_ON along outgoing flows, WAY_ANY if the slice
 * was reached otherwise. The search keeps the direction. */
enum way { WAY_ANY, WAY_BACK, WAY_ON };

struct visit {
  tk_id slice;
  enum way way;
  bool related; /* reached as an ancestor or descendant, whose own relatives are not visited */
};

struct connected_cursor {
  sqlite3_vtab_cursor base;
  struct tk_sql *sql;
  const struct connected *kind;
  struct map seen; /* visited slices */
  struct visit *visits;
  uint32_t *flows; /* indices of the rows found */
  uint32_t n_visits, cap_visits, n_flows, cap_flows, at;
  tk_id start;
};

/* ---- the walk ---- */

static void visit(struct connected_cursor *c, tk_id slice, enum way way, bool related) {
  struct mem *mem = &c->sql->mem;
  uint32_t *known = map_put(&c->seen, slice, 0);
  if (!known || (*known)++) return;
  if (mem_grow(mem, (void **)&c->visits, &c->cap_visits, (uint64_t)c->n_visits + 1, sizeof *c->visits))
    c->visits[c->n_visits++] = (struct visit){slice, way, related};
}

static bool go_by_flows(struct connected_cursor *c, tk_id slice, enum way way) {
  struct tk_sql *s = c->sql;
  const struct row_index *index = table_index(s, sql_flow_table(), way == WAY_ON ? 1 : 2);
  uint32_t from, to;
  if (!index) return false;
  table_find(index, slice, &from, &to);
  for (; from < to; from++) {
    const uint32_t row = index->keys[from].row;
    if (!mem_grow(&s->mem, (void **)&c->flows, &c->cap_flows, (uint64_t)c->n_flows + 1, sizeof *c->flows)) return false;
    c->flows[c->n_flows++] = row;
    visit(c, way == WAY_ON ? s->flows[row].in : s->flows[row].out, way, false);
  }
  return true;
}

static void go_to_relatives(struct connected_cursor *c, tk_id slice) {
  const struct tk_sql *s = c->sql;
  for (tk_id up = slice; c->kind->above && (up = s->parents[up]) != 0;) visit(c, up, WAY_ANY, true);
  if (!c->kind->below) return;
  const struct below b = sql_below(s, slice);
  for (tk_id i = b.first; i < b.end; i++)
    if (is_below(s, &b, i)) visit(c, i, WAY_ANY, true);
}

static bool walk(struct connected_cursor *c) {
  const struct connected *kind = c->kind;
  struct tk_sql *s = c->sql;
  if (!sql_parents(s)) return false;
  visit(c, c->start, WAY_ANY, false);
  for (uint32_t i = 0; i < c->n_visits; i++) {
    const struct visit v = c->visits[i];
    if (kind->back && v.way != WAY_ON && !go_by_flows(c, v.slice, WAY_BACK)) return false;
    if (kind->on && v.way != WAY_BACK && !go_by_flows(c, v.slice, WAY_ON)) return false;
    if (!v.related) go_to_relatives(c, v.slice);
  }
  return !s->mem.failed;
}

/* ---- the virtual table ---- */

static int connected_connect(sqlite3 *db, void *arg, int argc, const char *const *argv, sqlite3_vtab **vtab, char **why) {
  static const char SCHEMA[] = "CREATE TABLE x(id INTEGER, slice_out INTEGER, slice_in INTEGER, trace_id INTEGER, arg_set_id INTEGER, "
                               "start_id HIDDEN)";
  const struct connected *kind = KINDS;
  (void)argc, (void)why;
  while (sqlite3_stricmp(kind->name, argv[0]) != 0) kind++; /* argv[0] is always one of the registered names */
  struct connected_vtab *v = sqlite3_malloc(sizeof *v);
  int status = v ? sql_declare(db, SCHEMA) : SQLITE_NOMEM;
  if (status != SQLITE_OK) {
    sqlite3_free(v);
    return status;
  }
  *v = (struct connected_vtab){.sql = arg, .kind = kind};
  *vtab = &v->base;
  return SQLITE_OK;
}

static int connected_plan(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  (void)vtab;
  for (int i = 0; i < info->nConstraint; i++) {
    if (info->aConstraint[i].iColumn != START || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (!info->aConstraint[i].usable) return SQLITE_CONSTRAINT;
    info->aConstraintUsage[i].argvIndex = 1;
    info->aConstraintUsage[i].omit = 1;
    info->idxNum = 1;
    info->estimatedCost = 20;
    info->estimatedRows = 5;
    return SQLITE_OK;
  }
  return SQLITE_CONSTRAINT; /* the query does not name the slice */
}

static int connected_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor) {
  const struct connected_vtab *v = (const struct connected_vtab *)vtab;
  struct connected_cursor *c = sqlite3_malloc(sizeof *c);
  if (!c) return SQLITE_NOMEM;
  *c = (struct connected_cursor){.sql = v->sql, .kind = v->kind};
  map_init(&c->seen, &v->sql->mem);
  *cursor = &c->base;
  return SQLITE_OK;
}

static void forget(struct connected_cursor *c) {
  map_free(&c->seen);
  map_init(&c->seen, &c->sql->mem);
  c->n_visits = c->n_flows = c->at = 0;
}

static int connected_close(sqlite3_vtab_cursor *cursor) {
  struct connected_cursor *c = (struct connected_cursor *)cursor;
  map_free(&c->seen);
  mem_free(&c->sql->mem, c->visits);
  mem_free(&c->sql->mem, c->flows);
  sqlite3_free(c);
  return SQLITE_OK;
}

static int connected_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc, sqlite3_value **argv) {
  struct connected_cursor *c = (struct connected_cursor *)cursor;
  (void)plan, (void)text;
  forget(c);
  const int64_t id = argc ? sqlite3_value_int64(argv[0]) : 0;
  if (!argc || sqlite3_value_type(argv[0]) == SQLITE_NULL || id < 1 || id > c->sql->t->n_events) return SQLITE_OK;
  if (!is_slice(&c->sql->t->events[id])) return SQLITE_OK;
  c->start = (tk_id)id;
  return walk(c) ? SQLITE_OK : SQLITE_NOMEM;
}

static int connected_next(sqlite3_vtab_cursor *cursor) {
  ((struct connected_cursor *)cursor)->at++;
  return SQLITE_OK;
}

static int connected_eof(sqlite3_vtab_cursor *cursor) {
  const struct connected_cursor *c = (const struct connected_cursor *)cursor;
  return c->at >= c->n_flows;
}

static int connected_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int column) {
  const struct connected_cursor *c = (const struct connected_cursor *)cursor;
  if (column == 0) {
    sqlite3_result_int64(out, c->flows[c->at]);
    return SQLITE_OK;
  }
  if (column == START) {
    sqlite3_result_int64(out, c->start);
    return SQLITE_OK;
  }
  return sql_flow_table()->value(c->sql, c->flows[c->at], column, out);
}

static int connected_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id) {
  *id = ((const struct connected_cursor *)cursor)->at;
  return SQLITE_OK;
}

bool sql_register_connected(struct tk_sql *s) {
  static const sqlite3_module module = {
      .xConnect = connected_connect, .xBestIndex = connected_plan,     .xDisconnect = sql_disconnect, .xOpen = connected_open,
      .xClose = connected_close,     .xFilter = connected_filter,      .xNext = connected_next,             .xEof = connected_eof,
      .xColumn = connected_column,   .xRowid = connected_rowid,
  };
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof KINDS / sizeof *KINDS; i++) ok = sql_add_table(s, KINDS[i].name, &module, s, NULL);
  return ok;
}
