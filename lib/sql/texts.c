/* texts.c - LIKE, GLOB and REGEXP.
 *
 * LIKE and GLOB have SQLite's semantics. SQLite's own implementation tries every "%" at every position: a pattern with ten of
 * them does not finish on a long name, and cannot be interrupted. Here the match of a "%" is final once the next "%" is reached.
 */
#include <string.h>

#include "texts.h"
#include "base/regexp.h"
#include "sql.h"
#include "table.h"

static unsigned lower(unsigned c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }

/* Returns the character at *p and advances *p; an invalid UTF-8 byte counts as a character. */
static unsigned next_char(const char **p) {
  const unsigned char *s = (const unsigned char *)*p;
  unsigned c = *s++;
  for (unsigned n = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0; n && (*s & 0xc0) == 0x80; n--) c = c << 6 | (*s++ & 0x3f);
  *p = (const char *)s;
  return c;
}

bool texts_like_matches(const char *pattern, const char *text, int escape) {
  const char *star = NULL, *from = NULL; /* star: position after the last "%"; from: text at which this "%" may extend its match */
  while (*text) {
    const char *p = pattern, *t = text;
    unsigned want = *p ? next_char(&p) : 0, is = next_char(&t);
    if (want == '%' && want != (unsigned)escape) {
      star = pattern = p;
      from = text;
      continue;
    }
    bool any = want == '_' && want != (unsigned)escape;
    if (want && want == (unsigned)escape) want = *p ? next_char(&p) : 0;
    if (want && (any || lower(want) == lower(is))) {
      pattern = p;
      text = t;
    } else if (star) {
      pattern = star;
      next_char(&from);
      text = from;
    } else return false;
  }
  while (*pattern == '%' && escape != '%') pattern++;
  return !*pattern;
}

/* True if the character is in the set that begins at p, after "[". *end is the position after "]", NULL if it is missing. */
static bool in_set(const char *p, unsigned c, const char **end) {
  bool found = false, inverted = *p == '^', first = true;
  unsigned last = 0;
  p += inverted;
  for (; *p && (*p != ']' || first); first = false) {
    const char *q = p;
    unsigned next = next_char(&q);
    if (next == '-' && *q && *q != ']' && last) {
      const unsigned to = next_char(&q);
      found |= c >= last && c <= to;
      last = 0;
    } else {
      found |= c == next;
      last = next;
    }
    p = q;
  }
  *end = *p ? p + 1 : NULL;
  return found != inverted;
}

/* Matches one character with the pattern. Returns the position after the matched part of the pattern, or NULL if the character does not
 * match. */
static const char *glob_step(const char *pattern, unsigned c) {
  const char *p = pattern, *end;
  unsigned want = *p ? next_char(&p) : 0;
  if (want == '?') return p;
  if (want == '[') return in_set(p, c, &end) && end ? end : NULL;
  return want && want == c ? p : NULL;
}

bool texts_glob_matches(const char *pattern, const char *text) {
  const char *star = NULL, *from = NULL;
  while (*text) {
    const char *t = text;
    if (*pattern == '*') {
      star = ++pattern;
      from = text;
      continue;
    }
    const char *next = glob_step(pattern, next_char(&t));
    if (next) {
      pattern = next;
      text = t;
    } else if (star) {
      pattern = star;
      next_char(&from);
      text = from;
    } else return false;
  }
  while (*pattern == '*') pattern++;
  return !*pattern;
}

/* ---- cached results ---- */

/* Results of a pattern, cached by text because thousands of events share a name. A string of the trace is identified by its address.
 * `strings_shown` lists the strings that columns returned; the result of a string is in the slot with the same index. */
struct answers {
  struct answer {
    const char *text; /* NULL = the slot is empty */
    bool matches;
  } slots[SQL_SHOWN];
};

/* ---- as functions: like(pattern, text [, escape]) ---- */

/* Allocates a cache when a pattern occurs for the second time, because computed patterns do not repeat. */
static void remember(sqlite3_context *out) {
  struct answers *a = sqlite3_malloc(sizeof *a);
  if (!a) return;
  memset(a, 0, sizeof *a);
  sqlite3_set_auxdata(out, 0, a, sqlite3_free);
}

/* Returns the result of LIKE or GLOB, from the cache if possible. `matches`: compares a string with a pattern. */
static void answer(sqlite3_context *out, sqlite3_value **argv, bool (*matches)(const char *pattern, const char *text)) {
  struct answers *a = sqlite3_get_auxdata(out, 0);
  const char *place = sqlite3_value_blob(argv[1]);
  struct answer *slot = a ? &a->slots[sql_shown_slot(place)] : NULL;
  if (slot && place && slot->text == place) return sqlite3_result_int(out, slot->matches);
  const struct tk_sql *s = sqlite3_user_data(out);
  const bool shown = place && s->strings_shown[sql_shown_slot(place)] == place;
  const char *pattern = (const char *)sqlite3_value_text(argv[0]), *text = (const char *)sqlite3_value_text(argv[1]);
  if (!pattern || !text) return;
  const bool is = matches(pattern, text);
  if (slot && shown) *slot = (struct answer){place, is};
  if (!a) remember(out);
  sqlite3_result_int(out, is);
}

static bool like_plainly(const char *pattern, const char *text) { return texts_like_matches(pattern, text, 0); }

static void like(sqlite3_context *out, int argc, sqlite3_value **argv) {
  (void)argc;
  answer(out, argv, like_plainly);
}

static void like_escaped(sqlite3_context *out, int argc, sqlite3_value **argv) {
  const char *pattern = (const char *)sqlite3_value_text(argv[0]), *text = (const char *)sqlite3_value_text(argv[1]);
  const char *escape = (const char *)sqlite3_value_text(argv[2]);
  (void)argc;
  if (!pattern || !text || !escape) return;
  const char *e = escape;
  const unsigned c = *escape ? next_char(&e) : 0;
  if (!c || *e) return sqlite3_result_error(out, "ESCAPE expression must be a single character", -1);
  sqlite3_result_int(out, texts_like_matches(pattern, text, (int)c));
}

static void glob(sqlite3_context *out, int argc, sqlite3_value **argv) {
  (void)argc;
  answer(out, argv, texts_glob_matches);
}

static void free_regexp(void *r) { regexp_free(r); }

static void regexp(sqlite3_context *out, int argc, sqlite3_value **argv) {
  struct tk_sql *s = sqlite3_user_data(out);
  const char *pattern = (const char *)sqlite3_value_text(argv[0]), *text = (const char *)sqlite3_value_text(argv[1]);
  struct regexp *r = sqlite3_get_auxdata(out, 0), *made = NULL;
  struct tk_err err = {0};
  char why[256] = "";
  (void)argc;
  if (!pattern || !text) return;
  if (!r) r = made = regexp_new(pattern, &s->mem, why, sizeof why);
  if (!r) return sqlite3_result_error(out, *why ? why : "out of memory", -1);
  sqlite3_result_int(out, regexp_matches(r, text));
  if (!regexp_check(r, &err)) sqlite3_result_error(out, err.msg, -1);
  if (made) sqlite3_set_auxdata(out, 0, made, free_regexp);
}

bool sql_register_texts(struct tk_sql *s) {
  return sql_add_function(s, "like", 2, SQLITE_DETERMINISTIC, s, like) &&
         sql_add_function(s, "like", 3, SQLITE_DETERMINISTIC, NULL, like_escaped) &&
         sql_add_function(s, "glob", 2, SQLITE_DETERMINISTIC, s, glob) &&
         sql_add_function(s, "regexp", 2, SQLITE_DETERMINISTIC, s, regexp);
}
