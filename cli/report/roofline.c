/* roofline.c - see roofline.h. The drawing is the usual one: FLOP/s over FLOP/byte on logarithmic axes, under the line of
 * the memory bandwidth and the lines of the peak rates, one per number type. */
#include "roofline.h"

#include "print/html.h"
#include "print/table.h"
#include "print/tty.h"
#include "print/wrap.h"
#include "shared/figures.h"

#include <math.h>
#include <string.h>

/* Prints "18.3 G" for 18.3e9; "-" for 0. */
static const char *with_prefix(double v, char text[32]) {
  static const char prefixes[] = " kMGTPEZY";
  size_t k = 0;
  char digits[32];
  if (!(v > 0)) return strcpy(text, "-");
  while (v >= 999.5 && k + 2 < sizeof prefixes) v /= 1000, k++;
  snprintf(text, 32, k ? "%.20s %c" : "%.20s", tty_fraction(v, v < 99.95 ? 1 : 0, digits), prefixes[k]);
  return text;
}

static const char *percent(double share, char text[32]) {
  return share >= 0 ? tty_fraction(100 * share, 1, text) : strcpy(text, "-");
}

static double share_of(double part, double whole) { return part > 0 && whole > 0 ? part / whole : -1; }

/* Returns the MFU over all steps: the time that their operations would take at the peak rate, relative to the duration of the
 * steps; negative if unknown. */
static double mfu_of_steps(const struct tk_report_rank *row) {
  double least = 0, all = 0;
  for (size_t i = 0; i < row->n_steps; i++) {
    if (row->steps[i].mfu > 0) least += row->steps[i].mfu * (double)row->steps[i].dur;
    all += (double)row->steps[i].dur;
  }
  return least > 0 && all > 0 ? least / all : -1;
}

/* ---- text ---- */

static void cells(struct table *t, const char *const *texts) {
  for (; *texts; texts++) table_cell(t, "%s", *texts);
}

static bool any_flops(const struct tk_report *r) {
  bool any = false;
  for (size_t i = 0; i < r->n_ranks; i++) any = any || r->ranks[i].flops > 0;
  return any;
}

static bool print_ranks(const struct tk_report *r) {
  static const char *const titles[] = { "FLOP", "FLOP/s", "peak FLOP/s", "MFU", "of steps", "FLOP known", "bytes known",
                                        "device", NULL };
  struct table t = { .align = "rrrrrrrl", .drop = "..b..ac.", .width = tty_page_width(stdout) };
  char text[32], name[256];
  if (!any_flops(r)) return true;
  wrap_title("FLOP/s of the active window, % of the peak (MFU); % of compute kernels' time with known FLOP and bytes");
  cells(&t, titles);
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_rank *row = &r->ranks[i];
    if (!(row->flops > 0)) continue;
    table_cell(&t, "%s", with_prefix(row->flops, text));
    table_cell(&t, "%s", with_prefix(row->times.window > 0 ? row->flops / ((double)row->times.window / 1e12) : 0, text));
    table_cell(&t, "%s", with_prefix(row->peak_flops, text));
    table_cell(&t, "%s", percent(row->mfu, text));
    table_cell(&t, "%s", percent(mfu_of_steps(row), text));
    table_cell(&t, "%s", percent(row->flops_coverage, text));
    table_cell(&t, "%s", percent(row->bytes_coverage, text));
    figure_report_name(r, row, name, sizeof name);
    if (*row->peak_device) table_cell(&t, "%s: %s", name, row->peak_device);
    else table_cell(&t, "%s", name);
  }
  return table_print(&t, stdout);
}

bool roofline_print(const struct tk_report *r, size_t top) {
  static const char *const titles[] = { "total", "count", "FLOP/s", "%peak", "GB/s", "%peak", "FLOP/B", "bound", "type",
                                        "operator", NULL };
  struct table t = { .align = "rrrrrrrlll", .drop = ".e.c.d" "abf.", .width = tty_page_width(stdout) };
  char text[64];
  if (!r->n_roofs) return true;
  if (!print_ranks(r)) return false;
  wrap_title("Operators with known FLOP or bytes: rates over their kernels, % of the device's peak");
  cells(&t, titles);
  for (size_t i = 0; i < r->n_roofs && i < top; i++) {
    const struct tk_report_roof *k = &r->roofs[i];
    tk_print_total(k->total, text);
    table_cell(&t, "%s", text);
    table_cell(&t, "%s", tty_count(k->count, text));
    table_cell(&t, "%s", with_prefix(k->flops_rate, text));
    table_cell(&t, "%s", percent(share_of(k->flops_rate, k->peak_flops), text));
    table_cell(&t, "%s", k->bytes_rate > 0 ? tty_fraction(k->bytes_rate / 1e9, 1, text) : "-");
    table_cell(&t, "%s", percent(share_of(k->bytes_rate, k->peak_bandwidth), text));
    table_cell(&t, "%s", k->flops > 0 && k->bytes > 0 ? tty_fraction(k->flops / k->bytes, 1, text) : "-");
    table_cell(&t, "%s", *k->bound ? k->bound : "-");
    table_cell(&t, "%s", *k->type ? k->type : "-");
    table_cell(&t, "%.*s", (int)k->name_len, k->name);
  }
  return table_print(&t, stdout);
}

/* ---- the drawing ---- */

enum { WIDE = 1000, HIGH = 320, LEAST_INTENSITY = -2, MOST_INTENSITY = 4, DECADES = 5 };

/* The device that is drawn. The vertical axis covers five decades; its upper edge is at twice the highest peak. */
struct roof {
  const char *device;
  double bandwidth, top;
};

static long at_x(double intensity) {
  const double x = (log10(intensity) - LEAST_INTENSITY) / (MOST_INTENSITY - LEAST_INTENSITY);
  return (long)(WIDE * (x < 0 ? 0 : x > 1 ? 1 : x));
}

static long at_y(const struct roof *roof, double rate) {
  const double y = (log10(roof->top) + 0.3 - log10(rate)) / DECADES;
  return (long)(HIGH * (y < 0 ? 0 : y > 1 ? 1 : y));
}

static bool is_drawn(const struct roof *roof, const struct tk_report_roof *k) {
  return k->peak_flops > 0 && k->peak_bandwidth > 0 && k->flops > 0 && k->bytes > 0 && k->flops_rate > 0 &&
         (!roof->device || strcmp(roof->device, k->device) == 0);
}

/* Finds the first device with a peak, and its highest peak. */
static struct roof find_roof(const struct tk_report *r) {
  struct roof roof = { NULL, 0, 0 };
  for (size_t i = 0; i < r->n_roofs; i++) {
    const struct tk_report_roof *k = &r->roofs[i];
    if (!is_drawn(&roof, k)) continue;
    roof.device = k->device;
    roof.bandwidth = k->peak_bandwidth;
    if (k->peak_flops > roof.top) roof.top = k->peak_flops;
  }
  return roof;
}

/* Draws the horizontal line of a peak rate, which begins where the line of the memory bandwidth reaches this rate. Labels it with the
 * data type and the rate. */
static void draw_peak(FILE *to, const struct roof *roof, const struct tk_report_roof *k) {
  const long x = at_x(k->peak_flops / roof->bandwidth), y = at_y(roof, k->peak_flops);
  char peak[32];
  fprintf(to, "<path fill=none stroke=currentColor d=\"M%ld %ldH%d\"/>", x, y, WIDE);
  fprintf(to, "<text x=\"%d\" y=\"%ld\" font-size=\"14\" text-anchor=end fill=currentColor>%s %sFLOP/s</text>",
          WIDE - 4, y - 4, k->type, with_prefix(k->peak_flops, peak));
}

static void draw_point(FILE *to, const struct roof *roof, const struct tk_report_roof *k, double longest) {
  const double size = figure_seconds(k->total) / longest;
  char rate[32], share[32];
  fprintf(to, "<circle class=c0 fill-opacity=\"0.7\" cx=\"%ld\" cy=\"%ld\" r=\"%ld\"><title>", at_x(k->flops / k->bytes),
          at_y(roof, k->flops_rate), 4 + (long)(12 * sqrt(size)));
  html_text(to, k->name, k->name_len);
  fprintf(to, " (%s): %sFLOP/s, %s %%</title></circle>\n", k->type, with_prefix(k->flops_rate, rate),
          percent(share_of(k->flops_rate, k->peak_flops), share));
}

/* Draws the line of the memory bandwidth, up to the intensity from which the highest peak is the limit. */
static void draw_memory(FILE *to, const struct roof *roof) {
  const double ridge = roof->top / roof->bandwidth, lowest = roof->top * 2.2e-5;
  const double from = lowest > 0.01 * roof->bandwidth ? lowest / roof->bandwidth : 0.01;
  char text[32];
  fprintf(to, "<path fill=none stroke=currentColor d=\"M%ld %ldL%ld %ld\"/>", at_x(from), at_y(roof, from * roof->bandwidth),
          at_x(ridge), at_y(roof, roof->top));
  fprintf(to, "<text x=\"%ld\" y=\"%ld\" font-size=\"14\" text-anchor=end fill=currentColor>%sB/s</text>\n",
          at_x(ridge / 30) - 6, at_y(roof, roof->top / 30), with_prefix(roof->bandwidth, text));
}

/* Draws the line of each peak. Returns the longest total of the operators. */
static double draw_peaks(FILE *to, const struct roof *roof, const struct tk_report *r) {
  double longest = 0, drawn[8];
  size_t n = 0;
  for (size_t i = 0; i < r->n_roofs; i++) {
    const struct tk_report_roof *k = &r->roofs[i];
    bool again = false;
    if (!is_drawn(roof, k)) continue;
    if (figure_seconds(k->total) > longest) longest = figure_seconds(k->total);
    for (size_t d = 0; d < n; d++) again = again || drawn[d] == k->peak_flops;
    if (again || n == sizeof drawn / sizeof *drawn) continue;
    drawn[n++] = k->peak_flops;
    draw_peak(to, roof, k);
  }
  return longest;
}

static void draw(FILE *to, const struct tk_report *r) {
  const struct roof roof = find_roof(r);
  if (!roof.device) return;
  fputs("<p>", to);
  html_string(to, roof.device);
  fprintf(to, ": FLOP/s over FLOP per byte, from 10<sup>%d</sup> to 10<sup>%d</sup>; a circle is an operator, and its size the "
              "time of its kernels.</p>\n", LEAST_INTENSITY, MOST_INTENSITY);
  fprintf(to, "<svg role=img aria-label=\"roofline\" style=\"height:auto\" viewBox=\"0 0 %d %d\">", WIDE, HIGH);
  draw_memory(to, &roof);
  const double longest = draw_peaks(to, &roof, r);
  for (size_t i = 0; i < r->n_roofs; i++)
    if (is_drawn(&roof, &r->roofs[i])) draw_point(to, &roof, &r->roofs[i], longest);
  fputs("</svg>\n", to);
}

static void draw_ranks(FILE *to, const struct tk_report *r) {
  static const struct html_column columns[] = {
    { "device", false, true }, { "FLOP", true, false }, { "FLOP/s", false, false }, { "peak FLOP/s", true, false },
    { "MFU %", false, false }, { "MFU of steps %", false, false }, { "FLOP known %", false, false },
    { "bytes known %", true, false },
    { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  char text[32], name[256];
  if (!any_flops(r)) return;
  html_table_begin(&t);
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_rank *row = &r->ranks[i];
    if (!(row->flops > 0)) continue;
    figure_report_name(r, row, name, sizeof name);
    html_cell(&t, name);
    html_cell(&t, with_prefix(row->flops, text));
    html_cell(&t, with_prefix(row->times.window > 0 ? row->flops / ((double)row->times.window / 1e12) : 0, text));
    html_cell(&t, with_prefix(row->peak_flops, text));
    html_cell(&t, percent(row->mfu, text));
    html_cell(&t, percent(mfu_of_steps(row), text));
    html_cell(&t, percent(row->flops_coverage, text));
    html_cell(&t, percent(row->bytes_coverage, text));
  }
  html_table_end(&t);
}

static void draw_operators(FILE *to, const struct tk_report *r, size_t top) {
  static const struct html_column columns[] = {
    { "operator", false, true }, { "type", true, false }, { "total", false, false }, { "count", true, false },
    { "FLOP/s", false, false }, { "% of peak", false, false }, { "GB/s", false, false }, { "% of peak", true, false },
    { "FLOP/byte", true, false }, { "bound", true, false }, { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  char text[32], name[256];
  html_table_begin(&t);
  for (size_t i = 0; i < r->n_roofs && i < top; i++) {
    const struct tk_report_roof *k = &r->roofs[i];
    snprintf(name, sizeof name, "%.*s", (int)k->name_len, k->name);
    html_cell(&t, name);
    html_cell(&t, *k->type ? k->type : "-");
    html_cell_total(&t, true, k->total);
    html_cell_count(&t, k->count);
    html_cell(&t, with_prefix(k->flops_rate, text));
    html_cell_percent(&t, k->flops_rate, k->flops_rate > 0 ? k->peak_flops : 0);
    html_cell_rate(&t, k->bytes_rate, 1);
    html_cell_percent(&t, k->bytes_rate, k->bytes_rate > 0 ? k->peak_bandwidth : 0);
    html_cell(&t, k->flops > 0 && k->bytes > 0 ? tty_fraction(k->flops / k->bytes, 1, text) : "-");
    html_cell(&t, *k->bound ? k->bound : "-");
  }
  html_table_end(&t);
}

void roofline_draw(FILE *to, const struct tk_report *r, size_t top) {
  if (!r->n_roofs) return;
  html_section(to, "FLOP/s and bytes/s",
               "Operations and memory traffic that the traces state or that the shapes of operators imply; rates are over the "
               "durations of the operators’ kernels. MFU is the share of the window that the operations take at the device’s peak.");
  draw_ranks(to, r);
  draw(to, r);
  draw_operators(to, r, top);
  html_section_end(to);
}
