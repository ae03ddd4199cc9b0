/* expr.c - parser of the filter language (expr.h): recursive descent over the text; every error has a column. */
#include "expr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "graph/kind.h"

const struct symbol_info expr_symbols[SYM_COUNT] = {
    [SYM_NAME] = {"name", TYPE_TEXT, OF_CLASS, "name of the event"},
    [SYM_CAT] = {"cat", TYPE_TEXT, OF_CLASS, "category"},
    [SYM_TS] = {"ts", TYPE_TIME, OF_EVENT, "start, since the first event of the trace"},
    [SYM_DUR] = {"dur", TYPE_TIME, OF_EVENT, "duration; counters have none"},
    [SYM_END] = {"end", TYPE_TIME, OF_EVENT, "end, since the first event of the trace"},
    [SYM_DEPTH] = {"depth", TYPE_NUMBER, OF_EVENT, "number of spans around it on its thread; counters have none"},
    [SYM_SELF] = {"self", TYPE_TIME, OF_EVENT, "duration without that of its child spans"},
    [SYM_PID] = {"pid", TYPE_IDENT, OF_TRACK, "process id"},
    [SYM_TID] = {"tid", TYPE_IDENT, OF_TRACK, "thread id"},
    [SYM_RANK] = {"rank", TYPE_NUMBER, OF_TRACK, "rank of the distributed job"},
    [SYM_HOST] = {"host", TYPE_TEXT, OF_TRACK, "name of the machine"},
    [SYM_PROCESS] = {"process", TYPE_TEXT, OF_TRACK, "name of the process"},
    [SYM_THREAD] = {"thread", TYPE_TEXT, OF_TRACK, "name of the thread"},
    [SYM_TRACK] = {"track", TYPE_TEXT, OF_TRACK, "name of the thread or counter, or else of the process"},
    [SYM_KIND] = {"kind", TYPE_KIND, OF_EVENT, "span, instant, counter, async, kernel, memcpy, memset, collective, ..."},
    [SYM_STEP] = {"step", TYPE_NUMBER, OF_EVENT, "number of the training step in which it starts"},
    [SYM_STREAM] = {"stream", TYPE_NUMBER, OF_EVENT, "arg.stream, or the number in the name of its device queue"},
    [SYM_DEVICE] = {"device", TYPE_NUMBER, OF_EVENT, "arg.device, or the number in the name of its process"},
    [SYM_LAUNCHED_BY] = {"launched_by", TYPE_TEXT, OF_EVENT, "name of any span around the call that launched this device work"},
    [SYM_PHASE] = {"phase", TYPE_TEXT, OF_EVENT, "prefill, decode, forward, backward, optimizer, dataloader, ..."},
    [SYM_WORK_CLASS] = {"class", TYPE_TEXT, OF_EVENT, "matmul, attention, elementwise, ...: of device work, as top --by class has it"},
    [SYM_ARG] = {"arg.KEY", TYPE_ANY, OF_EVENT, "value of an arg, number or text"},
};

const char *tk_filter_symbol(size_t i, const char **help) {
  if (i >= SYM_COUNT) return NULL;
  *help = expr_symbols[i].help;
  return expr_symbols[i].name;
}

enum { MAX_NESTING = 200, MAX_TESTS = 4096 };

struct parser {
  const char *text, *p;
  struct mem *mem;
  struct tk_err *err;
  uint32_t n_tests;
  int nesting;
};

static struct expr *or_of(struct parser *p);

static struct expr *complain(struct parser *p, const char *at, const char *what, const char *hint) {
  err_set(p->err, TK_EUSAGE, "column %zu: %s%s%s", (size_t)(at - p->text) + 1, what, hint ? ": " : "", hint ? hint : "");
  return NULL;
}

static void blank(struct parser *p) { p->p += strspn(p->p, " \t\r\n"); }

static bool take_symbol(struct parser *p, const char *token) {
  size_t n = strlen(token);
  blank(p);
  if (strncmp(p->p, token, n) != 0) return false;
  p->p += n;
  return true;
}

static struct expr *make_node(enum expr_kind kind, struct expr *left, struct expr *right) {
  struct expr *e = calloc(1, sizeof *e);
  if (e) {
    *e = (struct expr){.kind = kind, .left = left, .right = right};
    return e;
  }
  expr_free(left);
  expr_free(right);
  return NULL;
}

static struct expr *node(struct parser *p, enum expr_kind kind, struct expr *left, struct expr *right) {
  struct expr *e = make_node(kind, left, right);
  if (!e) err_set(p->err, TK_ELIMIT, "out of memory");
  return e;
}

struct expr *expr_and(struct expr *a, struct expr *b) { return make_node(EXPR_AND, a, b); }

uint8_t expr_without(const struct expr *e) {
  static const uint8_t ALL = TK_WITHOUT_FLOWS | TK_WITHOUT_ARGS;
  if (!e) return ALL;
  if (e->kind != EXPR_TEST) return expr_without(e->left) & expr_without(e->right);
  switch (e->symbol) {
  case SYM_STREAM:
  case SYM_DEVICE:
  case SYM_ARG: return TK_WITHOUT_FLOWS;
  case SYM_LAUNCHED_BY:
  case SYM_STEP:
  case SYM_PHASE:
  case SYM_WORK_CLASS: return 0;
  default: return ALL;
  }
}

void expr_free(struct expr *e) {
  if (!e) return;
  expr_free(e->left);
  expr_free(e->right);
  regexp_free(e->regexp);
  free(e->key);
  free(e->value.text);
  free(e);
}

static char *copy_text(const char *from, size_t n) {
  char *s = malloc(n + 1);
  if (!s) return NULL;
  memcpy(s, from, n);
  s[n] = 0;
  return s;
}

/* ---- values ---- */

static bool is_word(char c) {
  if (c & 0x80 || (c >= '0' && c <= '9')) return true;
  return c && (strchr("_.:#-+", c) || ((c | 32) >= 'a' && (c | 32) <= 'z'));
}

/* Parses "text" or 'text'. A backslash escapes the quote and the backslash. */
static char *quoted(struct parser *p) {
  char quote = *p->p;
  const char *from = p->p + 1, *q = from;
  char *s, *to;
  for (; *q && *q != quote; q++)
    if (*q == '\\' && q[1]) q++;
  if (!*q) {
    complain(p, p->p, "missing closing quote", NULL);
    return NULL;
  }
  s = to = malloc((size_t)(q - from) + 1);
  p->p = q + 1;
  for (; s && from < q; from++) {
    if (*from == '\\' && (from[1] == quote || from[1] == '\\')) from++;
    *to++ = *from;
  }
  if (s) *to = 0;
  return s;
}

/* Returns the length of a unit of time after a number, including spaces before the unit; 0 if there is none. */
static size_t unit_behind(const char *text) {
  static const char *const UNITS[] = {"ps", "ns", "us", "ms", "s", "min", "h", NULL};
  const size_t blanks = strspn(text, " \t");
  for (const char *const *unit = UNITS; blanks && *unit; unit++) {
    const size_t n = strlen(*unit);
    if (strncmp(text + blanks, *unit, n) == 0 && !is_word(text[blanks + n])) return blanks + n;
  }
  return 0;
}

/* Parses the value at the parser's position as text, including times with a space such as "10 us". */
static bool value_text(struct parser *p, struct expr *e, bool *is_quoted) {
  size_t n = 0, unit = 0;
  blank(p);
  *is_quoted = *p->p == '"' || *p->p == '\'';
  if (*is_quoted) return (e->value.text = quoted(p)) != NULL;
  while (is_word(p->p[n])) n++;
  if (n == 0) return complain(p, p->p, "expected a value: \"text\", a word, or a number", NULL);
  const bool is_number = !p->p[strspn(p->p, "0123456789.+-")] || strspn(p->p, "0123456789.+-") == n;
  if (is_number && expr_symbols[e->symbol].type == TYPE_TIME) unit = unit_behind(p->p + n);
  e->value.text = copy_text(p->p, n + unit);
  p->p += n + unit;
  return e->value.text != NULL;
}

static bool kind_value(struct parser *p, struct expr *e, const char *at) {
  const char *words[32];
  char hint[300] = "one of ";
  size_t n = 0;
  for (; kind_words[n].word; n++) {
    words[n] = kind_words[n].word;
    if (strcmp(e->value.text, words[n]) == 0) {
      e->value.time = kind_words[n].kind;
      return true;
    }
    snprintf(hint + strlen(hint), sizeof hint - strlen(hint), "%s%s", n ? ", " : "", words[n]);
  }
  words[n] = NULL;
  const char *near = tk_nearest(e->value.text, words);
  if (near) snprintf(hint, sizeof hint, "did you mean '%s'?", near);
  return complain(p, at, "unknown kind", hint);
}

static bool number_value(struct parser *p, struct expr *e, enum symbol_type type, bool is_quoted, const char *at) {
  const uint8_t *end;
  e->value.num = num_scan((const uint8_t *)e->value.text, &end);
  e->value.is_number = !is_quoted && !*end && e->value.num.kind != NUM_NONE && e->value.num.kind != NUM_BIG;
  if (e->value.is_number || type != TYPE_NUMBER) return true;
  return complain(p, at, "expected a number", NULL);
}

static bool check_value(struct parser *p, struct expr *e, bool is_quoted, const char *at) {
  enum symbol_type type = expr_symbols[e->symbol].type;
  if (e->op == OP_REGEX) {
    char why[160];
    e->regexp = regexp_new(e->value.text, p->mem, why, sizeof why);
    return e->regexp || complain(p, at, "invalid regular expression", why);
  }
  if (e->op == OP_GLOB) return true;
  if (type == TYPE_KIND) return kind_value(p, e, at);
  if (type == TYPE_TIME) {
    if (tk_parse_duration(e->value.text, &e->value.time)) return true;
    return complain(p, at, "expected a time with a unit, such as 10us, 1.5ms or 2s", NULL);
  }
  return type == TYPE_TEXT || number_value(p, e, type, is_quoted, at);
}

/* ---- tests ---- */

/* Words of other query languages, with their equivalents here. */
struct foreign_word {
  const char *word, *hint;
};

static const struct foreign_word FOREIGN_SYMBOLS[] = {
    {"duration", "'duration': did you mean 'dur'?"},  {"start", "'start': did you mean 'ts'?"},
    {"category", "'category': did you mean 'cat'?"},  {"categories", "'categories': did you mean 'cat'?"},
    {"type", "'type': did you mean 'kind'?"},         {"gpu", "'gpu': did you mean 'device'?"},
    {"args", "'args': did you mean 'arg.KEY'?"},      {"iteration", "'iteration': did you mean 'step'?"},
    {"thread_name", "'thread_name': did you mean 'thread'?"}, {"process_name", "'process_name': did you mean 'process'?"},
    {NULL, NULL}};
static const struct foreign_word FOREIGN_OPERATORS[] = {
    {"like", "SQL's LIKE is a glob here: name ~ '*TEXT*'"},     {"not like", "SQL's NOT LIKE is a glob here: !(name ~ '*TEXT*')"},
    {"glob", "use '~' for globs: name ~ '*TEXT*'"},             {"contains", "use a glob: name ~ '*TEXT*'"},
    {"startswith", "use a glob: name ~ 'TEXT*'"},               {"starts with", "use a glob: name ~ 'TEXT*'"},
    {"endswith", "use a glob: name ~ '*TEXT'"},                 {"matches", "use '=~' for regular expressions"},
    {"regexp", "use '=~' for regular expressions"},             {"in", "use '||' between tests: name == a || name == b"},
    {"between", "use two tests: dur >= 1ms && dur <= 2ms"},     {"is", "use '==', or the symbol alone to test that it exists"},
    {NULL, NULL}};

static const char *hint_of(const struct foreign_word *rows, const char *at, size_t n) {
  for (; rows->word; rows++) {
    const size_t length = n ? n : strlen(rows->word);
    if (strlen(rows->word) == length && ascii_equal(at, rows->word, length) && (at[length] == '.' || !is_word(at[length])))
      return rows->hint;
  }
  return NULL;
}

static bool symbol_of(struct parser *p, struct expr *e) {
  const char *names[SYM_COUNT + 1], *from = p->p, *near;
  char word[64], hint[128];
  size_t n = strcspn(from, " \t\r\n=!<>~&|()\"'");
  if (n == 0 && !*from) return complain(p, from, "expected a test such as dur > 1ms, got the end of the expression", NULL);
  if (n == 0) return complain(p, from, "expected a symbol such as name, dur or arg.KEY", NULL);
  if (n > 4 && strncmp(from, "arg.", 4) == 0) {
    e->symbol = SYM_ARG;
    e->key = copy_text(from + 4, n - 4);
    p->p += n;
    return e->key != NULL;
  }
  snprintf(word, sizeof word, "%.*s", (int)n, from);
  for (int i = 0; i < SYM_COUNT; i++) {
    names[i] = expr_symbols[i].name;
    if (i == SYM_ARG || strcmp(word, names[i]) != 0) continue;
    e->symbol = (enum symbol)i;
    p->p += n;
    return true;
  }
  names[SYM_COUNT] = NULL;
  const char *meant = hint_of(FOREIGN_SYMBOLS, from, n > 5 && strncmp(from, "args.", 5) == 0 ? 4 : n);
  if (meant) return complain(p, from, "unknown symbol", meant);
  near = tk_nearest(word, names);
  snprintf(hint, sizeof hint, near ? "'%s': did you mean '%s'?" : "'%s'", word, near);
  return complain(p, from, "unknown symbol", hint);
}

struct expr_operator {
  const char *text;
  enum expr_op op;
  bool negated;
};

static bool operator_of(struct parser *p, struct expr *e, bool *negated) {
  static const struct expr_operator OPS[] = {
      {"==", OP_EQ, false}, {"!=", OP_EQ, true},  {"=~", OP_REGEX, false}, {"!~", OP_REGEX, true}, {"<=", OP_LE, false},
      {"<", OP_LT, false},  {">=", OP_GE, false}, {">", OP_GT, false},     {"~", OP_GLOB, false}};
  enum symbol_type type = expr_symbols[e->symbol].type;
  const char *at;
  blank(p);
  at = p->p;
  for (size_t i = 0; i < sizeof OPS / sizeof OPS[0]; i++) {
    if (!take_symbol(p, OPS[i].text)) continue;
    e->op = OPS[i].op;
    *negated = OPS[i].negated;
    bool is_text = e->op == OP_REGEX || e->op == OP_GLOB, is_order = e->op >= OP_LT && e->op <= OP_GE;
    if (is_text && (type == TYPE_TIME || type == TYPE_NUMBER || type == TYPE_KIND))
      return complain(p, at, "this symbol cannot be matched as text", "compare it with == != < <= > >=");
    if (is_order && (type == TYPE_TEXT || type == TYPE_KIND)) return complain(p, at, "text cannot be ordered", "use == != =~ !~ or ~");
    return true;
  }
  if (*at == '=') return complain(p, at, "unknown operator '='", "did you mean '=='?");
  if (*at && !strchr("&|)", *at))
    return complain(p, at, "expected an operator: == != < <= > >= =~ !~ ~", hint_of(FOREIGN_OPERATORS, at, 0));
  e->op = OP_HAS;
  return true;
}

static struct expr *test_of(struct parser *p) {
  struct expr *e = node(p, EXPR_TEST, NULL, NULL);
  bool negated = false, is_quoted = false;
  if (!e) return NULL;
  e->index = p->n_tests++;
  if (p->n_tests > MAX_TESTS) complain(p, p->p, "too many tests", NULL);
  else if (symbol_of(p, e) && operator_of(p, e, &negated)) {
    blank(p);
    const char *at = p->p;
    if (e->op == OP_HAS || (value_text(p, e, &is_quoted) && check_value(p, e, is_quoted, at)))
      return negated ? node(p, EXPR_NOT, e, NULL) : e;
  }
  if (p->err->code == TK_OK) err_set(p->err, TK_ELIMIT, "out of memory");
  expr_free(e);
  return NULL;
}

static struct expr *not_of(struct parser *p) {
  struct expr *e;
  blank(p);
  if (++p->nesting > MAX_NESTING) return complain(p, p->p, "nested too deeply", NULL);
  if (take_symbol(p, "!")) {
    e = not_of(p);
    e = e ? node(p, EXPR_NOT, e, NULL) : NULL;
  } else if (take_symbol(p, "(")) {
    e = or_of(p);
    if (e && !take_symbol(p, ")")) {
      expr_free(e);
      e = complain(p, p->p, "expected ')', '&&' or '||'", NULL);
    }
  } else {
    e = test_of(p);
  }
  p->nesting--;
  return e;
}

static struct expr *chain(struct parser *p, struct expr *left, enum expr_kind kind, struct expr *right) {
  if (right) return node(p, kind, left, right);
  expr_free(left);
  return NULL;
}

static struct expr *and_of(struct parser *p) {
  struct expr *e = not_of(p);
  while (e && take_symbol(p, "&&")) e = chain(p, e, EXPR_AND, not_of(p));
  return e;
}

static struct expr *or_of(struct parser *p) {
  struct expr *e = and_of(p);
  while (e && take_symbol(p, "||")) e = chain(p, e, EXPR_OR, and_of(p));
  return e;
}

bool expr_check(const struct expr *e, struct tk_err *err) {
  return !e || (regexp_check(e->regexp, err) && expr_check(e->left, err) && expr_check(e->right, err));
}

/* Suggests an operator for a word of another query language. */
static const char *hint_word(const char *at) {
  if (strncmp(at, "and ", 4) == 0 || strncmp(at, "AND ", 4) == 0) return "use '&&' instead of 'and'";
  if (strncmp(at, "or ", 3) == 0 || strncmp(at, "OR ", 3) == 0) return "use '||' instead of 'or'";
  return NULL;
}

struct expr *expr_parse(const char *text, uint32_t *n_tests, struct mem *mem, struct tk_err *err) {
  struct parser p = {.text = text, .p = text, .mem = mem, .err = err, .n_tests = *n_tests};
  struct expr *e = or_of(&p);
  *n_tests = p.n_tests;
  if (!e) return NULL;
  blank(&p);
  if (!*p.p) return e;
  expr_free(e);
  return complain(&p, p.p, "expected '&&', '||' or the end", hint_word(p.p));
}
