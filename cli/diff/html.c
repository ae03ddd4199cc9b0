/* html.c - writes a comparison of runs as one HTML page (html.h), with the style of a report: a chart of the steps, the runs, and a row
 * for each name. */
#include "diff/html.h"
#include "print/html.h"
#include "print/tty.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8 }; /* runs that have a column each */

/* ---- runs ---- */

static void page_head(FILE *to, const struct tk_compare_report *r) {
  char text[64];
  fprintf(to, "<h1>Comparison of %s</h1>\n<p>", tty_counted(r->n_runs, "run", text));
  html_string(to, r->runs[0].name);
  fputs(r->n_runs > 2 ? ", …, " : ", ", to);
  html_string(to, r->runs[r->n_runs - 1].name);
  fputs("</p>\n", to);
}

/* Draws one bar for each run, relative to the longest; the label has the run's name, its time and its change. */
static void page_bars(FILE *to, const struct tk_compare_report *r, const struct tk_compare_row *row, const char *title) {
  double most = 0;
  char text[48], change[48];
  for (size_t i = 0; i < row->n_runs; i++) most = fmax(most, row->runs[i].total);
  if (most <= 0) return;
  html_section(to, title, "The first run is the baseline. Red and green: changes that exceed the noise.");
  for (size_t i = 0; i < row->n_runs; i++) {
    const struct tk_compare_cell *c = &row->runs[i];
    const char *class = c->state != TK_COMPARE_CHANGED ? "c0" : c->delta > 0 ? "bad" : "good";
    fputs("<div class=row><div>", to);
    html_string(to, r->runs[i].name);
    fprintf(to, "<br>%s %s</div><div class=bar>", runs_time(c->total, text), runs_change(row, i, change));
    fprintf(to, "<i class=%s style=\"width:%s%%\"></i></div></div>\n", class, tty_fraction(100 * c->total / most, 2, text));
  }
  html_section_end(to);
}

static void page_runs(FILE *to, const struct tk_compare_report *r) {
  const struct html_column columns[] = {
    { "run", false, true }, { "inputs", true, false }, { r->by_step ? "steps" : "ranks", true, false }, { "length", false, false },
    { "window", true, false }, { "busy %", false, false }, { "work", false, false }, { "launches", true, false },
    { "launches per step", false, false },
    { "memory, peak", false, false }, { "allocated, peak", true, false }, { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  char text[32];
  html_section(to, "Runs", "Window: from the first work of a device to the end of the last, as a mean over the devices.");
  html_table_begin(&t);
  for (size_t i = 0; i < r->n_runs; i++) {
    const struct tk_compare_run *run = &r->runs[i];
    html_cell(&t, run->name);
    html_cell_count(&t, run->inputs);
    html_cell_count(&t, run->samples);
    html_cell_time(&t, true, run->length);
    html_cell_time(&t, run->window > 0, run->window);
    html_cell_percent(&t, (double)run->busy, (double)run->window);
    html_cell_count(&t, run->work);
    html_cell_count(&t, run->launches);
    html_cell(&t, run->launches_per_step >= 0 ? tty_fraction(run->launches_per_step, 1, text) : "–");
    html_cell_bytes(&t, run->memory >= 0, run->memory);
    html_cell_bytes(&t, run->allocated >= 0, run->allocated);
  }
  html_table_end(&t);
  html_section_end(to);
}

/* ---- names ---- */

static void title_cell(FILE *to, const char *class, const char *text) {
  fprintf(to, "<th%s>", class);
  html_string(to, text);
  fputs("</th>", to);
}

static void value_cell(FILE *to, const char *class, const char *text) {
  fprintf(to, "<td%s>", class);
  html_string(to, text);
  fputs("</td>", to);
}

static const char *class_of_delta(double delta) { return delta > 0 ? " class=up" : " class=down"; }

/* Draws the total of each run as a bar. The colour of the bars changes at each lasting change (row->shifts). */
static void draw_trend(FILE *to, const struct tk_compare_row *row) {
  double most = 0;
  for (size_t i = 0; i < row->n_runs; i++) most = fmax(most, row->runs[i].total);
  fputs("<td><svg role=img aria-label=\"trend\" style=\"width:8rem;height:1.3rem\" preserveAspectRatio=\"none\"", to);
  fprintf(to, " viewBox=\"0 0 %zu 1000\">", row->n_runs * 10);
  for (size_t i = 0, shift = 0; most > 0 && i < row->n_runs; i++) {
    const long high = (long)(row->runs[i].total / most * 1000);
    while (shift < row->n_shifts && row->shifts[shift].run <= i) shift++;
    fprintf(to, "<path class=c%d d=\"M%zu 1000v-%ldh8v%ldz\"/>", (int)(shift % 2), i * 10 + 1, high, high);
  }
  fputs("</svg></td>", to);
}

static void run_values(FILE *to, const struct tk_compare_row *row) {
  char time[48], change[48];
  for (size_t i = 0; i < row->n_runs; i++) {
    const struct tk_compare_cell *c = &row->runs[i];
    value_cell(to, "", c->events ? runs_time(c->total, time) : "–");
    if (i) value_cell(to, c->state == TK_COMPARE_CHANGED ? class_of_delta(c->delta) : "", runs_change(row, i, change));
  }
}

static void ends_of_runs(FILE *to, const struct tk_compare_row *row) {
  const struct tk_compare_cell *last = &row->runs[row->n_runs - 1];
  char text[48];
  value_cell(to, "", row->runs[0].events ? runs_time(row->runs[0].total, text) : "–");
  value_cell(to, "", last->events ? runs_time(last->total, text) : "–");
  value_cell(to, last->state == TK_COMPARE_CHANGED ? class_of_delta(last->delta) : "", runs_change(row, row->n_runs - 1, text));
}

static void shift_values(FILE *to, const struct tk_compare_report *r, const struct tk_compare_row *row) {
  char text[48], noise[48], words[512] = "";
  const char *class = "";
  for (size_t i = 0; i < row->n_shifts; i++) {
    const struct tk_compare_shift *s = &row->shifts[i];
    const size_t n = strlen(words);
    if (s->small) continue;
    class = class_of_delta(s->after - s->before);
    snprintf(words + n, sizeof words - n, "%s%s%s ± %s from %.60s", n ? "; " : "", s->after > s->before ? "+" : "-",
             runs_time(s->after - s->before, text), runs_time(s->noise, noise), r->runs[s->run].name);
    snprintf(words + strlen(words), sizeof words - strlen(words), " (p %s)", runs_p(s->p, text));
  }
  value_cell(to, class, words);
}

static void name_row(FILE *to, const struct tk_compare_report *r, const struct runs_view *v, const struct tk_compare_row *row,
                     const char *name) {
  char works[1024];
  fputs("<tr><td class=name><div title=\"", to);
  html_string(to, name);
  fputs("\">", to);
  html_string(to, row->short_name ? runs_name_of(row, v) : name);
  if (*runs_works_of(row, v->full, works, sizeof works)) {
    fputs(": ", to);
    html_string(to, works);
  }
  fputs("</div></td>", to);
  if (r->n_runs <= COLUMNS && !v->over) run_values(to, row);
  else ends_of_runs(to, row);
  if (v->over) shift_values(to, r, row);
  if (r->n_runs > 2) draw_trend(to, row);
  fputs("</tr>\n", to);
}

static void titles(FILE *to, const struct tk_compare_report *r, const struct runs_view *v) {
  fputs("<div class=scroll><table><tr>", to);
  title_cell(to, " class=name", v->by ? v->by : "name");
  const bool all = r->n_runs <= COLUMNS && !v->over;
  for (size_t i = 0; all && i < r->n_runs; i++) {
    title_cell(to, "", r->runs[i].name);
    if (i) title_cell(to, "", "");
  }
  if (!all) title_cell(to, "", "first"), title_cell(to, "", "last"), title_cell(to, "", "last to first");
  if (v->over) title_cell(to, "", "lasting changes");
  if (r->n_runs > 2) title_cell(to, "", "runs");
  fputs("</tr>\n", to);
}

static void page_names(FILE *to, const struct tk_compare_report *r, const struct runs_view *v) {
  html_section(to, "What changed",
               v->over ? "Sums of durations per step or rank. A lasting change divides the runs in two parts whose means differ by "
                         "more than their noise explains; p is its probability by chance."
                       : "Sums of durations per step or rank, and their change against the first run. ~ within the noise, ? unknown "
                         "noise.");
  titles(to, r, v);
  name_row(to, r, v, r->all, "(all, self time)");
  for (size_t i = 0; i < v->top; i++) name_row(to, r, v, &r->rows[i], r->rows[i].name ? r->rows[i].name : "(none)");
  fputs("</table></div>\n", to);
  html_section_end(to);
}

void runs_write_html(const struct tk_compare_report *r, const struct runs_view *v, FILE *to) {
  html_begin(to, "Comparison of runs");
  page_head(to, r);
  page_bars(to, r, r->by_step ? r->step : r->all, r->by_step ? "Time per step" : "Time per rank");
  page_runs(to, r);
  page_names(to, r, v);
  html_end(to);
}
