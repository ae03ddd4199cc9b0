/* top.c - tracekit top: lists the names that took the most time, as a table, as JSON (schemas/top.schema.json) or as CSV. */
#include "commands.h"
#include "print/csv.h"
#include "print/fields.h"
#include "print/json.h"
#include "shared/full_names.h"
#include "shared/remarks.h"
#include "shared/select.h"
#include "print/table.h"
#include "print/tty.h"
#include "print/wrap.h"

#include <stdlib.h>
#include <string.h>

struct params {
  struct selected selected;
  const char *by;
  struct opt_list cols;
  int min_count, top, sort;
  bool fold, csv, full_names;
};

#define FIELD(field) offsetof(struct params, field)

static const struct opt_word sort_words[] = {
  { "total", TK_TOP_SORT_TOTAL, "sum of durations (default)" },
  { "self", TK_TOP_SORT_SELF, "time without nested spans" },
  { "union", TK_TOP_SORT_UNION, "time during which at least one of them ran" },
  { "count", TK_TOP_SORT_COUNT, "number of events" },
  { "mean", TK_TOP_SORT_MEAN, "mean duration" },
  { "min", TK_TOP_SORT_MIN, "shortest duration" },
  { "p50", TK_TOP_SORT_P50, "median duration" },
  { "p95", TK_TOP_SORT_P95, "95th percentile of durations" },
  { "max", TK_TOP_SORT_MAX, "longest duration" },
  { "name", TK_TOP_SORT_NAME, "name, ascending, numbers in numeric order" },
  { 0, 0, 0 },
};

static const struct opt opts[] = {
  { OPT_STRING, 0, "by", "WHAT",
    "group rows by: name (default), cat, kind, rank, process, track, stream, step, phase, op, module, "
    "class or device (of device work, leaving out all else) or arg.KEY", FIELD(by), 0, 0, 0 },
  { OPT_FLAG, 0, "fold", 0,
    "combine names, or strings of an arg, that differ only in numbers or template arguments: fusion.*, "
    "add<*>(float*)", FIELD(fold), 0, 0, 0 },
  { OPT_LIST, 0, "cols", "arg.KEY", "add the mean, minimum and maximum of this arg", FIELD(cols), 0, 0, 0 },
  { OPT_INT, 0, "min-count", "N", "hide rows with fewer events", FIELD(min_count), 0, 1, 2147483647 },
  { OPT_WORD, 0, "sort", "COLUMN", "sort the rows by this column, largest first", FIELD(sort), sort_words, 0, 0 },
  { OPT_INT, 0, "top", "N", "show only the first N rows (default: 30; JSON and CSV: all)", FIELD(top), 0, 1, 1000000000 },
  { OPT_FLAG, 0, "csv", 0, "print the rows as CSV", FIELD(csv), 0, 0, 0 },
  ROW_FULL_NAMES(struct params, full_names),
  ROWS_SELECT,
  ROW_ALLOW_EMPTY,
  ROW_JSON,
  ROW_KEEP_GOING,
  ROWS_READ,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit top trace.json --top 10", "list the ten names that took the most time" },
  { "tracekit top trace.json --kind kernel --fold --sort self", "list kernels, ignoring numbers and template arguments" },
  { "tracekit top trace.json --max-dur 100us --min-count 1000 --sort count", "find small operations that are called often" },
  { "tracekit top logdir --by rank --json", "compare the ranks of a run" },
  { "tracekit top trace.json --by class --kind kernel", "compare matrix products, attention, copies, ..." },
  { "tracekit top logdir --by device --sort union", "show how busy each GPU, TPU core or other device was" },
  { 0, 0 },
};

/* ---- table ---- */

enum column { COL_TOTAL, COL_RANGE, COL_SUM, COL_SELF, COL_UNION, COL_COUNT, COL_MEAN, COL_MIN, COL_P50, COL_P95, COL_MAX, COLS };

static const char *const TITLES[COLS] = { "total", "%range", "%sum", "self", "union", "count", "mean", "min", "p50", "p95", "max" };

/* Typical widths of the columns, including the space after them. */
static const size_t WIDTHS[COLS] = { 12, 8, 6, 12, 12, 9, 12, 12, 12, 12, 12 };

enum { ARG_WIDTH = 10, LEAST_NAME = 22, SHOWN_ROWS = 30 };

/* Hides columns until a line fits into `width`, in the order of the array `order`. */
static void choose_columns(bool *shown, size_t width, size_t n_cols) {
  static const enum column order[] = { COL_MIN, COL_MAX, COL_P50, COL_UNION, COL_RANGE, COL_P95, COL_SELF, COL_MEAN };
  size_t n = n_cols * 3 * ARG_WIDTH + LEAST_NAME;
  for (int i = 0; i < COLS; i++) n += shown[i] ? WIDTHS[i] : 0;
  for (size_t i = 0; width && i < sizeof order / sizeof *order && n > width; i++) {
    n -= shown[order[i]] ? WIDTHS[order[i]] : 0;
    shown[order[i]] = false;
  }
}

static void time_cell(struct table *t, const struct tk_top_row *row, tk_time time) {
  char text[48] = "";
  if (row->timed) tk_print_duration(time, text);
  table_cell(t, "%s", text);
}

static void total_cell(struct table *t, const struct tk_top_row *row, struct tk_total total, const char *unit) {
  char text[48] = "";
  if (unit) tk_print_number((double)total.s * 1e9 + (double)total.ps / 1e3, text);
  else if (row->timed || row->samples) tk_print_total(total, text);
  table_cell(t, "%s", text);
}

static void share_cell(struct table *t, bool known, double share) {
  char text[32];
  table_cell(t, "%s", known ? tty_fraction(100 * share, 1, text) : "");
}

static void count_cell(struct table *t, uint64_t n) {
  char text[32];
  table_cell(t, "%s", tty_count(n, text));
}

static void cell(struct table *t, const struct tk_top_row *row, enum column column, const char *unit) {
  switch (column) {
    case COL_TOTAL: total_cell(t, row, row->total, unit); break;
    case COL_RANGE: share_cell(t, row->timed, row->of_range); break;
    case COL_SUM: share_cell(t, true, row->of_sum); break;
    case COL_SELF: total_cell(t, row, row->self, unit); break;
    case COL_UNION: time_cell(t, row, row->union_time); break;
    case COL_COUNT: count_cell(t, row->count); break;
    case COL_MEAN: time_cell(t, row, row->mean); break;
    case COL_MIN: time_cell(t, row, row->min); break;
    case COL_P50: time_cell(t, row, row->p50); break;
    case COL_P95: time_cell(t, row, row->p95); break;
    default: time_cell(t, row, row->max); break;
  }
}

static void number_cell(struct table *t, bool has, double v) {
  char text[32] = "";
  if (has) tk_print_number(v, text);
  table_cell(t, "%s", text);
}

static void arg_cells(struct table *t, const struct tk_top_report *r, const struct tk_top_row *row) {
  for (size_t k = 0; k < r->n_cols; k++) {
    const struct tk_top_col *c = &row->cols[k];
    number_cell(t, c->count, c->mean);
    number_cell(t, c->count, c->min);
    number_cell(t, c->count, c->max);
  }
}

static bool is_other(const struct tk_top_row *row) {
  const tk_time second = 1000000000000;
  return row->total.s != row->union_time / second || row->total.ps != row->union_time % second;
}

static void header(struct table *t, const struct params *p, const bool *shown) {
  for (int i = 0; i < COLS; i++)
    if (shown[i]) table_cell(t, "%s", TITLES[i]);
  for (size_t k = 0; k < p->cols.n; k++) {
    table_cell(t, "%s mean", p->cols.v[k]);
    table_cell(t, "min");
    table_cell(t, "max");
  }
  table_cell(t, "%s", p->by ? p->by : "name");
}

/* Names the columns that choose_columns() hid. */
static void say_hidden(const bool *wanted, const bool *shown) {
  char titles[128] = "";
  for (int i = 0; i < COLS; i++)
    if (wanted[i] && !shown[i])
      snprintf(titles + strlen(titles), sizeof titles - strlen(titles), "%s%s", *titles ? ", " : "", TITLES[i]);
  if (*titles) table_say_dropped(titles, stdout);
}

/* Returns 1 + the index of the shown column %sum; 0 if columns are hidden because there is no room, so that there is none for bars. */
static size_t bars_of(const bool *wanted, const bool *shown) {
  size_t n = 0;
  for (int i = 0; i < COLS; i++)
    if (wanted[i] != shown[i]) return 0;
  for (int i = 0; i <= COL_SUM; i++) n += shown[i];
  return n;
}

/* Prints the table. Sets *ranges to true if it contains the column %range. */
static bool print_table(const struct params *p, const struct tk_top_report *r, size_t top, bool *ranges) {
  bool shown[COLS], wanted[COLS];
  size_t n = 0;
  for (int i = 0; i < COLS; i++) shown[i] = i != COL_UNION;
  for (size_t i = 0; i < top; i++) shown[COL_UNION] |= is_other(&r->rows[i]);
  const size_t width = tty_width(stdout);
  memcpy(wanted, shown, sizeof wanted);
  choose_columns(shown, width, r->n_cols);
  *ranges = shown[COL_RANGE];
  char *align = calloc(COLS + 3 * r->n_cols + 2, 1);
  if (!align) return run_no_memory() == STATUS_DONE;
  for (int i = 0; i < COLS; i++) n += shown[i];
  memset(align, 'r', n + 3 * r->n_cols);
  align[n + 3 * r->n_cols] = 'l';
  struct table table = { .align = align, .width = width };
  table.bars = bars_of(wanted, shown);
  header(&table, p, shown);
  for (size_t i = 0; i < top; i++) {
    const struct tk_top_row *row = &r->rows[i];
    for (int k = 0; k < COLS; k++)
      if (shown[k]) cell(&table, row, (enum column)k, r->unit);
    arg_cells(&table, r, row);
    const bool is_short = row->short_name && !p->full_names;
    table_cell(&table, "%s", is_short ? row->short_name : row->name ? row->name : "(none)");
  }
  bool ok = table_print(&table, stdout);
  if (ok) say_hidden(wanted, shown);
  free(align);
  return ok;
}

/* Prints what the percentages are shares of. */
static void print_legend(const struct tk_top_report *r, bool ranges) {
  char sum[48], text[512];
  uint64_t marks = 0;
  for (size_t i = 0; i < r->n_rows; i++) marks += r->rows[i].is_mark;
  if (r->unit) tk_print_number((double)r->sum.s * 1e9 + (double)r->sum.ps / 1e3, sum);
  else tk_print_total(r->sum, sum);
  snprintf(text, sizeof text, "%s%%sum: self as a share of the self time of all selected events, %s%s%s",
           ranges ? "%range: share of the time range in which at least one ran; " : "", sum, marks ? "; " : "",
           marks ? remarks_marks : "");
  wrap_line(stdout, text);
}

static void print_remarks(const struct tk_top_report *r, size_t top, bool ranges) {
  char a[64], b[64], time[48];
  tk_print_duration(r->end - r->start, time);
  putchar('\n');
  if (top < r->n_rows) wrap_note("%s in %s; %s not shown (see --top)", tty_counted(r->events, "event", a), time,
                                 tty_counted(r->n_rows - top, "row", b));
  else wrap_note("%s in %s", tty_counted(r->events, "event", a), time);
  print_legend(r, ranges);
  remarks_steps(r->step_name);
  if (r->allocations)
    wrap_note("%s of memory: their durations are how long the memory was held; --cols=arg.bytes shows sizes, and report shows which "
              "functions hold memory at the peak", tty_counted(r->allocations, "allocation", a));
  remarks_partial(&(struct remarks_partial){ r->unit, r->unweighed, r->unfinished, r->clipped });
}

/* ---- JSON ---- */

static void json_args(struct json *j, const struct params *p, const struct tk_top_row *row) {
  if (p->cols.n == 0) return;
  json_open(j, "cols", '{');
  for (size_t k = 0; k < p->cols.n; k++) {
    const struct tk_top_col *c = &row->cols[k];
    json_open(j, p->cols.v[k], '{');
    json_uint(j, "count", c->count);
    if (c->count) {
      fields_number(j, "mean", c->mean);
      fields_number(j, "min", c->min);
      fields_number(j, "max", c->max);
    }
    json_close(j, '}');
  }
  json_close(j, '}');
}

static void json_row(struct json *j, const struct params *p, const struct tk_top_row *row) {
  json_open(j, NULL, '{');
  fields_json(j, TK_ROW_TOP, row, NULL, SIZE_MAX);
  json_args(j, p, row);
  json_close(j, '}');
}

static void top_print_json(const struct params *p, const struct tk_trace *t, const struct tk_top_report *r, size_t top) {
  struct json j = { .to = stdout };
  json_open(&j, NULL, '{');
  json_string(&j, "input", t->source);
  json_string(&j, "by", p->by ? p->by : "name");
  json_uint(&j, "events", r->events);
  if (r->unit) json_string(&j, "unit", r->unit);
  if (r->unweighed) json_uint(&j, "samples_in_other_units", r->unweighed);
  json_uint(&j, "unfinished", r->unfinished);
  json_uint(&j, "clipped", r->clipped);
  fields_time(&j, "range_ns", r->end - r->start);
  fields_total(&j, "sum_ns", r->sum);
  json_uint(&j, "rows_in_all", r->n_rows);
  json_open(&j, "rows", '[');
  for (size_t i = 0; i < top; i++) json_row(&j, p, &r->rows[i]);
  json_close(&j, ']');
  json_close(&j, '}');
}

/* ---- CSV ---- */

static void csv_numbers(const struct tk_top_col *c) {
  const double v[] = { c->mean, c->min, c->max };
  char text[32];
  for (size_t i = 0; i < 3; i++) {
    putchar(',');
    if (!c->count) continue;
    tk_print_number(v[i], text);
    fputs(text, stdout);
  }
}

static void csv_row(const struct tk_top_report *r, const struct tk_top_row *row) {
  fields_csv(TK_ROW_TOP, row, NULL);
  for (size_t k = 0; k < r->n_cols; k++) csv_numbers(&row->cols[k]);
  putchar('\n');
}

static void csv_title(const char *col, const char *what) {
  char *text = malloc(strlen(col) + strlen(what) + 1);
  putchar(',');
  if (!text) return;
  strcpy(text, col);
  strcat(text, what);
  csv_text(stdout, text, strlen(text));
  free(text);
}

static void print_csv(const struct params *p, const struct tk_top_report *r, size_t top) {
  fields_csv_names(TK_ROW_TOP);
  for (size_t k = 0; k < p->cols.n; k++) {
    csv_title(p->cols.v[k], ".mean");
    csv_title(p->cols.v[k], ".min");
    csv_title(p->cols.v[k], ".max");
  }
  putchar('\n');
  for (size_t i = 0; i < top; i++) csv_row(r, &r->rows[i]);
}

/* ---- the command ---- */

/* Returns the keys of --cols without the prefix "arg.". Sets *wrong, with a message, if a column lacks the prefix or if out of
 * memory. */
static const char **read_cols(const struct opt_list *cols, bool *wrong) {
  const char **keys = calloc(cols->n + 1, sizeof *keys);
  for (size_t i = 0; keys && i < cols->n; i++) {
    if (!select_is_arg(cols->v[i])) *wrong = true, tty_say("top: --cols: invalid column '%s'; expected arg.KEY", cols->v[i]);
    else keys[i] = cols->v[i] + 4;
  }
  if (!keys) *wrong = true, tty_say("out of memory");
  return keys;
}

static int print_top(const struct params *p, const struct tk_trace *t, const struct tk_top_report *r) {
  bool ranges = false;
  const bool table = !p->csv && !p->selected.shared.json;
  size_t top = p->top ? (size_t)p->top : table ? SHOWN_ROWS : SIZE_MAX;
  if (top > r->n_rows) top = r->n_rows;
  if (p->csv) print_csv(p, r, top);
  else if (!table) top_print_json(p, t, r, top);
  else if (!print_table(p, r, top, &ranges)) return STATUS_INPUT;
  else if (!p->selected.shared.quiet) print_remarks(r, top, ranges);
  return STATUS_DONE;
}

/* Prints that all rows are below --min-count. Returns the exit status. */
static int top_say_few(const struct params *p, const struct tk_trace *t) {
  if (!p->selected.shared.quiet) tty_fail("%s: nothing matched: no row has at least %d events (--min-count)", t->source, p->min_count);
  return STATUS_FINDING;
}

/* True if only device work has rows. */
static bool has_only_work(enum tk_top_by by) { return by == TK_TOP_CLASS || by == TK_TOP_DEVICE; }

static void top_say_nothing(struct tk_trace *t, const struct tk_top_options *o) {
  if (has_only_work(o->by))
    tty_fail("%s: nothing matched: --by %s groups device work, and none is selected", t->source,
             o->by == TK_TOP_CLASS ? "class" : "device");
  else select_say_nothing(t, &o->select);
}

static int top_of(const struct params *p, struct tk_top_options *options, const struct operands *in) {
  struct tk_top_report *report = NULL;
  struct progress progress;
  struct tk_err err = { 0 };
  int status;
  struct shared shared = p->selected.shared;
  shared.without = select_without(&shared, options);
  struct tk_trace *t = run_load_operands(&shared, "top", in, &status);
  if (!t) return status;
  progress_start(&progress, "counting", NULL, p->selected.shared.quiet ? -1 : p->selected.shared.progress);
  progress.events = true;
  options->select.progress = run_ticker(&progress);
  bool ok = tk_top(t, options, &report, &err);
  progress_end(&progress);
  const bool may_be_empty = p->selected.selection.allow_empty;
  const bool selects = select_is_asked(&options->select) || has_only_work(options->by);
  const bool nothing = ok && !report->events && !may_be_empty && selects;
  if (!ok) status = run_fail_of(t->source, &err);
  else if (report->events && !report->n_rows && p->min_count && !may_be_empty) status = top_say_few(p, t);
  else status = nothing ? STATUS_FINDING : print_top(p, t, report);
  if (nothing && !p->selected.shared.quiet) top_say_nothing(t, options);
  tk_top_report_free(report);
  tk_free(t);
  return status;
}

/* Checks all options before reading any input. */
static int cmd_top(const void *params, const struct operands *in) {
  const struct params *p = params;
  struct exprs e = select_expressions(&p->selected, "top");
  bool wrong = e.wrong;
  const char **cols = read_cols(&p->cols, &wrong);
  const struct tk_selection select = { .where = (const char *const *)e.v,
                                       .time = p->selected.selection.time,
                                       .steps = p->selected.selection.step };
  const struct tk_filter_options asked = { .where = select.where, .time = select.time, .steps = select.steps };
  struct tk_top_options options = {
    .select = select, .sort = (enum tk_top_sort)p->sort, .cols = cols, .fold = p->fold, .min_count = (uint64_t)p->min_count
  };
  struct tk_err err = { 0 };
  int status = STATUS_USAGE;
  if (p->csv && p->selected.shared.json) status = run_usage("top", "--json and --csv cannot be combined");
  else if (e.failed && !wrong) tty_say("out of memory");
  else if (!wrong && select_by("top", p->by, &options.by, &options.arg))
    status = tk_filter_check(&asked, &err) ? top_of(p, &options, in) : run_fail(&err);
  select_free(&e);
  free(cols);
  return status;
}

const struct command command_top = {
  .name = "top",
  .group = GROUP_ANALYSE,
  .summary = "rank names, kinds, ranks, streams or steps by time",
  .operands = "[INPUT...]",
  .description =
    "Lists names, or other groups given by --by, with the time spent in them, largest first. Spans and instants are counted; "
    "an instant has a duration of 0. Several inputs are read as one trace, as in merge. The options that select events work as "
    "in filter, and refer to the trace as it was read.\n"
    "\n"
    "The column total is the sum of durations; nested spans and spans on several threads all count. Self is the time during which "
    "a span was the innermost selected span of its thread: the self times of a thread add up to the time during which any "
    "selected span ran on it, however the spans nest or overlap. Union, shown if it differs from total, is the time during which "
    "at least one span of the row ran, on any thread. %range is union as a share of the time range, which is the length of the "
    "trace or the range selected by --time and --step. %sum is self as a share of the self time of all selected events. Spans "
    "that only show that a profiler ran are last and have no self time. If a span crosses an edge of the range, only the part "
    "inside counts; a span that never ended is counted but has no duration. p50 and p95 are exact: the shortest duration that "
    "this percentage of the events does not exceed.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = ANY_NUMBER,
  .run = cmd_top,
};
