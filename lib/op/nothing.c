/* nothing.c - finds out why a filter keeps nothing (nothing.h).
 *
 * The cause is nearly always one of three mistakes: the user gave a part of a name where the whole name is required, the trace has no
 * event of the given kind, or the time range is after the end of the trace. Each cause is tested separately on the unfiltered trace, in
 * additional passes. */
#include "nothing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 400 };

/* ---- the range of time ---- */

static bool any_in_scope(const struct nothing *n) {
  for (tk_id i = 1; i <= n->t->n_events; i++)
    if (scope_holds(n->scope, &n->t->events[i])) return true;
  return false;
}

/* Reports the time range of the trace in microseconds, relative to the same zero as the trace's printed times. */
static bool say_time(const struct nothing *n, struct tk_err *err) {
  const struct window_frame f = window_frame(n->t);
  const i128 zero = ((i128)f.zero_ns - f.origin_ns) * 1000;
  char length[64];
  tk_print_duration(f.end - f.start, length);
  return err_set(err, TK_ENOTHING,
                 "nothing matched: no event is in the time range; the trace is %s long and has timestamps from %lldus to "
                 "%lldus (+10ms.. is relative to its start)",
                 length, (long long)((f.start - zero) / 1000000), (long long)((f.end - zero) / 1000000));
}

/* ---- one test ---- */

static uint64_t count(const struct nothing *n, const char *expr) {
  const char *const where[] = {expr, NULL};
  struct tk_err unused = {0};
  struct match m;
  uint64_t found = 0;
  bool ok = match_init(&m, n->t, where, n->match->origins, n->match->mem, &unused);
  for (tk_id i = 1; ok && i <= n->t->n_events; i++) found += match_event(&m, i);
  match_free(&m);
  return found;
}

/* Returns the first test, but not a negated one; NULL if there is none. */
static const struct expr *first_test(const struct expr *e) {
  if (!e || e->kind == EXPR_NOT) return NULL;
  return e->kind == EXPR_TEST ? e : first_test(e->left);
}

/* Writes the test `symbol op "pattern"`; the pattern is the text of the test `e` between `before` and `after`. Quotes, backslashes and
 * characters that are special in patterns are left out. */
static void rewrite(char *expr, size_t size, const struct expr *e, const char *op, const char *before, const char *after) {
  size_t n = (size_t)snprintf(expr, size, "%s %s \"%s", expr_symbols[e->symbol].name, op, before);
  for (const char *p = e->value.text; *p && n + 8 < size; p++)
    if (!strchr("\"\\*?[]", *p)) expr[n++] = *p;
  snprintf(expr + n, size - n, "%s\"", after);
}

/* For a test that compares the whole text: reports how many events contain the given text as a part. */
static bool hint_part(const struct nothing *n, const struct expr *e, char *hint, size_t size) {
  char expr[WORDS];
  if (expr_symbols[e->symbol].type != TYPE_TEXT || (e->op != OP_EQ && e->op != OP_GLOB)) return false;
  rewrite(expr, sizeof expr, e, "~", "*", "*");
  uint64_t found = count(n, expr);
  if (found) {
    snprintf(hint, size, "; patterns match whole %ss, and '*%.60s*' would match %llu event%s",
             expr_symbols[e->symbol].name, e->value.text,
             (unsigned long long)found, found == 1 ? "" : "s");
    return true;
  }
  rewrite(expr, sizeof expr, e, "=~", "(?i)\\Q", "\\E");
  found = count(n, expr);
  if (found)
    snprintf(hint, size, "; ignoring case, the regular expression '(?i)%.60s' would match %llu event%s", e->value.text,
             (unsigned long long)found, found == 1 ? "" : "s");
  return found != 0;
}

static bool hint_kinds(const struct nothing *n, const struct expr *e, char *hint, size_t size) {
  uint64_t counts[64] = {0};
  size_t used;
  if (e->symbol != SYM_KIND) return false;
  kinds_count(&n->match->kinds, counts);
  snprintf(hint, size, "; the trace has");
  for (size_t i = 0; kind_words[i].word && (used = strlen(hint)) < size; i++)
    if (counts[i]) snprintf(hint + used, size - used, "%s %s", used > 15 ? "," : "", kind_words[i].word);
  return true;
}

/* Suggests a range of depths, because a single number selects only that depth. */
static bool hint_depth(const struct expr *e, char *hint, size_t size) {
  if (e->symbol != SYM_DEPTH || e->op != OP_EQ) return false;
  snprintf(hint, size, "; for depths from 0 to %s use ..%s", e->value.text, e->value.text);
  return true;
}

static bool say_test(const struct nothing *n, const char *text, struct tk_err *err) {
  uint32_t n_tests = 0;
  char hint[WORDS] = "";
  struct expr *e = expr_parse(text, &n_tests, n->match->mem, err);
  const struct expr *test = first_test(e);
  if (test && !hint_part(n, test, hint, sizeof hint) && !hint_kinds(n, test, hint, sizeof hint)) hint_depth(test, hint, sizeof hint);
  if (e) err_set(err, TK_ENOTHING, "nothing matched: none of %u events has %.200s%s", n->t->n_events, text, hint);
  expr_free(e);
  return false;
}

/* ---- entry points ---- */

bool nothing_say(const struct nothing *n, struct tk_err *err) {
  const char *const *where = n->where;
  if (n->t->n_events && !any_in_scope(n)) return say_time(n, err);
  for (; where && *where; where++)
    if (count(n, *where) == 0) return say_test(n, *where, err);
  return err_set(err, TK_ENOTHING, "nothing matched: each test matches some of the %u events, but no event matches all of "
                                   "them%s", n->t->n_events,
                 n->scope->narrowed ? " within the time range" : "");
}
