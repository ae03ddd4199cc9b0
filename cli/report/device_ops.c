/* device_ops.c - see device_ops.h. */
#include "device_ops.h"

#include "print/html.h"
#include "print/table.h"
#include "print/tty.h"
#include "print/wrap.h"

static const char *op_name(const struct tk_report_device_op *o) { return o->name ? o->name : "(none)"; }

static bool any_named(const struct tk_report *r) {
  bool any = false;
  for (size_t i = 0; i < r->n_device_ops; i++) any = any || r->device_ops[i].name;
  return any;
}

static void op_row(struct table *t, const struct tk_report_device_op *o) {
  char text[48];
  tk_print_total(o->device, text);
  table_cell(t, "%s", text);
  table_cell(t, "%s", tty_fraction(100 * o->of_work, 1, text));
  table_cell(t, "%s", tty_count(o->calls, text));
  table_cell(t, "%s", tty_count(o->work, text));
  tk_print_total(o->host_self, text);
  table_cell(t, "%s", o->has_host ? text : "-");
  table_cell(t, "%s", o->category);
  table_cell(t, "%s", op_name(o));
}

bool device_ops_print(const struct tk_report *r, size_t top) {
  static const char *const titles[] = { "device", "%device", "calls", "work", "host self", "category", "operator" };
  struct table t = { .align = "rrrrrll", .drop = "..cdab.", .width = tty_page_width(stdout), .bars = 2 };
  if (!any_named(r)) return true;
  wrap_title("Operators by device time (work: kernels, copies and fills)");
  for (size_t k = 0; k < sizeof titles / sizeof *titles; k++) table_cell(&t, "%s", titles[k]);
  for (size_t i = 0; i < r->n_device_ops && i < top; i++) op_row(&t, &r->device_ops[i]);
  return table_print(&t, stdout);
}

void device_ops_draw(FILE *to, const struct tk_report *r, size_t top) {
  static const struct html_column columns[] = {
    { "operator", false, true }, { "category", true, false }, { "device", false, false }, { "% of work", false, false },
    { "calls", false, false }, { "work", true, false }, { "host, self", true, false }, { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  if (!any_named(r)) return;
  html_section(to, "Operators by device time", "Operators of frameworks by the work that they launched, and instructions of XLA by "
                                               "their own time. Work: kernels, copies and fills.");
  html_table_begin(&t);
  for (size_t i = 0; i < r->n_device_ops && i < top; i++) {
    const struct tk_report_device_op *o = &r->device_ops[i];
    html_cell(&t, op_name(o));
    html_cell(&t, o->category);
    html_cell_total(&t, true, o->device);
    html_cell_percent(&t, o->of_work, 1);
    html_cell_count(&t, o->calls);
    html_cell_count(&t, o->work);
    html_cell_total(&t, o->has_host, o->host_self);
  }
  html_table_end(&t);
  html_section_end(to);
}
