/* text.c - prints a comparison of several runs as tables (text.h): the runs, and a row for each name. */
#include "diff/text.h"
#include "print/csv.h"
#include "print/fields.h"
#include "print/table.h"
#include "print/wrap.h"
#include "shared/remarks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8 }; /* runs that the table of names shows in full; more are shown as trends */

const char *runs_path_end(const char *path, char *text, size_t n) {
  const char *p = path + strlen(path);
  int names = 0;
  for (; p > path; p--)
    if (strncmp(p, " > ", 3) == 0 && ++names == 3) break;
  if (p == path) return path;
  snprintf(text, n, "...%s", p);
  return text;
}

const char *runs_works(const struct runs_work *v, size_t n, char *text, size_t room) {
  const struct runs_work *last = NULL;
  *text = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t at = strlen(text);
    if (!v[i].name || (last && strcmp(last->name, v[i].name) == 0)) continue;
    snprintf(text + at, room - at, "%s%.160s", last ? " -> " : "", v[i].name);
    last = &v[i];
    const size_t end = strlen(text);
    if (last->names > 1) snprintf(text + end, room - end, " (+%llu)", (unsigned long long)last->names - 1);
  }
  return text;
}

const char *runs_name_of(const struct tk_compare_row *row, const struct runs_view *v) {
  if (row->short_name && !v->full) return row->short_name;
  return row->name ? row->name : "(none)";
}

const char *runs_works_of(const struct tk_compare_row *row, bool full, char *text, size_t room) {
  enum { MOST = 16 };
  struct runs_work v[MOST];
  size_t n = 0;
  for (size_t i = 0; i < row->n_runs && n < MOST; i++) {
    const struct tk_compare_cell *c = &row->runs[i];
    const struct runs_work w = { full ? c->work_name : c->work_short_name, c->work_names };
    if (w.name && (n == 0 || strcmp(v[n - 1].name, w.name) != 0)) v[n++] = w;
  }
  return runs_works(v, n, text, room);
}

const char *runs_time(double ps, char *text) {
  tk_print_duration((tk_time)(fmin(fabs(ps), 9e18) + 0.5), text);
  return text;
}

const char *runs_p(double p, char *text) { return p < 0.001 ? "<0.001" : tty_fraction(p, 3, text); }

const char *runs_change(const struct tk_compare_row *row, size_t run, char *text) {
  static const char *const marks[] = { "", "-", "", "~ ", "? ", "new", "gone" };
  const struct tk_compare_cell *c = &row->runs[run];
  const double base = row->runs[0].total;
  char number[32];
  const bool measured = c->state == TK_COMPARE_CHANGED || c->state == TK_COMPARE_NOISE || c->state == TK_COMPARE_UNKNOWN;
  if (measured && base > 0)
    snprintf(text, 48, "%s%s%s%%", marks[c->state], c->delta < 0 ? "" : "+", tty_fraction(100 * c->delta / base, 1, number));
  else snprintf(text, 48, "%s", marks[c->state]);
  return text;
}

static enum tty_style style_of_cell(const struct tk_compare_cell *c) {
  if (c->state != TK_COMPARE_CHANGED) return TTY_PLAIN;
  return c->delta > 0 ? TTY_BAD : TTY_GOOD;
}

/* ---- runs ---- */

static void run_cells(struct table *t, const struct tk_compare_run *run, const char *side) {
  char text[64];
  table_cell(t, "%s", tty_count(run->inputs, text));
  table_cell(t, "%s", tty_count(run->samples, text));
  table_cell(t, "%s", runs_time((double)run->length, text));
  table_cell(t, "%s", run->window > 0 ? runs_time((double)run->window, text) : "-");
  table_cell(t, "%s", run->window > 0 ? tty_fraction(100 * (double)run->busy / (double)run->window, 1, text) : "-");
  table_cell(t, "%s", run->devices ? tty_count(run->work, text) : "-");
  table_cell(t, "%s", run->launches ? tty_count(run->launches, text) : "");
  table_cell(t, "%s", run->launches && run->launches_per_step >= 0 ? tty_fraction(run->launches_per_step, 1, text) : "");
  if (run->memory >= 0) tk_print_size((uint64_t)run->memory, text);
  table_cell(t, "%s", run->memory >= 0 ? text : "");
  if (run->allocated >= 0) tk_print_size((uint64_t)run->allocated, text);
  table_cell(t, "%s", run->allocated >= 0 ? text : "");
  if (side && strcmp(side, run->name) != 0) table_cell(t, "%s: %s", side, run->name);
  else table_cell(t, "%s", run->name);
}

bool runs_print_head(const struct tk_compare_run *runs, size_t n, bool by_step, const char *const *sides) {
  static const char *const titles[] = { "inputs", NULL, "length", "window", "busy %", "work", "launches", "launches/step", "memory",
                                        "allocated", "run" };
  struct table t = { .align = "rrrrrrrrrrl", .drop = "a..e.dcgfb.", .width = tty_width(stdout), .sparse = true };
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    table_cell(&t, "%s", titles[i] ? titles[i] : by_step ? "steps" : "ranks");
  for (size_t i = 0; i < n; i++) run_cells(&t, &runs[i], sides ? sides[i] : NULL);
  return table_print(&t, stdout);
}

/* ---- names, with a column for each run ---- */

static void name_cell(struct table *t, const struct runs_view *v, const struct tk_compare_row *row) {
  char path[1024], works[1024];
  const char *name = runs_name_of(row, v);
  const bool is_work = *runs_works_of(row, v->full, works, sizeof works);
  const bool is_path = is_work || (v->by && strcmp(v->by, "path") == 0);
  table_cell(t, "%s%s%s", is_path ? runs_path_end(name, path, sizeof path) : name, is_work ? ": " : "", works);
}

static void value_cells(struct table *t, const struct tk_compare_row *row) {
  char time[48], change[48];
  for (size_t i = 0; i < row->n_runs; i++) {
    table_cell(t, "%s", row->runs[i].events ? runs_time(row->runs[i].total, time) : "-");
    if (i == 0) continue;
    table_cell(t, "%s", runs_change(row, i, change));
    table_mark_cell(t, style_of_cell(&row->runs[i]));
  }
}

/* Prints a column for each run and, after each run except the first, a column with its change. */
static bool print_columns(const struct tk_compare_report *r, const struct runs_view *v) {
  char align[2 * COLUMNS + 1];
  struct table t = { .align = align, .width = tty_width(stdout) };
  memset(align, 'r', 2 * r->n_runs - 1);
  memcpy(align + 2 * r->n_runs - 1, "l", 2);
  for (size_t i = 0; i < r->n_runs; i++) {
    const char *name = r->runs[i].name;
    table_cell(&t, "%s%.18s", strlen(name) > 18 ? "..." : "", strlen(name) > 18 ? name + strlen(name) - 18 : name);
    if (i) table_cell(&t, "%s", "");
  }
  table_cell(&t, "%s", v->by ? v->by : "name");
  if (r->by_step) value_cells(&t, r->step), table_cell(&t, "(per step)");
  value_cells(&t, r->all);
  table_cell(&t, "(all, self time)");
  for (size_t i = 0; i < v->top; i++) value_cells(&t, &r->rows[i]), name_cell(&t, v, &r->rows[i]);
  return table_print(&t, stdout);
}

/* ---- names, with trends ---- */

/* Writes one character per run, a bar as high as the run's total. If there are more than MOST runs, a bar is the mean of
 * several neighbouring runs. */
static void bars(const struct tk_compare_row *row, char *text) {
  static const char *const heights[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
  enum { MOST = 24, HEIGHTS = sizeof heights / sizeof *heights };
  const size_t n = row->n_runs < MOST ? row->n_runs : MOST;
  double most = 0;
  *text = 0;
  for (size_t i = 0; i < row->n_runs; i++) most = fmax(most, row->runs[i].total);
  for (size_t i = 0; i < n; i++) {
    const size_t from = i * row->n_runs / n, to = (i + 1) * row->n_runs / n;
    double sum = 0;
    for (size_t k = from; k < to; k++) sum += row->runs[k].total;
    const int height = most > 0 ? (int)(sum / (double)(to - from) / most * (HEIGHTS - 1) + 0.5) : 0;
    strcat(text, heights[height < HEIGHTS ? height : HEIGHTS - 1]);
  }
}

static size_t small_shifts(const struct tk_compare_row *row) {
  size_t n = 0;
  for (size_t i = 0; i < row->n_shifts; i++) n += row->shifts[i].small;
  return n;
}

static const struct tk_compare_shift *largest_shift(const struct tk_compare_row *row) {
  const struct tk_compare_shift *most = NULL;
  for (size_t i = 0; i < row->n_shifts; i++) {
    const struct tk_compare_shift *s = &row->shifts[i];
    if (s->small) continue;
    if (!most || fabs(s->after - s->before) > fabs(most->after - most->before)) most = s;
  }
  return most;
}

/* Adds four cells about the largest lasting change: the change, its noise, its p value, and the run in which it occurs (with
 * the number of changes if there are several). */
static void shift_cells(struct table *t, const struct tk_compare_report *r, const struct tk_compare_row *row) {
  const struct tk_compare_shift *s = largest_shift(row);
  char number[48], noise[48];
  if (!s) {
    for (int i = 0; i < 4; i++) table_cell(t, "%s", "");
    return;
  }
  const enum tty_style style = s->after > s->before ? TTY_BAD : TTY_GOOD;
  table_cell(t, "%s%s", s->after < s->before ? "-" : "+", runs_time(s->after - s->before, number));
  table_mark_cell(t, style);
  table_cell(t, "%s", runs_time(s->noise, noise));
  table_cell(t, "%s", runs_p(s->p, number));
  const size_t n = row->n_shifts - small_shifts(row);
  if (n == 1) table_cell(t, "%s", r->runs[s->run].name);
  else table_cell(t, "%s, 1 of %zu", r->runs[s->run].name, n);
}

static void trend_cells(struct table *t, const struct tk_compare_report *r, const struct tk_compare_row *row) {
  const struct tk_compare_cell *first = &row->runs[0], *last = &row->runs[row->n_runs - 1];
  char text[128], number[32];
  table_cell(t, "%s", first->events ? runs_time(first->total, text) : "-");
  table_cell(t, "%s", last->events ? runs_time(last->total, text) : "-");
  if (first->total > 0 && last->total > 0) table_cell(t, "%sx", tty_fraction(last->total / first->total, 2, number));
  else table_cell(t, "-");
  shift_cells(t, r, row);
  bars(row, text);
  table_cell(t, "%s", text);
}

static bool print_trends(const struct tk_compare_report *r, const struct runs_view *v) {
  static const char *const titles[] = { "first", "last", "ratio", "change", "noise", "p", "from run", "runs" };
  struct table t = { .align = "rrrrrrlll", .drop = "..a.cb...", .width = tty_width(stdout) };
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) table_cell(&t, "%s", titles[i]);
  table_cell(&t, "%s", v->by ? v->by : "name");
  if (r->by_step) trend_cells(&t, r, r->step), table_cell(&t, "(per step)");
  trend_cells(&t, r, r->all);
  table_cell(&t, "(all, self time)");
  for (size_t i = 0; i < v->top; i++) trend_cells(&t, r, &r->rows[i]), name_cell(&t, v, &r->rows[i]);
  return table_print(&t, stdout);
}

/* ---- remarks ---- */

/* Prints the names of the spans that mark steps, each once. */
static void print_marks(const struct tk_compare_run *runs, size_t n) {
  for (size_t i = 0; i < n; i++) {
    bool is_new = runs[i].step_name != NULL;
    for (size_t k = 0; is_new && k < i; k++) is_new = !runs[k].step_name || strcmp(runs[k].step_name, runs[i].step_name) != 0;
    if (is_new) remarks_steps(runs[i].step_name);
  }
}

static void print_remarks(const struct tk_compare_report *r, const struct runs_view *v) {
  const bool trends = v->over || r->n_runs > COLUMNS;
  uint64_t small = 0;
  bool marks = false;
  char text[64];
  putchar('\n');
  if (v->top < r->n_rows) wrap_note("averages per %s; %s not shown (see --top)", r->by_step ? "step" : "rank",
                                    tty_counted(r->n_rows - v->top, "row", text));
  else wrap_note("averages per %s", r->by_step ? "step" : "rank");
  if (v->over && r->n_runs < 4) wrap_note("? a lasting change needs at least two runs before and after it");
  else if (v->over) wrap_note("change: the largest lasting change from one run to the next; p: its probability by chance");
  else if (!trends) wrap_note("changes are those against the first run; ~ within the noise, ? unknown noise");
  for (size_t i = 0; i < r->n_rows; i++) {
    small += small_shifts(&r->rows[i]);
    marks = marks || r->rows[i].is_mark;
  }
  if (marks) wrap_note("%s", remarks_marks);
  if (small)
    wrap_note("%s of less than 1%% of the time of %s not listed (--json lists all)", tty_counted(small, "lasting change", text),
              r->by_step ? "a step" : "all events");
  print_marks(r->runs, r->n_runs);
  remarks_outside(r->runs, r->n_runs, NULL);
}

bool runs_print_text(const struct tk_compare_report *r, const struct runs_view *v, bool remarks) {
  if (!runs_print_head(r->runs, r->n_runs, r->by_step, NULL)) return false;
  putchar('\n');
  if (!(v->over || r->n_runs > COLUMNS ? print_trends(r, v) : print_columns(r, v))) return false;
  if (remarks) print_remarks(r, v);
  return true;
}

/* ---- JSON ---- */

void runs_print_json(const struct tk_compare_report *r, const struct runs_view *v) {
  struct json j = { .to = stdout };
  json_open(&j, NULL, '{');
  json_string(&j, "by", v->by ? v->by : "name");
  json_string(&j, "of", r->by_step ? "step" : "rank");
  json_bool(&j, "trends", v->over);
  json_open(&j, "runs", '[');
  for (size_t i = 0; i < r->n_runs; i++) fields_object(&j, NULL, TK_ROW_COMPARE_RUN, &r->runs[i], NULL);
  json_close(&j, ']');
  if (r->by_step) fields_object(&j, "step", TK_ROW_COMPARE_SUM, r->step, NULL);
  else json_null(&j, "step");
  fields_object(&j, "all", TK_ROW_COMPARE_SUM, r->all, NULL);
  json_uint(&j, "rows_in_all", r->n_rows);
  json_open(&j, "rows", '[');
  for (size_t i = 0; i < v->top; i++) fields_object(&j, NULL, TK_ROW_COMPARE, &r->rows[i], NULL);
  json_close(&j, ']');
  json_close(&j, '}');
}

/* ---- CSV ---- */

/* Prints a line for each row and run. */
void runs_print_csv(const struct tk_compare_report *r, const struct runs_view *v) {
  fputs("name,run,", stdout);
  fields_csv_names(TK_ROW_COMPARE_CELL);
  puts(",shift_p");
  for (size_t i = 0; i < v->top; i++) {
    const struct tk_compare_row *row = &r->rows[i];
    for (size_t k = 0, shift = 0; k < row->n_runs; k++) {
      char text[32] = "";
      csv_text(stdout, row->name, row->name ? row->name_len : 0);
      putchar(',');
      csv_text(stdout, r->runs[k].name, strlen(r->runs[k].name));
      putchar(',');
      fields_csv(TK_ROW_COMPARE_CELL, &row->runs[k], row);
      if (shift < row->n_shifts && row->shifts[shift].run == k) tk_print_number(row->shifts[shift++].p, text);
      printf(",%s\n", text);
    }
  }
}
