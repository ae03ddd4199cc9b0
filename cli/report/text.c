/* text.c - prints a report as text. */
#include "text.h"
#include "device_ops.h"
#include "findings.h"
#include "functions.h"
#include "layers.h"
#include "memory.h"
#include "roofline.h"
#include "shared/figures.h"
#include "print/table.h"
#include "print/wrap.h"
#include "print/tty.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FINDINGS = 7 }; /* number of findings printed above the tables */

static void cell_time(struct table *t, bool known, tk_time time) {
  char text[48] = "-";
  if (known) tk_print_duration(time, text);
  table_cell(t, "%s", text);
}

static void cell_total(struct table *t, struct tk_total total) {
  char text[48];
  tk_print_total(total, text);
  table_cell(t, "%s", text);
}

static void cell_percent(struct table *t, double part, double whole) {
  char text[32];
  table_cell(t, "%s", whole > 0 ? tty_fraction(100 * part / whole, 1, text) : "-");
}

static void cell_count(struct table *t, uint64_t n) {
  char text[32];
  table_cell(t, "%s", tty_count(n, text));
}

static void cell_bytes(struct table *t, bool known, double bytes) {
  char text[32] = "-";
  if (known && bytes < 1e19) tk_print_size((uint64_t)bytes, text);
  table_cell(t, "%s", text);
}

static void cell_rate(struct table *t, double bytes, double s) {
  char text[32];
  table_cell(t, "%s", bytes > 0 && s > 0 ? tty_fraction(bytes / s / 1e9, 2, text) : "-");
}

static void cells(struct table *t, const char *const *texts) {
  for (; *texts; texts++) table_cell(t, "%s", *texts);
}

static void cell_name(struct table *t, const struct tk_report *r, const struct tk_report_rank *row) {
  char name[256];
  figure_report_name(r, row, name, sizeof name);
  table_cell(t, "%s", name);
}

/* ---- head ---- */

static void print_texts(const char *label, const char *const *texts, size_t n) {
  if (!n) return;
  fputs(label, stdout);
  tty_list(stdout, texts, n);
  putchar('\n');
}

static void print_head(const struct tk_report *r) {
  char a[64], b[64], c[64];
  uint64_t events = 0, ranks = 0, hosts = 0;
  for (size_t i = 0; i < r->n_ranks; i++) {
    if (figure_host_again(r, i)) continue;
    events += r->ranks[i].events;
    hosts++;
    ranks += r->ranks[i].rank >= 0 && !r->ranks[i].rank_given;
  }
  if (!ranks) ranks = hosts; /* inputs without a rank, such as the trace of a server, do not count if others have ranks */
  printf("%s: %s, %s\n", tty_counted(r->inputs, "input", a), tty_counted(ranks, "rank", b), tty_counted(events, "event", c));
  print_texts("devices: ", r->devices, r->n_devices);
  print_texts("recorded with: ", r->versions, r->n_versions);
}

/* ---- devices ---- */

static bool any_device(const struct tk_report *r) {
  bool any = false;
  for (size_t i = 0; i < r->n_ranks; i++) any = any || *r->ranks[i].device;
  return any;
}

static bool print_devices(const struct tk_report *r) {
  static const char *const titles[] = { "window", "busy", "compute", "comm", "comm exposed", "overlap", "memory", "copy exposed",
                                        "idle", "device", NULL };
  struct table t = { .align = "rrrrrrrrrl", .drop = "f..c.bda..", .width = tty_page_width(stdout) };
  if (!any_device(r)) return true;
  wrap_title("Device time, % of the active window (first work to end of last)");
  cells(&t, titles);
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_device_times *d = &r->ranks[i].times;
    if (!*r->ranks[i].device) continue;
    const double w = (double)d->window;
    cell_time(&t, true, d->window);
    cell_percent(&t, (double)d->busy, w);
    cell_percent(&t, (double)d->compute, w);
    cell_percent(&t, (double)d->communication, w);
    cell_percent(&t, (double)d->exposed_communication, w);
    cell_percent(&t, (double)d->overlap, (double)d->communication);
    cell_percent(&t, (double)d->memory, w);
    cell_percent(&t, (double)(d->exposed_copy + d->exposed_fill), w);
    cell_percent(&t, (double)d->idle, w);
    cell_name(&t, r, &r->ranks[i]);
  }
  if (!table_print(&t, stdout)) return false;
  wrap_line(stdout, "exposed: nothing was computed meanwhile, so the time is not hidden; overlap: share of the communication with "
                    "computation");
  return true;
}

static bool print_idle(const struct tk_report *r) {
  static const char *const titles[] = { "idle", "host", "kernel", "other", "delay", "latency", "overhead", "kernels", "<10 us",
                                        "<100 us", "device", NULL };
  struct table t = { .align = "rrrrrrrrrrl", .drop = "...d.bca.e.", .width = tty_page_width(stdout) };
  if (!any_device(r)) return true;
  wrap_title("Why devices were idle; launch delays; short kernels");
  cells(&t, titles);
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_rank *row = &r->ranks[i];
    const struct tk_device_times *d = &row->times;
    if (!*row->device) continue;
    cell_time(&t, true, d->idle);
    cell_percent(&t, (double)d->idle_host, row->linked ? (double)d->idle : 0);
    cell_percent(&t, (double)d->idle_kernel, row->linked ? (double)d->idle : 0);
    cell_percent(&t, (double)d->idle_other, row->linked ? (double)d->idle : 0);
    cell_time(&t, row->linked, row->delay_mean);
    cell_time(&t, row->linked, row->latency_mean);
    cell_time(&t, row->linked, row->overhead_mean);
    cell_count(&t, row->kernels);
    cell_percent(&t, (double)row->under_10us, (double)row->kernels);
    cell_percent(&t, (double)row->under_100us, (double)row->kernels);
    cell_name(&t, r, row);
  }
  if (!table_print(&t, stdout)) return false;
  wrap_line(stdout,
       "host: the next work was launched after the device became idle; kernel: gaps of less than 30 us before work launched in time; "
       "other: longer gaps, as when work waits for other work or its launch is unknown; delay: from the end of the launching call to "
       "the start of the work; latency: the same from the start of the call; "
       "overhead: from when the call had started and the stream was free");
  return true;
}

static bool print_gaps(const struct tk_report *r, size_t top, bool full_names) {
  static const char *const titles[] = { "length", "at", "cause", "device", "after work", "before work", "host", NULL };
  struct table t = { .align = "rrllll" "l", .drop = "..c.ab.", .width = tty_page_width(stdout) };
  if (r->n_gaps == 0) return true;
  wrap_title(r->inputs > 1 ? "Longest idle times (host: the innermost span over at least half of the time; at: in the rank's own input)"
                           : "Longest idle times (host: the innermost span over at least half of the time; --time selects from 'at')");
  cells(&t, titles);
  for (size_t i = 0; i < r->n_gaps && i < top; i++) {
    const struct tk_report_gap *g = &r->gaps[i];
    char host[48], at[48], name[256];
    tk_print_duration(g->host_time, host);
    tk_print_duration(g->at, at);
    cell_time(&t, true, g->length);
    table_cell(&t, "+%s", at);
    table_cell(&t, "%s", *g->cause ? g->cause : "-");
    figure_gap_device(r, g, name, sizeof name);
    table_cell(&t, "%s", name);
    table_cell(&t, "%.60s", full_names ? g->before : g->short_before);
    table_cell(&t, "%.60s", full_names ? g->after : g->short_after);
    if (*g->host_span) table_cell(&t, "%s (%s)", g->host_span, host);
    else if (g->host_time <= 0) table_cell(&t, "-");
    else table_cell(&t, "no span over more than %s%%", tty_fraction(100 * (double)g->host_time / (double)g->length, 1, host));
  }
  return table_print(&t, stdout);
}

static bool print_compilations(const struct tk_report *r, size_t top) {
  static const char *const titles[] = { "length", "at", "step", "module", "function", "rank", "span", NULL };
  struct table t = { .align = "rrrllll", .drop = "..c.a.b", .width = tty_page_width(stdout) };
  if (r->n_compilations == 0) return true;
  wrap_title(r->inputs > 1 ? "Compilations of the hosts, longest first (at: in the rank's own input)"
                           : "Compilations of the hosts, longest first (--time selects from 'at')");
  cells(&t, titles);
  for (size_t i = 0; i < r->n_compilations && i < top; i++) {
    const struct tk_report_compilation *c = &r->compilations[i];
    char at[48];
    tk_print_duration(c->at, at);
    cell_time(&t, true, c->length);
    table_cell(&t, "+%s", at);
    if (c->has_step) table_cell(&t, "%lld", (long long)c->step);
    else table_cell(&t, "-");
    table_cell(&t, "%.60s", *c->module ? c->module : "-");
    table_cell(&t, "%.60s", *c->function ? c->function : "-");
    if (c->rank >= 0) table_cell(&t, "%lld", (long long)c->rank);
    else table_cell(&t, "-");
    table_cell(&t, "%.60s", c->name);
  }
  return table_print(&t, stdout);
}

/* ---- steps ---- */

static void print_steps_title(const struct tk_report *r) {
  const char *const shares = figures_collect_garbage(r) ? "% busy, and % in garbage collections" : "% busy";
  const char *const name = r->step_name;
  char heading[160];
  snprintf(heading, sizeof heading, name ? "Steps: duration and %s (marked by '%.80s')" : "Steps: duration and %s", shares, name);
  wrap_title(heading);
}

/* Adds a cell with the numbers of the first outlier steps. */
static void cell_outliers(struct table *t, const struct tk_report_rank *row) {
  char text[96] = "";
  for (size_t i = 0; i < row->n_steps && strlen(text) < 60; i++) {
    if (!row->steps[i].outlier) continue;
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%lld", *text ? " " : "", (long long)row->steps[i].number);
  }
  table_cell(t, "%s", *text ? text : "-");
}

static bool print_steps(const struct tk_report *r) {
  static const char *const titles[] = { "steps", "mean", "deviation", "min", "p50", "p95", "max", "busy", "GC", "outlier steps",
                                        "source", NULL };
  struct table t = { .align = "rrrrrrrrrll", .drop = "..dac..be..", .width = tty_page_width(stdout), .sparse = true };
  bool any = false, late = false;
  for (size_t i = 0; i < r->n_ranks; i++) any = any || r->ranks[i].n_steps;
  if (!any) return true;
  print_steps_title(r);
  cells(&t, titles);
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_rank *row = &r->ranks[i];
    const struct tk_report_spread *s = &row->step;
    if (!row->n_steps) continue;
    const struct figure_step_times times = figure_step_times(row);
    cell_count(&t, s->count);
    cell_time(&t, true, s->mean);
    cell_time(&t, s->count > 1, s->deviation);
    cell_time(&t, true, s->min);
    cell_time(&t, true, s->p50);
    cell_time(&t, true, s->p95);
    cell_time(&t, true, s->max);
    cell_percent(&t, times.busy, times.busy_in);
    late = late || !figure_steps_hold_work(row);
    if (row->collections) cell_percent(&t, times.collecting, times.all);
    else table_cell(&t, "%s", "");
    cell_outliers(&t, row);
    cell_name(&t, r, row);
  }
  if (!table_print(&t, stdout)) return false;
  if (late) wrap_line(stdout, "busy is unknown (-), and parts are left out, if the work of the steps ran after they had ended");
  return true;
}

/* Prints the parts of the steps; parts that no step has are left out. */
static bool print_parts(const struct tk_report *r) {
  struct table t = { .width = tty_page_width(stdout) };
  char align[FIGURE_PARTS + 3] = "r";
  bool shown[FIGURE_PARTS] = { false }, any = false;
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_split s = figure_steps(&r->ranks[i]);
    any = any || s.length;
    for (size_t k = 0; k < FIGURE_PARTS; k++) shown[k] = shown[k] || figure_part(&s, k);
  }
  if (!any) return true;
  wrap_title("Parts of the steps, %: what the device did and, while it was idle, what the host did");
  table_cell(&t, "mean");
  for (size_t k = 0; k < FIGURE_PARTS; k++)
    if (shown[k]) table_cell(&t, "%s", figure_part_name(k)), strcat(align, "r");
  table_cell(&t, "source");
  t.align = strcat(align, "l");
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_split s = figure_steps(&r->ranks[i]);
    if (!s.length) continue;
    cell_time(&t, true, s.length / (tk_time)r->ranks[i].n_steps);
    for (size_t k = 0; k < FIGURE_PARTS; k++)
      if (shown[k]) cell_percent(&t, (double)figure_part(&s, k), (double)s.length);
    cell_name(&t, r, &r->ranks[i]);
  }
  return table_print(&t, stdout);
}

/* ---- hosts ---- */

static bool print_hosts(const struct tk_report *r) {
  static const char *const titles[] = { "events", "compiling", "compilations", "operators", "without launch", "calls", "host", NULL };
  struct table t = { .align = "rrrrrrl", .width = tty_page_width(stdout) };
  char name[256];
  bool any = false;
  for (size_t i = 0; i < r->n_ranks; i++) any = any || r->ranks[i].compilations || r->ranks[i].host_ops || r->ranks[i].runtime_calls;
  if (!any) return true;
  wrap_title("Host activity, once for each host: operators, operators that launched no kernel, runtime API calls");
  cells(&t, titles);
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_rank *row = &r->ranks[i];
    if (figure_host_again(r, i)) continue;
    cell_count(&t, row->events);
    cell_time(&t, row->compilations > 0, row->compile);
    cell_count(&t, row->compilations);
    cell_count(&t, row->host_ops);
    if (figure_ops_linked(row)) cell_count(&t, row->host_only_ops);
    else table_cell(&t, "-");
    cell_count(&t, row->runtime_calls);
    figure_host_name(r, row, name, sizeof name);
    table_cell(&t, "%s", *name ? name : "-");
  }
  return table_print(&t, stdout);
}

/* Returns the short name of a host span that has the name of a kernel, as XLA's and TensorFlow's launches do; otherwise `name`. */
static const char *host_name(const struct tk_report *r, const char *name) {
  for (size_t i = 0; i < r->n_kernels; i++)
    if (strcmp(r->kernels[i].name, name) == 0) return r->kernels[i].short_name;
  return name;
}

static bool print_ops(const struct tk_report *r, size_t top, bool full_names) {
  static const char *const titles[] = { "self", "%self", "per step", "total", "count", "mean", "max", "kind", "host", NULL };
  struct table t = { .align = "rrrrrrrll", .drop = "...cd.ba.", .width = tty_page_width(stdout), .bars = 2 };
  if (r->n_ops == 0) return true;
  wrap_title("Host: operators, calls and functions by self time");
  cells(&t, titles);
  for (size_t i = 0; i < r->n_ops && i < top; i++) {
    const struct tk_report_op *o = &r->ops[i];
    cell_total(&t, o->self);
    cell_percent(&t, o->of_sum, 1);
    cell_time(&t, o->has_steps, o->per_step);
    cell_total(&t, o->total);
    cell_count(&t, o->count);
    cell_time(&t, true, o->mean);
    cell_time(&t, true, o->max);
    table_cell(&t, "%s", o->kind);
    table_cell(&t, "%s", full_names ? o->name : host_name(r, o->name));
  }
  return table_print(&t, stdout);
}

static bool print_annotations(const struct tk_report *r, size_t top) {
  static const char *const titles[] = { "total", "%parent", "self", "count", "mean", "annotation", NULL };
  struct table t = { .align = "rrrrrl", .drop = "..a...", .width = tty_page_width(stdout), .bars = 2 };
  if (r->n_annotations == 0) return true;
  wrap_title("Annotations (indented: nested in the one above)");
  cells(&t, titles);
  for (size_t i = 0; i < r->n_annotations && i < 2 * top; i++) {
    const struct tk_report_annotation *a = &r->annotations[i];
    const int indent = (int)(a->depth < 40 ? 2 * a->depth : 80);
    cell_total(&t, a->total);
    cell_percent(&t, a->of_parent, 1);
    cell_total(&t, a->self);
    cell_count(&t, a->count);
    cell_time(&t, true, a->mean);
    table_cell(&t, "%*s%s", indent, "", a->name);
  }
  if (!table_print(&t, stdout)) return false;
  if (r->n_annotations > 2 * top) puts("more: tracekit tree --kind annotation");
  return true;
}

/* ---- work ---- */

static bool is_copy(const struct tk_report_kernel *k) { return strcmp(k->kind, "copy") == 0 || strcmp(k->kind, "fill") == 0; }

static bool print_kernels(const struct tk_report *r, size_t top, bool full_names) {
  static const char *const titles[] = { "total", "%sum", "count", "mean", "min", "max", "occ %", "class", "kernel", NULL };
  struct table t = { .align = "rrrrrrrll", .drop = "...cabed.", .width = full_names ? tty_width(stdout) : tty_page_width(stdout),
                     .bars = 2 };
  size_t shown = 0;
  for (size_t i = 0; i < r->n_kernels; i++) {
    const struct tk_report_kernel *k = &r->kernels[i];
    if (is_copy(k) || shown == top) continue;
    if (shown++ == 0) wrap_title("Kernels: % of all device work"), cells(&t, titles);
    cell_total(&t, k->total);
    cell_percent(&t, k->of_sum, k->of_sum >= 0);
    cell_count(&t, k->count);
    cell_time(&t, true, k->mean);
    cell_time(&t, true, k->min);
    cell_time(&t, true, k->max);
    cell_percent(&t, k->occupancy, k->occupancy >= 0 ? 100 : 0);
    table_cell(&t, "%s", k->kernel_class);
    table_cell(&t, "%s", full_names ? k->name : k->short_name);
  }
  return shown == 0 || table_print(&t, stdout);
}

static bool print_copies(const struct tk_report *r, size_t top) {
  static const char *const titles[] = { "total", "%sum", "count", "mean", "sized", "bytes", "GB/s", "copy", NULL };
  struct table t = { .align = "rrrrrrrl", .width = tty_page_width(stdout), .bars = 2 };
  size_t shown = 0;
  for (size_t i = 0; i < r->n_kernels; i++) {
    const struct tk_report_kernel *k = &r->kernels[i];
    if (!is_copy(k) || shown == top) continue;
    if (shown++ == 0) wrap_title("Copies and fills"), cells(&t, titles);
    cell_total(&t, k->total);
    cell_percent(&t, k->of_sum, k->of_sum >= 0);
    cell_count(&t, k->count);
    cell_time(&t, true, k->mean);
    cell_count(&t, k->bytes_known);
    cell_bytes(&t, k->bytes_known > 0, k->bytes);
    cell_rate(&t, k->bytes, (double)k->bytes_time / 1e12);
    table_cell(&t, "%s", k->name);
  }
  return shown == 0 || table_print(&t, stdout);
}

static bool print_launches(const struct tk_report *r, size_t top, bool full_names) {
  static const char *const titles[] = { "launched", "call mean", "work mean", "delay mean", "delay max", "call", NULL };
  struct table t = { .align = "rrrrrl", .drop = ".bc.a.", .width = tty_page_width(stdout) };
  if (r->n_launches == 0) return true;
  wrap_title("Launches");
  cells(&t, titles);
  for (size_t i = 0; i < r->n_launches && i < top; i++) {
    const struct tk_report_launch *l = &r->launches[i];
    const double n = (double)l->work * 1e-12;
    cell_count(&t, l->work);
    cell_time(&t, true, (tk_time)(figure_seconds(l->call_sum) / ((double)l->calls * 1e-12)));
    cell_time(&t, true, (tk_time)(figure_seconds(l->work_sum) / n));
    cell_time(&t, true, (tk_time)(figure_seconds(l->delay_sum) / n));
    cell_time(&t, true, l->delay_max);
    table_cell(&t, "%s", full_names ? l->name : host_name(r, l->name));
  }
  return table_print(&t, stdout);
}

/* ---- collectives ---- */

static bool print_collectives(const struct tk_report *r, size_t top) {
  static const char *const titles[] = { "total", "count", "bytes", "bus GB/s", "matched", "shortest", "bus GB/s", "waiting",
                                        "collective", NULL };
  struct table t = { .align = "rrrrrrrrl", .drop = "..bcade..", .width = tty_page_width(stdout) };
  if (r->n_collectives == 0) return true;
  wrap_title("Collectives: per rank, including waiting; for those matched on several ranks, the shortest of each");
  cells(&t, titles);
  for (size_t i = 0; i < r->n_collectives && i < top; i++) {
    const struct tk_report_collective *c = &r->collectives[i];
    cell_total(&t, c->total);
    cell_count(&t, c->count);
    cell_bytes(&t, c->bytes_known > 0, c->bytes);
    cell_rate(&t, c->bus_bytes, figure_seconds(c->sized_total));
    cell_count(&t, c->met);
    if (c->met) cell_total(&t, c->core);
    else table_cell(&t, "-");
    cell_rate(&t, c->core_bus_bytes, figure_seconds(c->core_time));
    if (c->met) cell_total(&t, c->wait);
    else table_cell(&t, "-");
    table_cell(&t, "%s", c->name);
  }
  return table_print(&t, stdout);
}

static bool print_waits(const struct tk_report *r) {
  static const char *const titles[] = { "rank", "matched", "waited", "times last", "cost", "", NULL };
  struct table t = { .align = "rrrrrl", .width = tty_page_width(stdout) };
  if (r->n_meetings == 0) return true;
  wrap_title("Stragglers: time each rank waited, times it was last, and how much later than the next-to-last");
  cells(&t, titles);
  for (size_t i = 0; i < r->n_meetings; i++) {
    const struct tk_report_meeting *m = &r->meetings[i];
    table_cell(&t, "%lld", (long long)m->rank);
    cell_count(&t, m->met);
    cell_total(&t, m->wait);
    cell_count(&t, m->last);
    cell_total(&t, m->cost);
    table_cell(&t, "%s", "");
  }
  return table_print(&t, stdout);
}

/* ---- key figures ---- */

static void cell_verdict(struct table *t, const char *verdict) { table_cell(t, "%s", *verdict ? verdict : "-"); }

static bool print_figures(const struct tk_report *r) {
  static const char *const titles[] = { "value", "unit", "verdict", "good if", "key figure", "worst device", NULL };
  struct table t = { .align = "rlllll", .width = tty_page_width(stdout) };
  char text[32], who[128];
  if (!figures_are_judged(r)) return true;
  wrap_title("Key figures");
  cells(&t, titles);
  for (size_t i = 0; i < r->n_figures; i++) {
    const struct tk_report_figure *f = &r->figures[i];
    table_cell(&t, "%s", f->known ? tty_fraction(f->value, figure_decimals(f), text) : "-");
    table_cell(&t, "%s", f->unit);
    cell_verdict(&t, f->verdict);
    table_cell(&t, "%s", *f->good ? f->good : "-");
    table_cell(&t, "%s", f->name);
    figure_device(f, who, sizeof who);
    table_cell(&t, "%s", !f->known ? "(unknown)" : *who ? who : "-");
  }
  return table_print(&t, stdout);
}

/* ---- memory ---- */

static bool print_memory(const struct tk_report *r) {
  static const char *const titles[] = { "allocated", "% of limit", "reserved", "at", "peak memory", NULL };
  struct table t = { .align = "rrrrl", .width = tty_page_width(stdout) };
  char who[96];
  if (r->n_memories == 0) return true;
  wrap_title("Memory (limit: memory of the device, or what the allocator may use)");
  cells(&t, titles);
  for (size_t i = 0; i < r->n_memories; i++) {
    const struct tk_report_memory *m = &r->memories[i];
    cell_bytes(&t, m->peak_allocated >= 0, m->peak_allocated);
    cell_percent(&t, m->peak_allocated, m->peak_allocated >= 0 && m->capacity > 0 ? m->capacity : 0);
    cell_bytes(&t, m->peak_reserved >= 0, m->peak_reserved);
    cell_time(&t, true, m->at);
    table_cell(&t, "%s", memory_name(m->rank, m->allocator, who, sizeof who));
  }
  return table_print(&t, stdout);
}

/* Rows of one allocator that are not shown one by one. */
struct held_others {
  int64_t rank;
  const char *allocator;
  double bytes, peak;
  uint64_t rows, blocks;
};

static void cell_owner(struct table *t, const struct tk_report_held *h) {
  char who[96];
  memory_name(h->rank, h->allocator, who, sizeof who);
  if (!h->recorded) table_cell(t, "%s: allocated before the recording", who);
  else if (*h->module) table_cell(t, "%s: %s in %s", who, *h->op ? h->op : "(no operator)", h->module);
  else table_cell(t, "%s: %s", who, *h->op ? h->op : "(no operator)");
}

/* Prints the sum of an allocator's rows that are not shown. */
static void others_row(struct table *t, const struct held_others *o) {
  char who[96], n[64];
  if (!o->rows) return;
  memory_name(o->rank, o->allocator, who, sizeof who);
  cell_bytes(t, true, o->bytes);
  table_cell(t, "%.1f", o->peak > 0 ? 100 * o->bytes / o->peak : 0);
  cell_count(t, o->blocks);
  table_cell(t, "%s: %s", who, tty_counted(o->rows, "other", n));
}

static void held_row(struct table *t, const struct tk_report_held *h) {
  cell_bytes(t, true, h->bytes);
  table_cell(t, "%.1f", h->peak > 0 ? 100 * h->bytes / h->peak : 0);
  if (h->recorded) cell_count(t, h->blocks);
  else table_cell(t, "-");
  cell_owner(t, h);
}

static bool print_held(const struct tk_report *r, size_t top) {
  static const char *const titles[] = { "bytes", "% of peak", "blocks", "allocated at the peak", NULL };
  struct table t = { .align = "rrrl", .width = tty_page_width(stdout) };
  size_t n;
  if (r->n_held == 0) return true;
  struct memory_part *parts = memory_parts(r, top, &n);
  wrap_title("Memory at the peak");
  cells(&t, titles);
  for (size_t k = 0; parts && k < n; k++) {
    const struct tk_report_held *v = parts[k].rows;
    struct held_others others = { v->rank, v->allocator, 0, v->peak, 0, 0 };
    for (size_t i = 0; i < parts[k].n; i++) {
      if (i < parts[k].shown || !v[i].recorded) {
        held_row(&t, &v[i]);
        continue;
      }
      others.bytes += v[i].bytes;
      others.blocks += v[i].blocks;
      others.rows++;
    }
    others_row(&t, &others);
  }
  t.failed = t.failed || !parts;
  free(parts);
  return table_print(&t, stdout);
}

static void print_unknown(const struct tk_report *r) {
  if (r->n_unknown) wrap_title("Not available");
  for (size_t i = 0; i < r->n_unknown; i++) {
    struct wrap w = { .to = stdout, .width = tty_width(stdout), .indent = 2, .column = 2 };
    fputs("- ", stdout);
    wrap_text(&w, r->unknown[i]);
    putchar('\n');
  }
}

bool report_print_text(const struct tk_report *r, size_t top, bool full_names) {
  print_head(r);
  findings_print(r, MOST_FINDINGS);
  bool ok = print_figures(r) && print_parts(r) && print_steps(r) && print_devices(r) && print_idle(r) &&
            print_gaps(r, top, full_names) && print_waits(r) && print_collectives(r, top) && print_kernels(r, top, full_names) &&
            print_copies(r, top) && device_ops_print(r, top) && layers_print(r, top) && roofline_print(r, top) &&
            print_launches(r, top, full_names) && print_memory(r) && print_held(r, top) && print_hosts(r) &&
            print_compilations(r, top) && print_annotations(r, top) && print_ops(r, top, full_names) && functions_print(r, top);
  print_unknown(r);
  return ok;
}
