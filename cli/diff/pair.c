/* pair.c - prints the comparison of two runs (pair.h). */
#include "diff/pair.h"
#include "diff/text.h"
#include "print/csv.h"
#include "print/fields.h"
#include "print/table.h"
#include "print/wrap.h"
#include "shared/remarks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- states of a row ---- */

static const char *const STATES[] = { "changed", "noise", "unknown", "new", "gone" };
static const char *const MARKS[] = { "", "~", "?", "new", "gone" };

/* ---- table ---- */

static void time_cell(struct table *t, bool known, double ps) {
  char text[48] = "-";
  if (known && fabs(ps) < 9e18) tk_print_duration((tk_time)(fabs(ps) + 0.5), text);
  table_cell(t, "%s", text);
}

static void delta_cell(struct table *t, double ps) {
  char text[48];
  tk_print_duration((tk_time)(fmin(fabs(ps), 9e18) + 0.5), text);
  table_cell(t, "%s%s", ps < 0 ? "-" : "+", text);
}

static void ratio_cell(struct table *t, const struct tk_diff_row *r) {
  char text[32];
  if (r->total[0] > 0 && r->total[1] > 0) table_cell(t, "%sx", tty_fraction(r->total[1] / r->total[0], 2, text));
  else table_cell(t, "-");
}

static void count_cell(struct table *t, double n) {
  char text[32];
  if (n == floor(n) && n < 1e15) table_cell(t, "%s", tty_count((uint64_t)n, text));
  else table_cell(t, "%s", tty_fraction(n, 1, text));
}

/* Returns the text of a row: its name (for a path, only the last components). If work is matched by its launch, the names of
 * the kernels follow. */
static const char *name_of_row(const struct tk_diff_row *r, const char *by, bool full, char *text, size_t room) {
  const char *const *names = full ? r->work_name : r->work_short_name;
  const struct runs_work works[] = { { names[0], r->work_names[0] }, { names[1], r->work_names[1] } };
  const char *name = r->short_name && !full ? r->short_name : r->name ? r->name : "(none)";
  char path[1024], work[512];
  const bool is_work = *runs_works(works, 2, work, sizeof work);
  if (is_work) snprintf(text, room, "%s: %s", runs_path_end(name, path, sizeof path), work);
  else if (by && strcmp(by, "path") == 0) return runs_path_end(name, text, room);
  return is_work ? text : name;
}

static void row_cells(struct table *t, const struct tk_diff_row *r, const char *name) {
  time_cell(t, r->events[0] > 0, r->total[0]);
  time_cell(t, r->events[1] > 0, r->total[1]);
  delta_cell(t, r->delta);
  ratio_cell(t, r);
  time_cell(t, r->noise >= 0, r->noise);
  table_cell(t, "%s", MARKS[tk_diff_state(r)]);
  count_cell(t, r->count[0]);
  count_cell(t, r->count[1]);
  table_cell(t, "%s", name);
  if (tk_diff_state(r) == TK_DIFF_CHANGED) table_mark(t, r->delta > 0 ? TTY_BAD : TTY_GOOD);
}

bool pair_print_table(const struct tk_diff_report *r, const char *by, size_t top, bool full) {
  static const char *const sides[] = { "before", "after" };
  static const char *const titles[] = { "before", "after", "delta", "ratio", "noise", "", "count", "after" };
  struct table t = { .align = "rrrrrlrrl", .drop = "....c.ab.", .width = tty_width(stdout) };
  char name[2048];
  if (!runs_print_head(r->runs, 2, r->by_step, sides)) return false;
  putchar('\n');
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) table_cell(&t, "%s", titles[i]);
  table_cell(&t, "%s", by ? by : "name");
  if (r->by_step) row_cells(&t, r->step, "(per step)");
  row_cells(&t, r->all, "(all, self time)");
  for (size_t i = 0; i < top; i++) row_cells(&t, &r->rows[i], name_of_row(&r->rows[i], by, full, name, sizeof name));
  return table_print(&t, stdout);
}

/* Prints the number of steps or ranks that the averages include, how these are matched between the runs, and the number of
 * hidden rows. */
static void print_averages(const struct tk_diff_report *r, size_t top) {
  char a[64], b[64], more[96] = "";
  const char *const matched = !r->paired || r->samples[0] < 2 ? "" : r->by_number ? ", matched by number" : ", matched by order";
  if (top < r->n_rows) snprintf(more, sizeof more, "; %s not shown (see --top)", tty_counted(r->n_rows - top, "row", a));
  putchar('\n');
  wrap_note("averages over %s before and %s after, from %s%s%s", tty_counted(r->samples[0], r->by_step ? "step" : "rank", a),
            tty_counted(r->samples[1], r->by_step ? "step" : "rank", b), r->by_step ? "one rank each" : "one run each", matched, more);
}

static bool any_marks(const struct tk_diff_report *r) {
  bool any = false;
  for (size_t i = 0; i < r->n_rows; i++) any = any || r->rows[i].is_mark;
  return any;
}

void pair_print_remarks(const struct tk_diff_report *r, size_t top) {
  print_averages(r, top);
  if (r->samples[0] > 1 && r->samples[1] > 1) wrap_note("~ within the noise, estimated from the spread of steps or ranks");
  else wrap_note("? not enough steps or ranks to estimate noise");
  if (any_marks(r)) wrap_note("%s", remarks_marks);
  const char *const *marks = (const char *const[]){r->runs[0].step_name, r->runs[1].step_name};
  remarks_steps(marks[0]);
  if (marks[0] && marks[1] && strcmp(marks[0], marks[1]) != 0) remarks_steps(marks[1]);
  remarks_outside(r->runs, 2, (const char *const[]){"before", "after"});
}

/* ---- JSON ---- */

void pair_print_json(const struct tk_diff_report *r, const char *by, size_t top) {
  struct json j = { .to = stdout };
  json_open(&j, NULL, '{');
  json_string(&j, "by", by ? by : "name");
  json_string(&j, "of", r->by_step ? "step" : "rank");
  if (r->paired) json_string(&j, "matched_by", r->by_number ? "number" : "order");
  else json_null(&j, "matched_by");
  fields_object(&j, "before", TK_ROW_COMPARE_RUN, &r->runs[TK_BEFORE], NULL);
  fields_object(&j, "after", TK_ROW_COMPARE_RUN, &r->runs[TK_AFTER], NULL);
  if (r->by_step) fields_object(&j, "step", TK_ROW_DIFF_SUM, r->step, NULL);
  else json_null(&j, "step");
  fields_object(&j, "all", TK_ROW_DIFF_SUM, r->all, NULL);
  json_uint(&j, "rows_in_all", r->n_rows);
  json_open(&j, "rows", '[');
  for (size_t i = 0; i < top; i++) fields_object(&j, NULL, TK_ROW_DIFF, &r->rows[i], NULL);
  json_close(&j, ']');
  json_close(&j, '}');
}

/* ---- CSV ---- */

static void csv_number(bool known, double v) {
  char text[32] = "";
  if (known) tk_print_number(v, text);
  printf(",%s", text);
}

void pair_print_csv(const struct tk_diff_report *r, size_t top) {
  puts("name,state,before_total_ns,after_total_ns,delta_ns,ratio,noise_ns,before_count,after_count,before_self_ns,after_self_ns,"
       "before_work_name,after_work_name");
  for (size_t i = 0; i < top; i++) {
    const struct tk_diff_row *v = &r->rows[i];
    csv_text(stdout, v->name, v->name ? v->name_len : 0);
    printf(",%s", STATES[tk_diff_state(v)]);
    csv_number(true, v->total[0] / 1e3);
    csv_number(true, v->total[1] / 1e3);
    csv_number(true, v->delta / 1e3);
    csv_number(v->total[0] > 0, v->total[0] > 0 ? v->total[1] / v->total[0] : 0);
    csv_number(v->noise >= 0, v->noise / 1e3);
    csv_number(true, v->count[0]);
    csv_number(true, v->count[1]);
    csv_number(true, v->self[0] / 1e3);
    csv_number(true, v->self[1] / 1e3);
    for (int side = 0; side < 2; side++) {
      putchar(',');
      csv_text(stdout, v->work_name[side], v->work_name[side] ? strlen(v->work_name[side]) : 0);
    }
    putchar('\n');
  }
}
