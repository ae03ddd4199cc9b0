/* select.c - see select.h.  Every plain option is an expression that somebody did not have to write: --min-dur 10us is "dur >= 10us".
 * So there is one language, one place that understands it, and all that is asked for must hold. */
#include "select.h"

#include "tty.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void add_expr(struct exprs *e, char *text) {
  char **v = text ? realloc(e->v, (e->n + 2) * sizeof *v) : NULL;
  if (!v) {
    free(text);
    e->failed = true;
    return;
  }
  e->v = v;
  v[e->n++] = text;
  v[e->n] = NULL;
}

static void append(char **text, const char *more) {
  size_t n = *text ? strlen(*text) : 0, m = strlen(more);
  char *longer = realloc(*text, n + m + 1);
  if (!longer) return;
  memcpy(longer + n, more, m + 1);
  *text = longer;
}

static void append_quoted(char **text, const char *value) {
  char c[3] = { 0 };
  append(text, "\"");
  for (; *value; value++) {
    bool escape = *value == '"' || (*value == '\\' && (value[1] == '"' || value[1] == '\\' || !value[1]));
    c[0] = escape ? '\\' : *value;
    c[1] = escape ? *value : 0;
    append(text, c);
  }
  append(text, "\"");
}

/* symbol op "a" || symbol op "b" */
static void any_of(struct exprs *e, const char *symbol_op, const struct opt_list *list) {
  char *text = NULL;
  for (size_t i = 0; i < list->n; i++) {
    if (i) append(&text, " || ");
    append(&text, symbol_op);
    append_quoted(&text, list->v[i]);
  }
  if (list->n) add_expr(e, text);
}

static void none_of(struct exprs *e, const char *symbol_op, const struct opt_list *list) {
  for (size_t i = 0; i < list->n; i++) {
    char *text = NULL;
    append(&text, "!");
    append(&text, symbol_op);
    append_quoted(&text, list->v[i]);
    add_expr(e, text);
  }
}

/* A whole number that is written as such: what looks otherwise ("007") can only be text. */
static bool parse_number(const char *text, size_t n, long long *value) {
  char copy[24], again[24];
  if (n == 0 || n >= sizeof copy) return false;
  memcpy(copy, text, n);
  copy[n] = 0;
  *value = strtoll(copy, NULL, 10);
  snprintf(again, sizeof again, "%lld", *value);
  return !strcmp(copy, again);
}

static void append_test(char **text, const char *symbol, const char *op, long long value) {
  char test[96];
  snprintf(test, sizeof test, "%s %s %lld", symbol, op, value);
  append(text, test);
}

/* "3..5", "3.." or "..5": symbol >= 3 && symbol <= 5. */
static bool append_bounds(char **text, const char *symbol, const char *range, const char *dots) {
  long long low = LLONG_MIN, high = LLONG_MAX;
  bool has_low = dots != range, has_high = dots[2];
  if (has_low && !parse_number(range, (size_t)(dots - range), &low)) return false;
  if (has_high && !parse_number(dots + 2, strlen(dots + 2), &high)) return false;
  if ((!has_low && !has_high) || low > high) return false;
  append(text, "(");
  if (has_low) append_test(text, symbol, ">=", low);
  if (has_low && has_high) append(text, " && ");
  if (has_high) append_test(text, symbol, "<=", high);
  append(text, ")");
  return true;
}

/* A range, a number or, of an id, text. */
static bool append_range(char **text, const char *symbol, const char *range, bool is_id) {
  const char *dots = strstr(range, "..");
  long long value;
  if (dots) return append_bounds(text, symbol, range, dots);
  if (parse_number(range, strlen(range), &value)) return append_test(text, symbol, "==", value), true;
  if (!is_id || !*range) return false;
  append(text, symbol);
  append(text, " == ");
  append_quoted(text, range);
  return true;
}

static void any_range(struct exprs *e, const char *symbol, const struct opt_list *list, bool is_id) {
  char *text = NULL;
  for (size_t i = 0; i < list->n; i++) {
    if (i) append(&text, " || ");
    if (append_range(&text, symbol, list->v[i], is_id)) continue;
    tty_say("%s: --%s: '%s' is not N, N..M, N.. or ..M%s", e->command, symbol, list->v[i], is_id ? ", nor a name" : "");
    e->wrong = true;
  }
  if (list->n) add_expr(e, text);
}

static void one_range(struct exprs *e, const char *symbol, const char *range) {
  struct opt_list list = { &range, 1 };
  if (range) any_range(e, symbol, &list, false);
}

static void say_bad_time(const char *command, const char *word, const char *value) {
  struct opt_error error;
  char name[16];
  snprintf(name, sizeof name, "%s-dur", word);
  opt_bad_time(&error, name, value);
  tty_say("%s: %s", command, error.why);
}

/* The option is called as `word`-dur. */
static void one_limit(struct exprs *e, const char *word, const char *op, const char *value) {
  char *text = NULL;
  tk_time ps;
  if (!value) return;
  if (!tk_parse_duration(value, &ps)) {
    e->wrong = true;
    return say_bad_time(e->command, word, value);
  }
  if (value[strspn(value, "0123456789.munsh")]) {
    append_test(&text, "dur", op, ps);
    append(&text, "ps");
  } else { /* as it was written, for messages */
    append(&text, "dur ");
    append(&text, op);
    append(&text, " ");
    append(&text, value);
  }
  add_expr(e, text);
}

static void as_given(struct exprs *e, const char *expr) {
  char *text = NULL;
  append(&text, expr);
  add_expr(e, text);
}

struct exprs select_expressions(const struct selected *s, const char *command) {
  const struct selection *p = &s->selection;
  struct exprs e = { .command = command };
  for (size_t i = 0; i < p->exprs.n; i++) as_given(&e, p->exprs.v[i]);
  any_of(&e, "name ~ ", &p->names);
  any_of(&e, "name =~ ", &p->regexes);
  none_of(&e, "name ~ ", &p->excludes);
  any_of(&e, "cat ~ ", &p->cats);
  any_of(&e, "kind == ", &p->kinds);
  any_of(&e, "host ~ ", &p->hosts);
  any_of(&e, "track ~ ", &p->tracks);
  any_range(&e, "pid", &p->pids, true);
  any_range(&e, "tid", &p->tids, true);
  any_range(&e, "rank", &p->ranks, false);
  any_range(&e, "device", &p->devices, false);
  one_range(&e, "depth", p->depth);
  one_limit(&e, "min", ">=", p->min_dur);
  one_limit(&e, "max", "<=", p->max_dur);
  if (p->no_python) as_given(&e, "kind != python");
  return e;
}

void select_free(struct exprs *e) {
  for (size_t i = 0; i < e->n; i++) free(e->v[i]);
  free(e->v);
  *e = (struct exprs){ 0 };
}

void select_say_nothing(struct tk_trace *t, const struct tk_selection *s) {
  const struct tk_filter_options o = { .where = s->where, .time = s->time, .steps = s->steps, .refuse_empty = true };
  struct tk_err err = { 0 };
  if (!tk_filter(t, &o, NULL, &err)) run_fail_of(t->source, &err);
}

bool select_is_arg(const char *word) { return strncmp(word, "arg.", 4) == 0 && word[4]; }

bool select_by(const char *command, const char *text, enum tk_top_by *by, const char **arg) {
  static const char *const words[] = { "name", "cat", "kind", "rank", "process", "track", "stream", "step", "arg.KEY", NULL };
  const char *near;
  for (int i = 0; i < TK_TOP_ARG; i++)
    if (!text || strcmp(text, words[i]) == 0) return *by = (enum tk_top_by)i, true;
  *by = TK_TOP_ARG;
  *arg = text + 4;
  if (select_is_arg(text)) return true;
  near = tk_nearest(text, words);
  if (near) tty_say("%s: --by: '%s' is nothing that rows can be of; did you mean '%s'?", command, text, near);
  else tty_say("%s: --by: '%s' is none of name, cat, kind, rank, process, track, stream, step and arg.KEY", command, text);
  return false;
}
