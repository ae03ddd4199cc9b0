/* html.c - prints a report as one HTML page: charts first, then the tables of text.c. */
#include "html.h"
#include "device_ops.h"
#include "functions.h"
#include "histogram.h"
#include "layers.h"
#include "place.h"
#include "roofline.h"
#include "script.h"
#include "print/html.h"
#include "shared/figures.h"
#include "print/tty.h"

#include <string.h>

static const char *html_name_of(const struct tk_report *r, const struct tk_report_rank *row, char *text, size_t n) {
  figure_report_name(r, row, text, n);
  return text;
}

static void text_list(FILE *to, const char *label, const char *const *texts, size_t n) {
  for (size_t i = 0; i < n; i++) {
    fputs(i ? ", " : label, to);
    html_string(to, texts[i]);
  }
  if (n) fputs("</p>\n", to);
}

/* ---- head ---- */

struct sums {
  double window, busy, compute, exposed, idle, step;
  uint64_t steps, devices;
};

static void card(FILE *to, const char *value, const char *words) {
  fprintf(to, "<div class=card><b>%s</b><span>%s</span></div>", value, words);
}

static void percent_card(FILE *to, double part, double whole, const char *words) {
  char text[40];
  tty_fraction(whole > 0 ? 100 * part / whole : 0, 1, text);
  strcat(text, " %");
  card(to, text, words);
}

/* Writes the cards of a report without devices: the length of the longest trace, and the number of events. */
static void host_cards(FILE *to, const struct tk_report *r) {
  tk_time longest = 0;
  uint64_t events = 0;
  char text[64];
  for (size_t i = 0; i < r->n_ranks; i++) {
    if (r->ranks[i].length > longest) longest = r->ranks[i].length;
    events += r->ranks[i].events;
  }
  if (longest) {
    tk_print_duration(longest, text);
    card(to, text, r->n_ranks > 1 ? "longest trace" : "trace");
  }
  card(to, tty_count(events, text), "events");
}

static void cards(FILE *to, const struct tk_report *r) {
  struct sums s = { 0 };
  char text[64];
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_rank *row = &r->ranks[i];
    s.devices += *row->device != 0;
    s.window += (double)row->times.window;
    s.busy += (double)row->times.busy;
    s.compute += (double)row->times.compute;
    s.exposed += (double)row->times.exposed_communication;
    s.idle += (double)row->times.idle;
    s.step += (double)row->step.mean * (double)row->step.count;
    s.steps += row->step.count;
  }
  fputs("<div class=cards>", to);
  if (s.devices) card(to, tty_count(s.devices, text), s.devices == 1 ? "device" : "devices");
  else host_cards(to, r);
  if (s.window > 0) {
    percent_card(to, s.busy, s.window, "busy");
    percent_card(to, s.compute, s.window, "computing");
    percent_card(to, s.exposed, s.window, "communication, exposed");
    percent_card(to, s.idle, s.window, "idle");
  }
  if (s.steps) {
    tk_print_duration((tk_time)(s.step / (double)s.steps), text);
    card(to, text, "per step, on average");
  }
  fputs("</div>\n", to);
}

static void head(FILE *to, const struct tk_report *r) {
  char text[64];
  fputs("<h1>Where the time went</h1>\n<p>", to);
  fputs(tty_counted(r->inputs, "input", text), to);
  if (r->n_ranks) {
    fputs(": ", to);
    html_string(to, r->ranks[0].input);
    if (r->inputs > 1) fputs(", …", to);
  }
  fputs("</p>\n", to);
  text_list(to, "<p>Devices: ", r->devices, r->n_devices);
  text_list(to, "<p>Recorded with: ", r->versions, r->n_versions);
  cards(to, r);
}

/* ---- bars ---- */

static void part(FILE *to, const char *class, tk_time time, tk_time whole) {
  char text[32];
  if (time <= 0) return;
  fprintf(to, "<i class=%s style=\"width:%s%%\"></i>", class, tty_fraction(100 * (double)time / (double)whole, 3, text));
}

static void bars(FILE *to, const struct tk_report *r) {
  char name[256];
  bool any = false;
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_device_times *d = &r->ranks[i].times;
    if (d->window <= 0) continue;
    if (!any) html_section(to, "Device activity", "From the first work to the end of the last. Every instant counts once; "
                                              "computation takes precedence over communication, copies and fills. Exposed: "
                                              "nothing was computed meanwhile, so the time is not hidden.");
    if (!any) fputs("<div class=key><span><i class=c0></i>computation</span><span><i class=c1></i>exposed "
                    "communication</span><span><i class=c2></i>exposed copies</span><span><i class=c3></i>exposed "
                    "fills</span><span><i class=i0></i>idle: host</span><span><i class=i1></i>idle: between "
                    "kernels</span><span><i class=i2></i>idle: other</span></div>\n", to);
    any = true;
    fputs("<div class=row><div>", to);
    html_string(to, html_name_of(r, &r->ranks[i], name, sizeof name));
    fputs("</div><div class=bar>", to);
    part(to, "c0", d->compute, d->window);
    part(to, "c1", d->exposed_communication, d->window);
    part(to, "c2", d->exposed_copy, d->window);
    part(to, "c3", d->exposed_fill, d->window);
    part(to, "i0", r->ranks[i].linked ? d->idle_host : 0, d->window);
    part(to, "i1", r->ranks[i].linked ? d->idle_kernel : 0, d->window);
    part(to, "i2", r->ranks[i].linked ? d->idle_other : d->idle, d->window);
    fputs("</div></div>\n", to);
  }
  if (any) html_section_end(to);
}

/* ---- tables ---- */

static bool wants(const struct tk_report *r, bool (*is)(const struct tk_report_rank *)) {
  bool any = false;
  for (size_t i = 0; i < r->n_ranks; i++) any = any || is(&r->ranks[i]);
  return any;
}

static bool has_device(const struct tk_report_rank *row) { return *row->device != 0; }
static bool has_steps(const struct tk_report_rank *row) { return row->n_steps > 0; }
static bool has_host(const struct tk_report_rank *row) { return row->compilations || row->host_ops || row->runtime_calls; }

/* A section with a table that has one row for each device or rank. Every row begins with its name. */
struct rank_table {
  const char *title, *words;
  bool (*has)(const struct tk_report_rank *row); /* rows for which the function returns false are left out */
  void (*draw)(FILE *to, const struct tk_report *r); /* draws what precedes the table; NULL = nothing does */
  /* writes the cells after the name */
  void (*cells)(struct html_table *t, const struct tk_report *r, const struct tk_report_rank *row);
  const struct html_column *columns;
};

static void rank_table(FILE *to, const struct tk_report *r, const struct rank_table *of) {
  struct html_table t = { .to = to, .columns = of->columns };
  char name[256];
  if (!wants(r, of->has)) return;
  html_section(to, of->title, of->words);
  if (of->draw) of->draw(to, r);
  html_table_begin(&t);
  for (size_t i = 0; i < r->n_ranks; i++) {
    if (!of->has(&r->ranks[i])) continue;
    html_cell(&t, html_name_of(r, &r->ranks[i], name, sizeof name));
    of->cells(&t, r, &r->ranks[i]);
  }
  html_table_end(&t);
  html_section_end(to);
}

static void device_cells(struct html_table *t, const struct tk_report *r, const struct tk_report_rank *row) {
  (void)r;
  const struct tk_device_times *d = &row->times;
  const double w = (double)d->window;
  html_cell_time(t, true, d->window);
  html_cell_percent(t, (double)d->busy, w);
  html_cell_percent(t, (double)d->compute, w);
  html_cell_percent(t, (double)d->communication, w);
  html_cell_percent(t, (double)d->exposed_communication, w);
  html_cell_percent(t, (double)d->overlap, (double)d->communication);
  html_cell_percent(t, (double)d->memory, w);
  html_cell_percent(t, (double)(d->exposed_copy + d->exposed_fill), w);
  html_cell_percent(t, (double)d->idle, w);
}

static const struct rank_table DEVICES = {
  .title = "Devices",
  .words = "Percentages of the window. Overlap: share of the communication during which the device computed. Exposed: nothing was "
           "computed meanwhile, so the time is not hidden.",
  .has = has_device,
  .cells = device_cells,
  .columns = (const struct html_column[]){
    { "device", false, true }, { "window", false, false }, { "busy %", false, false }, { "compute %", false, false },
    { "comm. %", false, false }, { "comm. exposed %", true, false }, { "overlap %", false, false }, { "memory %", true, false },
    { "copy exposed %", true, false }, { "idle %", false, false }, { 0, false, false } },
};

static void idle_cells(struct html_table *t, const struct tk_report *r, const struct tk_report_rank *row) {
  (void)r;
  const double whole = row->linked ? (double)row->times.idle : 0;
  html_cell_time(t, true, row->times.idle);
  html_cell_percent(t, (double)row->times.idle_host, whole);
  html_cell_percent(t, (double)row->times.idle_kernel, whole);
  html_cell_percent(t, (double)row->times.idle_other, whole);
  html_cell_time(t, row->linked, row->delay_mean);
  html_cell_time(t, row->linked, row->latency_mean);
  html_cell_time(t, row->linked, row->overhead_mean);
  html_cell_count(t, row->kernels);
  html_cell_percent(t, (double)row->under_10us, (double)row->kernels);
  html_cell_percent(t, (double)row->under_100us, (double)row->kernels);
}

static const struct rank_table IDLE = {
  .title = "Idle time, launch delays and short kernels",
  .words = "Host: the next work had not been launched when the device became idle. Kernel: gaps of less than 30 µs between "
           "kernels that were launched in time. Other: longer gaps, as when work waits for other work or its launch is "
           "unknown. Delay: mean time from the end of the launching call to the start of the work. Latency: the same from the start "
           "of the call. Overhead: the same from the time when the call had started and the stream was free.",
  .has = has_device,
  .cells = idle_cells,
  .columns = (const struct html_column[]){
    { "device", false, true }, { "idle", false, false }, { "host %", false, false }, { "kernel %", false, false },
    { "other %", false, false }, { "delay", false, false }, { "latency", true, false }, { "overhead", true, false },
    { "kernels", true, false }, { "&lt;10 µs %", false, false }, { "&lt;100 µs %", true, false }, { 0, false, false } },
};

/* Draws a bar for each of the first 600 steps; the height is the duration relative to the longest step. */
static void draw_steps(FILE *to, const struct tk_report_rank *row) {
  enum { MOST = 600 };
  const size_t n = row->n_steps < MOST ? row->n_steps : MOST;
  fprintf(to, "<svg role=img aria-label=\"steps\" preserveAspectRatio=\"none\" viewBox=\"0 0 %zu 1000\">", n * 10);
  for (size_t i = 0; i < n; i++) {
    const long high = row->step.max > 0 ? (long)((double)row->steps[i].dur * 1000 / (double)row->step.max) : 0;
    fprintf(to, "<path class=%s d=\"M%zu 1000v-%ldh8v%ldz\"/>", row->steps[i].outlier ? "bad" : "c0", i * 10 + 1, high, high);
  }
  fputs("</svg>", to);
}

/* Draws the steps of each rank: a bar for each step, in order, and a histogram of their durations. */
static void step_rows(FILE *to, const struct tk_report *r) {
  tk_time shortest = INT64_MAX, longest = 0;
  char name[256];
  for (size_t i = 0; i < r->n_ranks; i++) {
    if (r->ranks[i].n_steps < 2) continue;
    if (r->ranks[i].step.min < shortest) shortest = r->ranks[i].step.min;
    if (r->ranks[i].step.max > longest) longest = r->ranks[i].step.max;
  }
  for (size_t i = 0; i < r->n_ranks; i++) {
    if (r->ranks[i].n_steps < 2) continue;
    fputs("<div class=row><div>", to);
    html_string(to, html_name_of(r, &r->ranks[i], name, sizeof name));
    fputs("</div><div>", to);
    draw_steps(to, &r->ranks[i]);
    if (r->ranks[i].n_steps >= 5) histogram_steps(to, &r->ranks[i], shortest, longest);
    fputs("</div></div>\n", to);
  }
}

/* Writes the duration of the longest step, with its place. */
static void longest_step_cell(struct html_table *t, const struct tk_report *r, const struct tk_report_rank *row) {
  const struct tk_report_step *longest = row->steps;
  char text[48];
  for (size_t i = 1; i < row->n_steps; i++)
    if (row->steps[i].dur > longest->dur) longest = &row->steps[i];
  tk_print_duration(row->step.max, text);
  place_cell(t, r, &(struct place){ row->input, row->rank, longest->at, longest->dur }, text);
}

static void step_cells(struct html_table *t, const struct tk_report *r, const struct tk_report_rank *row) {
  const struct figure_step_times times = figure_step_times(row);
  html_cell_count(t, row->step.count);
  html_cell_time(t, true, row->step.mean);
  html_cell_time(t, row->step.count > 1, row->step.deviation);
  html_cell_time(t, true, row->step.min);
  html_cell_time(t, true, row->step.p50);
  html_cell_time(t, true, row->step.p95);
  longest_step_cell(t, r, row);
  html_cell_percent(t, times.busy, times.busy_in);
  html_cell_count(t, row->step.outliers);
  html_cell_percent(t, times.collecting, row->collections ? times.all : 0);
}

static const struct rank_table STEPS = {
  .title = "Steps",
  .words = "One bar per step, in order. Red: outliers, longer than the upper quartile plus 1.5 times the interquartile range. Below: "
           "how many of five or more steps took how long, from the shortest to the longest of all. GC: share of the steps in which the "
           "host collected garbage.",
  .has = has_steps,
  .draw = step_rows,
  .cells = step_cells,
  .columns = (const struct html_column[]){
    { "source", false, true }, { "steps", false, false }, { "mean", false, false }, { "deviation", true, false },
    { "min", true, false }, { "p50", true, false }, { "p95", false, false }, { "max", false, false }, { "busy %", false, false },
    { "outliers", false, false }, { "GC %", true, false }, { 0, false, false } },
};

static void hosts(FILE *to, const struct tk_report *r) {
  static const struct html_column columns[] = {
    { "host", false, true }, { "compiling", false, false }, { "compilations", false, false }, { "operators", false, false },
    { "without launch", true, false }, { "runtime calls", false, false }, { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  char name[256];
  if (!wants(r, has_host)) return;
  html_section(to, "Hosts", NULL);
  html_table_begin(&t);
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_rank *row = &r->ranks[i];
    if (figure_host_again(r, i)) continue;
    figure_host_name(r, row, name, sizeof name);
    html_cell(&t, *name ? name : "–");
    html_cell_time(&t, row->compilations > 0, row->compile);
    html_cell_count(&t, row->compilations);
    html_cell_count(&t, row->host_ops);
    if (figure_ops_linked(row)) html_cell_count(&t, row->host_only_ops);
    else html_cell(&t, "–");
    html_cell_count(&t, row->runtime_calls);
  }
  html_table_end(&t);
  html_section_end(to);
}

static bool is_copy(const struct tk_report_kernel *k) { return strcmp(k->kind, "copy") == 0 || strcmp(k->kind, "fill") == 0; }

/* Returns an axis that covers the durations of the first `top` kernels. */
static struct histogram_axis kernel_axis(const struct tk_report *r, size_t top) {
  struct histogram_axis axis = { 0, 0 };
  for (size_t i = 0, shown = 0; i < r->n_kernels && shown < top; i++) {
    if (is_copy(&r->kernels[i])) continue;
    histogram_widen(&axis, r->kernels[i].durations);
    shown++;
  }
  return axis;
}

/* Writes the duration of the longest kernel, with its place. */
static void longest_cell(struct html_table *t, const struct tk_report *r, const struct tk_report_kernel *k) {
  char text[48];
  tk_print_duration(k->max, text);
  place_cell(t, r, &(struct place){ "", k->max_rank, k->max_at, k->max }, text);
}

static void kernel_cells(struct html_table *t, const struct tk_report *r, const struct tk_report_kernel *k,
                         const struct histogram_axis *axis, bool full_names) {
  html_cell_name(t, full_names ? k->name : k->short_name, k->name);
  html_cell(t, k->kernel_class);
  html_cell_total(t, true, k->total);
  html_cell_percent(t, k->of_sum, k->of_sum >= 0);
  html_cell_count(t, k->count);
  html_cell_time(t, true, k->mean);
  html_cell_time(t, true, k->min);
  longest_cell(t, r, k);
  html_cell_percent(t, k->occupancy, k->occupancy >= 0 ? 100 : 0);
  html_cell_begin(t);
  histogram_draw(t->to, axis, k->durations, "durations");
  html_cell_end(t);
}

static void kernels(FILE *to, const struct tk_report *r, size_t top, bool full_names) {
  static const struct html_column columns[] = {
    { "name", false, true }, { "class", true, false }, { "total", false, false }, { "% of work", false, false },
    { "count", false, false }, { "mean", true, false }, { "min", true, false }, { "max", true, false },
    { "occupancy %", true, false }, { "durations", true, false }, { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  const struct histogram_axis axis = kernel_axis(r, top);
  char words[256], ends[128];
  size_t shown = 0;
  snprintf(words, sizeof words, "Durations: distribution of the kernel's durations; all kernels have the same logarithmic axis, %s.",
           axis.n ? histogram_ends(&axis, ends, sizeof ends) : "");
  for (size_t i = 0; i < r->n_kernels && shown < top; i++) {
    if (is_copy(&r->kernels[i])) continue;
    if (shown++ == 0) {
      html_section(to, "Kernels", axis.n ? words : NULL);
      html_table_begin(&t);
    }
    kernel_cells(&t, r, &r->kernels[i], &axis, full_names);
  }
  if (shown) html_table_end(&t), html_section_end(to);
}

static void copies(FILE *to, const struct tk_report *r, size_t top) {
  static const struct html_column columns[] = {
    { "copy", false, true }, { "total", false, false }, { "% of work", true, false }, { "count", false, false },
    { "mean", true, false }, { "sized", true, false }, { "bytes", false, false }, { "GB/s", false, false }, { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  size_t shown = 0;
  for (size_t i = 0; i < r->n_kernels && shown < top; i++) {
    const struct tk_report_kernel *k = &r->kernels[i];
    if (!is_copy(k)) continue;
    if (shown++ == 0) {
      html_section(to, "Copies and fills", NULL);
      html_table_begin(&t);
    }
    html_cell(&t, k->name);
    html_cell_total(&t, true, k->total);
    html_cell_percent(&t, k->of_sum, k->of_sum >= 0);
    html_cell_count(&t, k->count);
    html_cell_time(&t, true, k->mean);
    html_cell_count(&t, k->bytes_known);
    html_cell_bytes(&t, k->bytes_known > 0, k->bytes);
    html_cell_rate(&t, k->bytes, (double)k->bytes_time / 1e12);
  }
  if (shown) html_table_end(&t), html_section_end(to);
}

static void collectives(FILE *to, const struct tk_report *r) {
  static const struct html_column columns[] = {
    { "collective", false, true }, { "total", false, false }, { "count", false, false }, { "bytes", true, false },
    { "bus GB/s", false, false }, { "matched", true, false }, { "shortest", true, false }, { "bus GB/s", true, false },
    { "waiting", false, false }, { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  if (r->n_collectives == 0) return;
  html_section(to, "Collectives", "Total, bytes and the first bandwidth are per rank and include the time spent waiting for other "
                             "ranks. For collectives that were matched on several ranks, the shortest of each shows the speed "
                             "of the links.");
  html_table_begin(&t);
  for (size_t i = 0; i < r->n_collectives; i++) {
    const struct tk_report_collective *c = &r->collectives[i];
    html_cell(&t, c->name);
    html_cell_total(&t, true, c->total);
    html_cell_count(&t, c->count);
    html_cell_bytes(&t, c->bytes_known > 0, c->bytes);
    html_cell_rate(&t, c->bus_bytes, figure_seconds(c->sized_total));
    html_cell_count(&t, c->met);
    html_cell_total(&t, c->met > 0, c->core);
    html_cell_rate(&t, c->core_bus_bytes, figure_seconds(c->core_time));
    html_cell_total(&t, c->met > 0, c->wait);
  }
  html_table_end(&t);
  html_section_end(to);
}

/* Writes the largest cost of one collective, with its place. */
static void delay_cell(struct html_table *t, const struct tk_report *r, const struct tk_report_meeting *m) {
  char text[48];
  tk_print_duration(m->delay, text);
  if (m->delay > 0) place_cell(t, r, &(struct place){ "", m->rank, m->delay_at, m->delay_length }, text);
  else html_cell(t, "–");
}

static void waits(FILE *to, const struct tk_report *r) {
  static const struct html_column columns[] = { { "rank", false, true }, { "matched", false, false }, { "waited", false, false },
                                                { "times last", false, false }, { "cost", false, false },
                                                { "largest delay", true, false }, { 0, false, false } };
  struct html_table t = { .to = to, .columns = columns };
  char text[32];
  if (r->n_meetings == 0) return;
  html_section(to, "Stragglers: who waited for whom", "Cost: how much later the rank arrived than the next-to-last.");
  html_table_begin(&t);
  for (size_t i = 0; i < r->n_meetings; i++) {
    const struct tk_report_meeting *m = &r->meetings[i];
    snprintf(text, sizeof text, "%lld", (long long)m->rank);
    html_cell(&t, text);
    html_cell_count(&t, m->met);
    html_cell_total(&t, true, m->wait);
    html_cell_count(&t, m->last);
    html_cell_total(&t, true, m->cost);
    delay_cell(&t, r, m);
  }
  html_table_end(&t);
  html_section_end(to);
}

static void unknown(FILE *to, const struct tk_report *r) {
  if (r->n_unknown == 0) return;
  html_section(to, "Not available", NULL);
  fputs("<ul>\n", to);
  for (size_t i = 0; i < r->n_unknown; i++) {
    fputs("<li>", to);
    html_string(to, r->unknown[i]);
    fputs("</li>\n", to);
  }
  fputs("</ul>\n", to);
  html_section_end(to);
}

void report_write_html(const struct tk_report *r, size_t top, bool full_names, FILE *to) {
  html_begin_with(to, "Where the time went", SCRIPT_HASH);
  head(to, r);
  html_findings(to, r);
  html_figures(to, r);
  html_parts(to, r);
  rank_table(to, r, &STEPS);
  html_lines(to, r);
  html_flames(to, r);
  bars(to, r);
  rank_table(to, r, &DEVICES);
  rank_table(to, r, &IDLE);
  histogram_delays(to, r);
  html_gaps(to, r, top, full_names);
  waits(to, r);
  collectives(to, r);
  kernels(to, r, top, full_names);
  copies(to, r, top);
  device_ops_draw(to, r, top);
  layers_draw(to, r, top);
  roofline_draw(to, r, top);
  html_memory(to, r, top);
  hosts(to, r);
  html_compilations(to, r, top);
  html_annotations(to, r, top);
  html_operators(to, r, top);
  functions_draw(to, r, top);
  unknown(to, r);
  html_script(to, report_script);
  html_end(to);
}
