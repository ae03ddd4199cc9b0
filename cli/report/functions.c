/* functions.c - see functions.h. Each unit has its own table, because weights in different units cannot be compared. */
#include "functions.h"
#include "print/html.h"
#include "print/table.h"
#include "print/tty.h"
#include "print/wrap.h"

#include <string.h>

/* Returns the index after the last row with the unit of row i. */
static size_t functions_end(const struct tk_report *r, size_t i) {
  const char *unit = r->functions[i].unit;
  while (i < r->n_functions && strcmp(r->functions[i].unit, unit) == 0) i++;
  return i;
}

static const char *weight_text(const struct tk_report_function *f, struct tk_total weight, char *text) {
  if (*f->unit) tk_print_number((double)weight.s * 1e9 + (double)weight.ps / 1e3, text);
  else tk_print_total(weight, text);
  return text;
}

static const char *functions_unit(const struct tk_report_function *f) { return *f->unit ? f->unit : "time"; }

static const char *function_name(const struct tk_report_function *f) { return f->name_len ? f->name : "(unnamed)"; }

static void functions_row(struct table *t, const struct tk_report_function *f) {
  char text[48];
  table_cell(t, "%s", weight_text(f, f->self, text));
  table_cell(t, "%s", tty_fraction(100 * f->self_of_sum, 1, text));
  table_cell(t, "%s", weight_text(f, f->total, text));
  table_cell(t, "%s", tty_fraction(100 * f->total_of_sum, 1, text));
  table_cell(t, "%s", tty_count(f->samples, text));
  table_cell(t, "%s", function_name(f));
}

bool functions_print(const struct tk_report *r, size_t top) {
  static const char *const titles[] = { "self", "%self", "total", "%total", "samples", "function" };
  for (size_t i = 0, end; i < r->n_functions; i = end) {
    struct table t = { .align = "rrrrrl", .drop = "....a.", .width = tty_page_width(stdout), .bars = 2 };
    char heading[160];
    end = functions_end(r, i);
    snprintf(heading, sizeof heading, "Functions in stack samples by self weight (%.80s)", functions_unit(&r->functions[i]));
    wrap_title(heading);
    for (size_t k = 0; k < sizeof titles / sizeof *titles; k++) table_cell(&t, "%s", titles[k]);
    for (size_t k = i; k < end && k < i + top; k++) functions_row(&t, &r->functions[k]);
    if (!table_print(&t, stdout)) return false;
  }
  return true;
}

static void draw_row(struct html_table *t, const struct tk_report_function *f) {
  char text[48];
  html_cell(t, function_name(f));
  html_cell(t, weight_text(f, f->self, text));
  html_cell_percent(t, f->self_of_sum, 1);
  html_cell(t, weight_text(f, f->total, text));
  html_cell_percent(t, f->total_of_sum, 1);
  html_cell_count(t, f->samples);
}

void functions_draw(FILE *to, const struct tk_report *r, size_t top) {
  static const struct html_column columns[] = {
    { "function", false, true }, { "self", false, false }, { "% of self", false, false }, { "total", false, false },
    { "% of total", true, false }, { "samples", true, false }, { 0, false, false } };
  for (size_t i = 0, end; i < r->n_functions; i = end) {
    struct html_table t = { .to = to, .columns = columns };
    char words[240];
    end = functions_end(r, i);
    snprintf(words, sizeof words, "Self: the weight (%.80s) of the samples whose innermost frame is the function. Total: of those "
                                  "whose stack contains it.", functions_unit(&r->functions[i]));
    html_section(to, "Functions in stack samples", words);
    html_table_begin(&t);
    for (size_t k = i; k < end && k < i + top; k++) draw_row(&t, &r->functions[k]);
    html_table_end(&t);
    html_section_end(to);
  }
}
