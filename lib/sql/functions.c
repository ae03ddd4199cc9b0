/* functions.c - SQL functions that queries on Perfetto's tables use. */
#include <string.h>

#include "functions.h"
#include "sql.h"
#include "views.h"
#include "table.h"
#include "relatives.h"

static void slice_is_ancestor(sqlite3_context *out, int argc, sqlite3_value **argv) {
  struct tk_sql *s = sqlite3_user_data(out);
  const int64_t above = sqlite3_value_int64(argv[0]), below = sqlite3_value_int64(argv[1]);
  (void)argc;
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL || sqlite3_value_type(argv[1]) == SQLITE_NULL) return;
  if (!sql_parents(s)) return sqlite3_result_error_nomem(out);
  tk_id i = below > 0 && below <= s->t->n_events ? s->parents[below] : 0;
  while (i && i > above) i = s->parents[i]; /* parents precede their children */
  sqlite3_result_int(out, i && i == above);
}

static void trace_bound(sqlite3_context *out, int argc, sqlite3_value **argv) {
  struct tk_sql *s = sqlite3_user_data(out);
  (void)argc, (void)argv;
  sql_bounds(s);
  sqlite3_result_int64(out, s->start_ns);
}

static void trace_end(sqlite3_context *out, int argc, sqlite3_value **argv) {
  struct tk_sql *s = sqlite3_user_data(out);
  (void)argc, (void)argv;
  sql_bounds(s);
  sqlite3_result_int64(out, s->end_ns);
}

static void trace_dur(sqlite3_context *out, int argc, sqlite3_value **argv) {
  struct tk_sql *s = sqlite3_user_data(out);
  (void)argc, (void)argv;
  sql_bounds(s);
  sqlite3_result_int64(out, s->end_ns - s->start_ns);
}

/* reverse('abc') is 'cba'; reverses bytes, as trace_processor does. */
static void reverse(sqlite3_context *out, int argc, sqlite3_value **argv) {
  const char *text = (const char *)sqlite3_value_text(argv[0]);
  const int n = sqlite3_value_bytes(argv[0]);
  char *back = text ? sqlite3_malloc(n + 1) : NULL;
  (void)argc;
  if (!text) return;
  if (!back) return sqlite3_result_error_nomem(out);
  for (int i = 0; i < n; i++) back[i] = text[n - 1 - i];
  sqlite3_result_text(out, back, n, sqlite3_free);
}

/* str_split('a,b', ',', 1) is 'b'; NULL past the last part. */
static void str_split(sqlite3_context *out, int argc, sqlite3_value **argv) {
  const char *text = (const char *)sqlite3_value_text(argv[0]), *by = (const char *)sqlite3_value_text(argv[1]);
  int64_t at = sqlite3_value_int64(argv[2]);
  (void)argc;
  if (!text || !by || !*by || at < 0) return;
  const char *end = strstr(text, by);
  for (; at && end; at--, end = strstr(text, by)) text = end + strlen(by);
  if (!at) sqlite3_result_text(out, text, end ? (int)(end - text) : -1, SQLITE_TRANSIENT);
}

/* Returns a time as "hh:mm:ss mmm uuu nnn". */
static void to_timecode(sqlite3_context *out, int argc, sqlite3_value **argv) {
  const int64_t ns = sqlite3_value_int64(argv[0]), s = ns / 1000000000;
  char text[64];
  (void)argc;
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return;
  sqlite3_snprintf(sizeof text, text, "%02lld:%02lld:%02lld %03lld %03lld %03lld", s / 3600, s / 60 % 60, s % 60, ns / 1000000 % 1000,
                   ns / 1000 % 1000, ns % 1000);
  sqlite3_result_text(out, text, -1, SQLITE_TRANSIENT);
}

/* ---- time_to_ms(ns) and similar: the user data is the number of nanoseconds in a unit ---- */

static void time_to(sqlite3_context *out, int argc, sqlite3_value **argv) {
  (void)argc;
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return;
  sqlite3_result_int64(out, sqlite3_value_int64(argv[0]) / *(const int64_t *)sqlite3_user_data(out));
}

static void time_from(sqlite3_context *out, int argc, sqlite3_value **argv) {
  int64_t ns;
  (void)argc;
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return;
  if (__builtin_mul_overflow(sqlite3_value_int64(argv[0]), *(const int64_t *)sqlite3_user_data(out), &ns))
    return sqlite3_result_error(out, "integer overflow", -1);
  sqlite3_result_int64(out, ns);
}

static bool register_times(struct tk_sql *s) {
  static const struct {
    const char *name;
    int64_t ns;
  } UNITS[] = {{"ns", 1},          {"us", 1000},          {"ms", 1000000},     {"s", 1000000000},
               {"min", 60000000000}, {"minutes", 60000000000}, {"hours", 3600000000000}, {"days", 86400000000000}};
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof UNITS / sizeof *UNITS; i++) {
    void *ns = (void *)(uintptr_t)&UNITS[i].ns;
    char to[32], from[32];
    sqlite3_snprintf(sizeof to, to, "time_to_%s", UNITS[i].name);
    sqlite3_snprintf(sizeof from, from, "time_from_%s", UNITS[i].name);
    ok = sql_add_function(s, to, 1, SQLITE_DETERMINISTIC, ns, time_to) &&
         sql_add_function(s, from, 1, SQLITE_DETERMINISTIC, ns, time_from);
  }
  return ok;
}

bool sql_register_functions(struct tk_sql *s) {
  static const struct {
    const char *name;
    int n;
    void (*call)(sqlite3_context *out, int argc, sqlite3_value **argv);
  } ROWS[] = {{"slice_is_ancestor", 2, slice_is_ancestor}, {"trace_start", 0, trace_bound}, {"trace_end", 0, trace_end},
              {"trace_dur", 0, trace_dur},                 {"reverse", 1, reverse},         {"str_split", 3, str_split},
              {"to_timecode", 1, to_timecode}};
  bool ok = register_times(s);
  for (size_t i = 0; ok && i < sizeof ROWS / sizeof *ROWS; i++)
    ok = sql_add_function(s, ROWS[i].name, ROWS[i].n, 0, s, ROWS[i].call);
  return ok;
}
