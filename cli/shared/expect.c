/* expect.c - see expect.h. */
#include "expect.h"
#include "decimal.h"
#include "options/meant.h"
#include "remarks.h"

#include "print/tty.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *word;
  enum expect_function function;
  enum expect_unit unit;
} FUNCTIONS[] = { { "total", EXPECT_TOTAL, EXPECT_TIME },       { "self", EXPECT_SELF, EXPECT_TIME },
                  { "union", EXPECT_UNION, EXPECT_TIME },       { "count", EXPECT_COUNT, EXPECT_PLAIN },
                  { "mean", EXPECT_MEAN, EXPECT_TIME },         { "min", EXPECT_MIN, EXPECT_TIME },
                  { "max", EXPECT_MAX, EXPECT_TIME },           { "p50", EXPECT_P50, EXPECT_TIME },
                  { "p95", EXPECT_P95, EXPECT_TIME },           { "deviation", EXPECT_DEVIATION, EXPECT_TIME },
                  { "outliers", EXPECT_OUTLIERS, EXPECT_PLAIN }, { "percent_of_range", EXPECT_OF_RANGE, EXPECT_PERCENT },
                  { "percent_of_sum", EXPECT_OF_SUM, EXPECT_PERCENT } };
enum { N_FUNCTIONS = sizeof FUNCTIONS / sizeof *FUNCTIONS };

static const char *const OPS[] = { "<", "<=", ">", ">=", "==", "!=" };

/* ---- parsing ---- */

static const char *skip_blanks(const char *p) { return p + strspn(p, " \t"); }

static size_t trimmed(const char *p, size_t n) {
  while (n && (p[n - 1] == ' ' || p[n - 1] == '\t')) n--;
  return n;
}

/* Finds the last operator in the text, because names may contain operators. Returns its position, and stores the operator in
 * *op and its length in *n; NULL if there is none. */
static const char *find_op(const char *text, enum expect_op *op, size_t *n) {
  for (const char *p = text + strlen(text); p-- > text;) {
    if (!strchr("<>=!", *p)) continue;
    if (p > text && *p == '=' && strchr("<>=!", p[-1])) p--;
    *n = p[1] == '=' ? 2 : 1;
    for (int i = 0; i < 6; i++)
      if (strlen(OPS[i]) == *n && strncmp(p, OPS[i], *n) == 0) {
        *op = (enum expect_op)i;
        return p;
      }
    return NULL;
  }
  return NULL;
}

static bool parse_value(struct expect *e, const char *p) {
  char number[64];
  const char *end;
  const size_t n = trimmed(p, strlen(p)), digits = strspn(p, "0123456789.");
  tk_time time;
  uint64_t size;
  const bool minus = *p == '-';
  if (n == 0 || n >= sizeof number) return false;
  memcpy(number, p, n);
  number[n] = 0;
  if (number[n - 1] == '%' || (number[n - 1] == 'x' && digits + 1 == n)) {
    e->unit = number[n - 1] == '%' ? EXPECT_PERCENT : EXPECT_RATIO;
    number[n - 1] = 0;
  } else if (!minus && digits < n && tk_parse_duration(number, &time)) {
    e->unit = EXPECT_TIME;
    e->value = (double)time;
    return true;
  } else if (!minus && digits < n && tk_parse_size(number, &size)) {
    e->unit = EXPECT_SIZE;
    e->value = (double)size;
    return true;
  }
  if (strspn(number, "-0123456789.e") != strlen(number)) return false;
  e->value = decimal_read(number, &end);
  return *end == 0 && end != number;
}

static bool refuse(const char *command, const char *text, const char *why) {
  tty_fail("%s: '%s': %s", command, text, why);
  return false;
}

/* Reports an unknown function or figure and suggests the nearest one (figures with and without their unit, key figures). Returns
 * false. */
static bool refuse_word(const char *command, const char *text, const char *word, bool function) {
  enum { MOST = 200, LONGEST = 48, KEYS = 32 };
  static const char *const UNITS[] = { "_ns", "_percent", NULL };
  char shorter[MOST][LONGEST];
  const char *words[2 * MOST + KEYS + 2] = { "gpu_busy" }, *key_unit;
  size_t n = function ? 0 : 1, k = 0;
  for (size_t i = 0; function && i < N_FUNCTIONS; i++) words[n++] = FUNCTIONS[i].word;
  const struct tk_field *f;
  for (size_t i = 0; !function && k < MOST && (f = figure_at(i)); i++) {
    words[n++] = f->name;
    for (size_t u = 0; UNITS[u]; u++) {
      const size_t len = strlen(f->name), unit = strlen(UNITS[u]);
      if (len <= unit || strcmp(f->name + len - unit, UNITS[u]) != 0) continue;
      snprintf(shorter[k], LONGEST, "%.*s", (int)(len - unit), f->name);
      words[n++] = shorter[k++];
    }
  }
  for (size_t i = 0; !function && i < KEYS && (words[n] = tk_key_figure(i, &key_unit)); i++) n++;
  words[n] = NULL;
  const char *near = function ? NULL : meant_figure(word);
  if (!near) near = tk_nearest(word, words);
  tty_fail("%s: '%s': unknown %s '%s'%s%s%s", command, text, function ? "function" : "figure", word,
          near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return false;
}

static bool parse_function(struct expect *e, const char *command, const char *p, size_t n) {
  char word[64];
  const size_t len = strcspn(p, "(");
  snprintf(word, sizeof word, "%.*s", (int)(trimmed(p, len) < 60 ? trimmed(p, len) : 60), p);
  if (p[n - 1] != ')') return refuse(command, e->text, "expected FUNCTION(NAME) before the operator");
  for (size_t i = 0; i < N_FUNCTIONS; i++) {
    if (strcmp(word, FUNCTIONS[i].word) != 0) continue;
    e->function = FUNCTIONS[i].function;
    const char *name = skip_blanks(p + len + 1);
    size_t size = trimmed(name, (size_t)(p + n - 1 - name));
    if (size >= 2 && *name == '"' && name[size - 1] == '"') name++, size -= 2;
    e->name = strndup(name, size);
    if (!e->name || !size) return refuse(command, e->text, "missing event name in parentheses");
    const bool of_steps = e->function == EXPECT_DEVIATION || e->function == EXPECT_OUTLIERS;
    const bool of_names = e->function == EXPECT_SELF || e->function == EXPECT_UNION || e->function >= EXPECT_OF_RANGE;
    if ((of_steps && !expect_is_step(e)) || (of_names && expect_is_step(e)))
      return refuse(command, e->text, of_steps ? "only available for steps" : "not available for steps");
    return true;
  }
  return refuse_word(command, e->text, word, true);
}

static bool parse_figure(struct expect *e, const char *command, const char *p, size_t n, bool compares) {
  char word[64];
  snprintf(word, sizeof word, "%.*s", (int)(n < 60 ? n : 60), p);
  if (compares && strcmp(word, "total") == 0) return true;
  e->figure = figure_of(p, n, e->unit == EXPECT_PERCENT && !compares);
  if (!e->figure) e->key = figure_key(p, n, &e->key_unit);
  return e->figure || e->key || refuse_word(command, e->text, word, false);
}

bool expect_is_step(const struct expect *e) { return e->name && strcmp(e->name, "step") == 0; }

static enum expect_unit unit_of_key(const char *unit) {
  if (!*unit) return EXPECT_PLAIN;
  return strcmp(unit, "%") == 0 ? EXPECT_PERCENT : EXPECT_TIME;
}

enum expect_unit expect_unit(const struct expect *e) {
  if (e->key) return unit_of_key(e->key_unit);
  if (e->function == EXPECT_FIGURE && !e->figure) return EXPECT_TIME;
  if (e->function == EXPECT_FIGURE)
    switch (e->figure->unit) {
      case TK_UNIT_NS: return EXPECT_TIME;
      case TK_UNIT_PERCENT: return EXPECT_PERCENT;
      case TK_UNIT_BYTES: return EXPECT_SIZE;
      default: return EXPECT_PLAIN;
    }
  for (size_t i = 0; i < N_FUNCTIONS; i++)
    if (FUNCTIONS[i].function == e->function) return FUNCTIONS[i].unit;
  return EXPECT_PLAIN;
}

/* Returns the name of the percentage that corresponds to a figure of time, such as device_busy for busy_ns; NULL if there is
 * none. */
static const char *meant_of_time(const struct tk_field *f) {
  char word[64];
  const size_t n = strlen(f->name);
  snprintf(word, sizeof word, "%.*s", (int)(n > 3 ? n - 3 : n), f->name);
  return meant_figure(word);
}

static bool check_unit(const struct expect *e, const char *command, bool compares) {
  static const char *const WANTED[] = { "a number, such as 3", "a percentage, such as 80%", "a time, such as 150ms",
                                        "a size, such as 2GB" };
  const enum expect_unit unit = expect_unit(e);
  if (e->unit == unit || (unit == EXPECT_SIZE && e->unit == EXPECT_PLAIN)) return true;
  if (compares && (e->unit == EXPECT_PERCENT || e->unit == EXPECT_RATIO)) return true;
  const char *meant = e->figure && e->unit == EXPECT_PERCENT ? meant_of_time(e->figure) : NULL;
  tty_fail("%s: '%s': expected %s%s%s%s", command, e->text, WANTED[unit], meant ? "; did you mean '" : "", meant ? meant : "",
           meant ? "'?" : "");
  return false;
}

bool expect_parse(struct expect *e, const char *command, const char *text, bool compares) {
  *e = (struct expect){ .text = text };
  const char *from = skip_blanks(text);
  size_t n_op;
  const char *op = find_op(from, &e->op, &n_op);
  if (!op || op == from) return refuse(command, text, "expected WORD < VALUE or FUNCTION(NAME) < VALUE");
  const size_t n = trimmed(from, (size_t)(op - from));
  if (!parse_value(e, skip_blanks(op + n_op))) return refuse(command, text, "expected a value after the operator");
  const bool function = memchr(from, '(', n) != NULL;
  if (n == 0 || !(function ? parse_function(e, command, from, n) : parse_figure(e, command, from, n, compares)))
    return n > 0 ? false : refuse(command, text, "missing name of a figure before the operator");
  return check_unit(e, command, compares);
}

void expect_free(struct expect *e) { free(e->name); }

/* ---- evaluating ---- */

bool expect_holds(const struct expect *e, double value) {
  switch (e->op) {
    case EXPECT_LT: return value < e->value;
    case EXPECT_LE: return value <= e->value;
    case EXPECT_GT: return value > e->value;
    case EXPECT_GE: return value >= e->value;
    case EXPECT_EQ: return value == e->value;
    default: return value != e->value;
  }
}

const char *expect_print(const struct expect *e, double value, char *text) {
  char number[32];
  switch (expect_unit(e)) {
    case EXPECT_TIME:
      if (value < 9e18) tk_print_duration((tk_time)(value + 0.5), text);
      else snprintf(text, 64, "%.0f s", value / 1e12);
      break;
    case EXPECT_PERCENT: snprintf(text, 64, "%s%%", tty_fraction(value, 2, number)); break;
    case EXPECT_SIZE: tk_print_size((uint64_t)value, text); break;
    default: tk_print_number(value, text); break;
  }
  return text;
}

static bool of_spread(const struct expect *e, const struct tk_report_spread *s, double *v) {
  switch (e->function) {
    case EXPECT_COUNT: *v = (double)s->count; return true;
    case EXPECT_OUTLIERS: *v = (double)s->outliers; break;
    case EXPECT_TOTAL: *v = (double)s->mean * (double)s->count; break;
    case EXPECT_MEAN: *v = (double)s->mean; break;
    case EXPECT_MIN: *v = (double)s->min; break;
    case EXPECT_MAX: *v = (double)s->max; break;
    case EXPECT_P50: *v = (double)s->p50; break;
    case EXPECT_P95: *v = (double)s->p95; break;
    default: *v = (double)s->deviation; break;
  }
  return s->count > 0;
}

static double ps_of(struct tk_total t) { return (double)t.s * 1e12 + (double)t.ps; }

static bool of_row(const struct expect *e, const struct tk_top_row *row, double *v) {
  switch (e->function) {
    case EXPECT_COUNT: *v = (double)row->count; return true;
    case EXPECT_TOTAL: *v = ps_of(row->total); break;
    case EXPECT_SELF: *v = ps_of(row->self); break;
    case EXPECT_UNION: *v = (double)row->union_time; break;
    case EXPECT_MEAN: *v = (double)row->mean; break;
    case EXPECT_MIN: *v = (double)row->min; break;
    case EXPECT_MAX: *v = (double)row->max; break;
    case EXPECT_P50: *v = (double)row->p50; break;
    case EXPECT_P95: *v = (double)row->p95; break;
    case EXPECT_OF_RANGE: *v = 100 * row->of_range; break;
    default: *v = 100 * row->of_sum; break;
  }
  return row->timed > 0;
}

/* Returns the filter expression name ~ "...", with the name escaped; NULL if out of memory. */
static char *name_test(const char *name) {
  char *text = NULL;
  size_t n;
  FILE *to = tty_open_text(&text, &n);
  if (!to) return NULL;
  fputs("name ~ \"", to);
  for (; *name; name++) {
    if (*name == '"' || *name == '\\') fputc('\\', to);
    fputc(*name, to);
  }
  fputs("\"", to);
  tty_close_text(to, &text);
  return text;
}

static const struct tk_top_row *expect_row_of(const struct tk_top_report *r, const char *name) {
  for (size_t i = 0; i < r->n_rows; i++)
    if (r->rows[i].name && strcmp(r->rows[i].name, name) == 0) return &r->rows[i];
  return NULL;
}

/* Evaluates a function of the named events, without copies of annotations on devices. Grouping by an arg that no event has puts
 * all matching events into one row; only percent_of_sum groups by name. */
static enum expect_result ask_names(const struct expect *e, struct tk_trace *t, char *said, size_t n) {
  char *test = name_test(e->name), text[64];
  const char *where[] = { test, NULL };
  const bool of_sum = e->function == EXPECT_OF_SUM;
  const struct tk_top_options options = {
    .select = { .where = of_sum ? NULL : where }, .by = of_sum ? TK_TOP_NAME : TK_TOP_ARG, .arg = "\001",
    .no_copies = true
  };
  struct tk_top_report *report = NULL;
  struct tk_err err = { 0 };
  double v = 0;
  bool known = test && tk_top(t, &options, &report, &err);
  if (!known) snprintf(said, n, "%.200s", test ? err.msg : "out of memory");
  const struct tk_top_row *row = !known ? NULL : of_sum ? expect_row_of(report, e->name) : report->n_rows ? &report->rows[0]
    : NULL;
  if (known && !row && e->function != EXPECT_COUNT) {
    known = false;
    snprintf(said, n, "the trace has no event with this name");
  } else if (known && row && !of_row(e, row, &v)) {
    known = false;
    snprintf(said, n, "no event with this name has a known duration");
  }
  tk_top_report_free(report);
  free(test);
  if (!known) return EXPECT_UNKNOWN;
  snprintf(said, n, "%s", expect_print(e, v, text));
  return expect_holds(e, v) ? EXPECT_HELD : EXPECT_FAILED;
}

/* Evaluates a key figure: the worst value of all devices and ranks. */
static enum expect_result ask_key(const struct expect *e, const struct tk_report *r, char *said, size_t n) {
  double value;
  char text[64], device[200];
  const struct tk_report_figure *f = figure_key_value(e->key, r, &value);
  if (!f) {
    snprintf(said, n, "the trace lacks the data for this key figure");
    return EXPECT_UNKNOWN;
  }
  figure_device(f, device, sizeof device);
  snprintf(said, n, "%s%s%s", expect_print(e, value, text), *device ? " of " : "", device);
  return expect_holds(e, value) ? EXPECT_HELD : EXPECT_FAILED;
}

/* ---- figures of ranks ---- */

/* Returns a number that is larger if `value` is worse for the assertion. Of several values, the worst one decides. */
static double badness(const struct expect *e, double value) {
  const double away = value > e->value ? value - e->value : e->value - value;
  switch (e->op) {
    case EXPECT_LT: case EXPECT_LE: return value;
    case EXPECT_GT: case EXPECT_GE: return -value;
    default: return e->op == EXPECT_EQ ? away : -away;
  }
}

static bool has_steps(const struct tk_report_rank *row) { return row->step.count > 0; }

/* True if the row has no steps, but another device of the same rank has steps. The assertion then applies to that device. */
static bool steps_are_elsewhere(const struct tk_report *r, const struct tk_report_rank *row) {
  bool any = false;
  for (size_t i = 0; i < r->n_ranks && !any && !has_steps(row); i++) {
    const struct tk_report_rank *other = &r->ranks[i];
    const bool is_same = other->rank == row->rank && strcmp(other->input, row->input) == 0 && strcmp(other->host, row->host) == 0;
    any = is_same && has_steps(other);
  }
  return any;
}

/* Rows of a report that decide an assertion. */
struct deciding {
  const struct tk_report_rank *worst, *unknown; /* NULL: none */
  double value;                                 /* of the worst row */
};

static void decide(const struct expect *e, const struct tk_report *r, const struct tk_report_rank *row, struct deciding *d) {
  double value = 0;
  if (expect_is_step(e) && steps_are_elsewhere(r, row)) return;
  const bool known = expect_is_step(e) ? of_spread(e, &row->step, &value) : figure_value(e->figure, row, &value);
  if (!known && !d->unknown) d->unknown = row;
  if (!known || (d->worst && badness(e, value) <= badness(e, d->value))) return;
  d->worst = row;
  d->value = value;
}

/* Evaluates a figure of each device and rank. The worst value decides; if it passes but another value is unknown, the result is
 * unknown. */
static enum expect_result ask_rows(const struct expect *e, const struct tk_report *r, char *said, size_t n) {
  struct deciding d = { 0 };
  char name[200] = "", text[64], marks[120] = "";
  for (size_t i = 0; i < r->n_ranks; i++) decide(e, r, &r->ranks[i], &d);
  const bool failed = d.worst && !expect_holds(e, d.value), decided = failed || !d.unknown;
  if (expect_is_step(e) && remarks_names_steps(r->step_name)) snprintf(marks, sizeof marks, " (steps marked by '%.80s')", r->step_name);
  if (r->n_ranks > 1 || !decided) figure_report_name(r, decided ? d.worst : d.unknown, name, sizeof name);
  if (decided) snprintf(said, n, "%s%s%s%s", expect_print(e, d.value, text), *name ? " of " : "", name, marks);
  else if (expect_is_step(e) && !d.worst)
    snprintf(said, n, "no training steps are marked; use --step-name to name the spans that mark them");
  else if (expect_is_step(e)) snprintf(said, n, "no training steps are marked for %s", name);
  else snprintf(said, n, "not available in this trace%s%s", *name ? " for " : "", name);
  return failed ? EXPECT_FAILED : decided ? EXPECT_HELD : EXPECT_UNKNOWN;
}

enum expect_result expect_ask(const struct expect *e, struct tk_trace *t, const struct tk_report *r, char *said, size_t n) {
  if (e->name && !expect_is_step(e)) return ask_names(e, t, said, n);
  if (e->key && r->n_ranks) return ask_key(e, r, said, n);
  if (r->n_ranks) return ask_rows(e, r, said, n);
  snprintf(said, n, "the trace has no events");
  return EXPECT_UNKNOWN;
}
