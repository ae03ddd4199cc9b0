/* select.c - see select.h. Every plain option is short for an expression: --min-dur 10us is "dur >= 10us". So there is only one
 * language, with one parser. An event must satisfy all expressions. */
#include "select.h"
#include "options/meant.h"

#include "print/tty.h"

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

/* Adds an expression that is true if any value of the list matches: SYMBOL OP "a" || SYMBOL OP "b". */
static void any_of(struct exprs *e, const char *symbol_op, const struct opt_list *list) {
  char *text = NULL;
  for (size_t i = 0; i < list->n; i++) {
    if (i) append(&text, " || ");
    append(&text, symbol_op);
    append_quoted(&text, list->v[i]);
  }
  if (list->n) add_expr(e, text);
}

/* Adds a test of kinds. A value may contain several kinds, separated by commas, and other words for a kind (meant_kind()). */
static void any_kind(struct exprs *e, const struct opt_list *list) {
  char *text = NULL, word[64];
  for (size_t i = 0; i < list->n; i++)
    for (const char *p = list->v[i]; *p; p += strspn(p, ", ")) {
      const size_t n = strcspn(p, ",");
      snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), p);
      const char *meant = meant_kind(word);
      if (text) append(&text, " || ");
      append(&text, "kind == ");
      append_quoted(&text, meant ? meant : word);
      p += n;
    }
  if (text) add_expr(e, text);
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

/* Returns true if the text is an integer in canonical form; in other forms, such as "007", it can only be text. */
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

/* Appends the test of a range: "SYMBOL == 3" or "(SYMBOL >= 3 && SYMBOL <= 5)". */
static void append_range(char **text, const char *symbol, struct tk_range r) {
  const bool has_first = r.first != INT64_MIN, has_last = r.last != INT64_MAX;
  if (r.first == r.last) {
    append_test(text, symbol, "==", r.first);
    return;
  }
  append(text, "(");
  if (has_first) append_test(text, symbol, ">=", r.first);
  if (has_first && has_last) append(text, " && ");
  if (has_last) append_test(text, symbol, "<=", r.last);
  append(text, ")");
}

static void any_range(struct exprs *e, const char *symbol, const struct opt_ranges *list) {
  char *text = NULL;
  for (size_t i = 0; i < list->n; i++) {
    if (i) append(&text, " || ");
    append_range(&text, symbol, list->v[i]);
  }
  if (list->n) add_expr(e, text);
}

/* Appends the test of a range, a number or text. Returns false if the range is invalid or the text is empty. */
static bool append_id(char **text, const char *symbol, const char *id) {
  struct tk_range range;
  long long value;
  if (strstr(id, "..")) return tk_parse_range(id, &range) && (append_range(text, symbol, range), true);
  if (parse_number(id, strlen(id), &value)) {
    append_test(text, symbol, "==", value);
    return true;
  }
  if (!*id) return false;
  append(text, symbol);
  append(text, " == ");
  append_quoted(text, id);
  return true;
}

static void any_id(struct exprs *e, const char *symbol, const struct opt_list *list) {
  char *text = NULL;
  for (size_t i = 0; i < list->n; i++) {
    if (i) append(&text, " || ");
    if (append_id(&text, symbol, list->v[i])) continue;
    tty_say("%s: --%s: invalid value '%s'; expected N, N..M, N.., ..M or a name", e->command, symbol, list->v[i]);
    e->wrong = true;
  }
  if (list->n) add_expr(e, text);
}

static void one_range(struct exprs *e, const char *symbol, const char *word) {
  struct tk_range range;
  if (!word) return;
  if (tk_parse_range(word, &range)) {
    any_range(e, symbol, &(struct opt_ranges){ &range, 1 });
    return;
  }
  tty_say("%s: --%s: invalid range '%s'; expected N, N..M, N.. or ..M", e->command, symbol, word);
  e->wrong = true;
}

static void say_bad_time(const char *command, const char *word, const char *value) {
  struct opt_error error;
  char name[16];
  snprintf(name, sizeof name, "%s-dur", word);
  opt_time_bad(&error, name, value);
  tty_say("%s: %s", command, error.why);
}

/* Adds the test "dur OP VALUE" for the option --min-dur or --max-dur; `word` is min or max. */
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
  } else { /* as given, so that messages show it unchanged */
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
  any_kind(&e, &p->kinds);
  any_of(&e, "host ~ ", &p->hosts);
  any_of(&e, "track ~ ", &p->tracks);
  any_id(&e, "pid", &p->pids);
  any_id(&e, "tid", &p->tids);
  any_range(&e, "rank", &p->ranks);
  any_range(&e, "device", &p->devices);
  any_range(&e, "stream", &p->streams);
  any_of(&e, "launched_by ~ ", &p->launched_by);
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

bool select_is_asked(const struct tk_selection *s) { return (s->where && *s->where) || s->time || s->steps; }

void select_say_nothing(struct tk_trace *t, const struct tk_selection *s) {
  const struct tk_filter_options o = { .where = s->where, .time = s->time, .steps = s->steps, .refuse_empty = true };
  struct tk_err err = { 0 };
  if (!tk_filter(t, &o, NULL, &err)) run_fail_of(t->source, &err);
}

uint8_t select_without(const struct shared *s, const struct tk_top_options *o) {
  return s->strict || s->verbose ? 0 : tk_top_without(o);
}

bool select_is_arg(const char *word) { return strncmp(word, "arg.", 4) == 0 && word[4]; }

bool select_by(const char *command, const char *text, enum tk_top_by *by, const char **arg) {
  static const char *const words[] = { "name", "cat", "kind", "rank", "process", "track", "stream", "step", "arg.KEY",
                                       "phase", "op", "module", "class", "device", NULL };
  const char *near;
  for (int i = 0; words[i]; i++)
    if (!text || (i != TK_TOP_ARG && strcmp(text, words[i]) == 0)) {
      *by = (enum tk_top_by)i;
      return true;
    }
  *by = TK_TOP_ARG;
  *arg = text + 4;
  if (select_is_arg(text)) return true;
  near = tk_nearest(text, words);
  if (near) tty_say("%s: --by: unknown column '%s'; did you mean '%s'?", command, text, near);
  else tty_say("%s: --by: unknown column '%s'; expected name, cat, kind, rank, process, track, stream, step, phase, "
               "op, module, class, device or arg.KEY", command, text);
  return false;
}
