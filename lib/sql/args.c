/* args.c - the table of args, and EXTRACT_ARG.
 *
 * The cursor contains the rows of one arg set at a time. Looking up a set takes time proportional to its size; a full scan
 * builds one set after the other. */
#include <string.h>

#include "args.h"
#include "argsets.h"
#include "base/text.h"
#include "samples.h"
#include "table.h"

enum { SET_SHIFT = 20, COLUMN_SET = 1, COLUMN_FLAT = 2, COLUMN_KEY = 3 };

struct held_row {
  struct arg_row row;   /* `row.text` is an offset into the cursor's buffer */
  size_t key, flat, text;
};

struct args_cursor {
  sqlite3_vtab_cursor base;
  struct tk_sql *sql;
  uint64_t set, last;
  struct held_row *rows;
  uint32_t n, cap, at;
  struct buf texts;
  char *key, *flat; /* wanted key; NULL = any */
  bool failed;
};

struct args_vtab {
  sqlite3_vtab base;
  struct tk_sql *sql;
};

static bool hold(void *arg, const struct arg_row *row) {
  struct args_cursor *c = arg;
  struct mem *mem = &c->sql->mem;
  if ((c->key && strcmp(c->key, row->key) != 0) || (c->flat && strcmp(c->flat, row->flat) != 0)) return true;
  struct held_row held = {.row = *row, .key = c->texts.len};
  buf_append(&c->texts, row->key, row->key_n + 1);
  held.flat = c->texts.len;
  buf_append(&c->texts, row->flat, row->flat_n + 1);
  held.text = c->texts.len;
  if (!row->lasting && row->text) buf_append(&c->texts, row->text, row->text_n);
  if (!mem_grow(mem, (void **)&c->rows, &c->cap, (uint64_t)c->n + 1, sizeof *c->rows)) {
    c->failed = true;
    return false;
  }
  c->rows[c->n++] = held;
  return true;
}

/* Loads the next set that has rows, beginning with c->set. */
static int load(struct args_cursor *c) {
  for (; c->set <= c->last; c->set++) {
    c->n = c->at = 0;
    c->texts.len = 0;
    if (!argset_each(c->sql, c->set, hold, c) || c->failed) return SQLITE_NOMEM;
    if (c->n) return SQLITE_OK;
  }
  c->n = c->at = 0;
  return SQLITE_OK;
}

static int args_next(sqlite3_vtab_cursor *cursor) {
  struct args_cursor *c = (struct args_cursor *)cursor;
  if (++c->at < c->n) return SQLITE_OK;
  c->set++;
  return load(c);
}

/* ---- plans: bits for the values passed to the cursor, in this order ---- */

enum { BY_SET = 1, BY_KEY = 2, BY_FLAT = 4 };

static int args_plan(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  static const int COLUMNS[] = {COLUMN_SET, COLUMN_KEY, COLUMN_FLAT};
  const struct tk_sql *s = ((const struct args_vtab *)vtab)->sql;
  int n = 0;
  info->idxNum = 0;
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < info->nConstraint; i++) {
      if (!info->aConstraint[i].usable || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
      if (info->aConstraint[i].iColumn != COLUMNS[k] || info->idxNum & 1 << k) continue;
      info->aConstraintUsage[i].argvIndex = ++n;
      info->idxNum |= 1 << k;
    }
  const double rows = info->idxNum & BY_SET ? 20 : 20.0 * s->t->n_events + 20;
  info->estimatedRows = (sqlite3_int64)(info->idxNum & (BY_KEY | BY_FLAT) ? rows / 20 : rows);
  info->estimatedCost = rows * 4;
  return SQLITE_OK;
}

static bool take_text(char **to, sqlite3_value *v) {
  sqlite3_free(*to);
  *to = sqlite3_value_type(v) == SQLITE_TEXT ? sqlite3_mprintf("%s", sqlite3_value_text(v)) : NULL;
  return *to || sqlite3_value_type(v) != SQLITE_TEXT;
}

static int args_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc, sqlite3_value **argv) {
  struct args_cursor *c = (struct args_cursor *)cursor;
  int i = 0;
  (void)text, (void)argc;
  if (!sql_flows(c->sql)) return SQLITE_NOMEM;
  c->set = 1;
  c->last = argset_last(c->sql);
  sqlite3_free(c->key);
  sqlite3_free(c->flat);
  c->key = c->flat = NULL;
  if (plan & BY_SET) {
    const int64_t set = sqlite3_value_int64(argv[i]);
    const bool known = sqlite3_value_type(argv[i++]) != SQLITE_NULL && set > 0 && (uint64_t)set <= c->last;
    c->set = known ? (uint64_t)set : 1;
    c->last = known ? c->set : 0;
  }
  if (plan & BY_KEY && !take_text(&c->key, argv[i++])) return SQLITE_NOMEM;
  if (plan & BY_FLAT && !take_text(&c->flat, argv[i++])) return SQLITE_NOMEM;
  return load(c);
}

/* ---- columns ---- */

static void display(sqlite3_context *out, const struct arg_row *row) {
  char text[64];
  if (row->is == ARG_IS_BOOL) sqlite3_result_text(out, row->i ? "true" : "false", -1, SQLITE_STATIC);
  else if (row->is == ARG_IS_POINTER) sqlite3_snprintf(sizeof text, text, "0x%llx", row->i);
  else if (row->is == ARG_IS_REAL) sqlite3_snprintf(sizeof text, text, "%!.15g", row->d);
  else sqlite3_snprintf(sizeof text, text, "%lld", row->i);
  if (row->is != ARG_IS_BOOL) sqlite3_result_text(out, text, -1, SQLITE_TRANSIENT);
}

static void string_of(const struct args_cursor *c, const struct held_row *held, sqlite3_context *out) {
  const struct arg_row *row = &held->row;
  if (!row->text) return;
  if (row->lasting) sqlite3_result_text(out, row->text, (int)row->text_n, SQLITE_STATIC);
  else sqlite3_result_text(out, (const char *)c->texts.data + held->text, (int)row->text_n, SQLITE_TRANSIENT);
}

static int args_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int column) {
  static const char *const TYPES[] = {"int", "uint", "bool", "real", "string", "pointer"};
  const struct args_cursor *c = (const struct args_cursor *)cursor;
  const struct held_row *held = &c->rows[c->at];
  const struct arg_row *row = &held->row;
  switch (column) {
  case 0: sqlite3_result_int64(out, (sqlite3_int64)(c->set << SET_SHIFT | c->at)); break;
  case COLUMN_SET: sqlite3_result_int64(out, (sqlite3_int64)c->set); break;
  case COLUMN_FLAT: sqlite3_result_text(out, (const char *)c->texts.data + held->flat, (int)row->flat_n, SQLITE_TRANSIENT); break;
  case COLUMN_KEY: sqlite3_result_text(out, (const char *)c->texts.data + held->key, (int)row->key_n, SQLITE_TRANSIENT); break;
  case 4:
    if (row->is != ARG_IS_REAL && row->is != ARG_IS_STRING) sqlite3_result_int64(out, row->i);
    break;
  case 5:
    if (row->is == ARG_IS_STRING) string_of(c, held, out);
    break;
  case 6:
    if (row->is == ARG_IS_REAL) sqlite3_result_double(out, row->d);
    break;
  case 7: sqlite3_result_text(out, TYPES[row->is], -1, SQLITE_STATIC); break;
  default:
    if (row->is == ARG_IS_STRING) string_of(c, held, out);
    else display(out, row);
  }
  return SQLITE_OK;
}

static int args_eof(sqlite3_vtab_cursor *cursor) {
  const struct args_cursor *c = (const struct args_cursor *)cursor;
  return c->at >= c->n;
}

static int args_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id) {
  const struct args_cursor *c = (const struct args_cursor *)cursor;
  *id = (sqlite3_int64)(c->set << SET_SHIFT | c->at);
  return SQLITE_OK;
}

static int args_connect(sqlite3 *db, void *arg, int argc, const char *const *argv, sqlite3_vtab **vtab, char **why) {
  (void)argc, (void)argv, (void)why;
  int status = sql_declare(db, "CREATE TABLE x(id INTEGER, arg_set_id INTEGER, flat_key TEXT, key TEXT, int_value INTEGER, "
                               "string_value TEXT, real_value DOUBLE, value_type TEXT, display_value TEXT)");
  struct args_vtab *v = status == SQLITE_OK ? sqlite3_malloc(sizeof *v) : NULL;
  if (!v) return status == SQLITE_OK ? SQLITE_NOMEM : status;
  *v = (struct args_vtab){.sql = arg};
  *vtab = &v->base;
  return SQLITE_OK;
}

static int args_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor) {
  struct args_cursor *c = sqlite3_malloc(sizeof *c);
  if (!c) return SQLITE_NOMEM;
  *c = (struct args_cursor){.sql = ((const struct args_vtab *)vtab)->sql};
  c->texts.mem = &c->sql->mem;
  *cursor = &c->base;
  return SQLITE_OK;
}

static int args_close(sqlite3_vtab_cursor *cursor) {
  struct args_cursor *c = (struct args_cursor *)cursor;
  mem_free(&c->sql->mem, c->rows);
  buf_free(&c->texts);
  sqlite3_free(c->key);
  sqlite3_free(c->flat);
  sqlite3_free(c);
  return SQLITE_OK;
}

/* ---- EXTRACT_ARG(arg_set_id, 'args.key') ---- */

static void result_of(sqlite3_context *out, const struct arg_row *row) {
  if (row->is == ARG_IS_REAL) sqlite3_result_double(out, row->d);
  else if (row->is != ARG_IS_STRING) sqlite3_result_int64(out, row->i);
  else if (row->text) sqlite3_result_text(out, row->text, (int)row->text_n, row->lasting ? SQLITE_STATIC : SQLITE_TRANSIENT);
}

struct wanted {
  sqlite3_context *out;
  const char *key;
};

static bool args_is_wanted(void *arg, const struct arg_row *row) {
  const struct wanted *w = arg;
  if (strcmp(w->key, row->key) != 0) return true;
  result_of(w->out, row);
  return false;
}

/* Returns a key without the prefix "debug." (Perfetto args) or "args." (JSON args); queries may use either prefix for any
 * trace. */
static const char *bare(const char *key) {
  static const char *const PREFIXES[] = {"args.", "debug."};
  for (size_t i = 0; i < 2; i++)
    if (text_begins(key, PREFIXES[i])) return key + strlen(PREFIXES[i]);
  return NULL;
}

struct extracted {
  tk_id keys[2];
  bool nested; /* true if the value may be nested in an arg, or if the key may be spelled differently in the trace */
  char key[];  /* key with the prefix of this trace */
};

static struct extracted *understand(const struct tk_sql *s, const char *key) {
  const char *less = bare(key), *prefix = !less ? "" : s->times.exact ? "debug." : "args.";
  const size_t n = strlen(less ? less : key);
  struct extracted *x = sqlite3_malloc64(sizeof *x + n + 16);
  char *end = sqlite3_mprintf("%s%s", tk_string(s->t, KEY_OF_END, NULL), less ? less : key);
  if (x && end) {
    const struct intern *strings = &s->t->store->strings;
    *x = (struct extracted){.nested = !less || strpbrk(less, s->times.exact ? ".[_" : ".["),
                            .keys = {less ? intern_id(strings, end, strlen(end)) : 0, less ? intern_id(strings, less, n) : 0}};
    memcpy(x->key, prefix, strlen(prefix));
    memcpy(x->key + strlen(prefix), less ? less : key, n + 1);
  }
  sqlite3_free(end);
  return x;
}

static void extract_arg(sqlite3_context *out, int argc, sqlite3_value **argv) {
  struct tk_sql *s = sqlite3_user_data(out);
  const char *key = (const char *)sqlite3_value_text(argv[1]);
  const int64_t set = sqlite3_value_int64(argv[0]);
  struct extracted *x = sqlite3_get_auxdata(out, 1), *made = NULL;
  struct arg_row row = {0};
  (void)argc;
  if (!key || sqlite3_value_type(argv[0]) == SQLITE_NULL || set <= 0) return;
  if (!sql_flows(s)) return sqlite3_result_error_nomem(out);
  if ((uint64_t)set > argset_last(s)) return;
  if (!x) x = made = understand(s, key);
  if (!x) return sqlite3_result_error_nomem(out);
  struct wanted wanted = {out, x->key};
  const bool of_event = (uint64_t)set <= s->t->n_events;
  bool by_row = false;
  if (of_event && argset_plain(s, (tk_id)set, x->keys, &row, &by_row)) result_of(out, &row);
  else if (!of_event || x->nested || by_row) argset_each(s, (uint64_t)set, args_is_wanted, &wanted);
  if (made) sqlite3_set_auxdata(out, 1, made, sqlite3_free);
}

bool sql_register_args(struct tk_sql *s) {
  static const sqlite3_module module = {
      .xConnect = args_connect, .xBestIndex = args_plan, .xDisconnect = sql_disconnect, .xOpen = args_open,
      .xClose = args_close,     .xFilter = args_filter,  .xNext = args_next,             .xEof = args_eof,
      .xColumn = args_column,   .xRowid = args_rowid,
  };
  return sql_add_table(s, "args", &module, s, NULL) &&
         sql_add_function(s, "extract_arg", 2, 0, s, extract_arg);
}
