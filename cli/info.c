/* info.c - tracekit info: prints a one-screen summary of each trace, or the same as JSON (schemas/info.schema.json). */
#include "commands.h"
#include "print/fields.h"
#include "shared/inspect.h"
#include "shared/run.h"
#include "print/tty.h"

#include <stdlib.h>
#include <string.h>

struct params {
  struct shared shared;
};

static const struct opt opts[] = { ROW_STEP_NAME, ROW_JSON, ROWS_READ, ROW_END };

static const struct example examples[] = {
  { "tracekit info trace.json.gz", "summarise a trace" },
  { "tracekit info -v trace.json.gz", "also show processes, metadata and memory use" },
  { "tracekit info --json rank0.json.gz rank1.json.gz", "print JSON for use in a script" },
  { 0, 0 },
};

static const char *clock_name(enum tk_clock clock) {
  switch (clock) {
    case TK_CLOCK_REALTIME: return "realtime";
    case TK_CLOCK_BOOTTIME: return "boottime";
    case TK_CLOCK_MONOTONIC: return "monotonic";
    default: return "unknown";
  }
}

static uint64_t n_events(const struct tk_summary *s) { return s->spans + s->instants + s->counters + s->samples; }

static const char *format_title(const char *name) {
  const struct tk_format_info *f;
  for (size_t i = 0; (f = tk_format(i)); i++)
    if (name && !strcmp(f->name, name)) return f->title;
  return name ? name : "unknown format";
}

/* ---- text ---- */

static void label(const char *name) { printf("  %-10s", name); }

/* Prints ", 12 dropped" for n = 12 and what = "dropped"; prints nothing if n is 0. */
static void also(uint64_t n, const char *what) {
  char text[32];
  if (n) printf(", %s %s", tty_count(n, text), what);
}

/* Prints a number with its noun in the singular or plural: ", 1 instant", ", 12 instants"; nothing if n is 0. */
static void also_counted(uint64_t n, const char *what) {
  char text[64];
  if (n) printf(", %s", tty_counted(n, what, text));
}

/* Formats a timestamp in seconds, relative to the zero of the timestamps in the file. */
static void print_start(const struct tk_trace *t, tk_time ts, char *text) {
  const int64_t ns = t->origin_ns - t->zero_ns, ps = ns % 1000000000 * 1000 + ts % 1000000000000;
  const struct tk_total start = { ns / 1000000000 + ts / 1000000000000, ps };
  if (!start.s && !start.ps) snprintf(text, 2, "0");
  else tk_print_total(start, text);
}

static void print_time(const struct tk_trace *t, const struct tk_summary *s) {
  char start[64], length[32];
  if (n_events(s) == 0) return;
  label("time");
  tk_print_duration(s->end - s->start, length);
  if (t->clock == TK_CLOCK_REALTIME) tk_print_absolute(t->origin_ns, s->start, start);
  else print_start(t, s->start, start);
  printf("%s long, from %s (%s clock)\n", length, start, clock_name(t->clock));
}

static void print_clock(const struct tk_trace *t) {
  const char *source = tk_clock_source(t);
  label("clock");
  if (source) printf("%s, known by: %s\n", clock_name(t->clock), source);
  else puts(t->clock == TK_CLOCK_UNKNOWN ? "unknown: the file states no absolute time" : clock_name(t->clock));
}

static void print_rank(const struct tk_summary *s) {
  if (s->rank < 0 && !*s->host) return;
  label("rank");
  if (s->rank >= 0) printf("%lld (from %s)", (long long)s->rank, s->rank_from);
  else fputs("unknown", stdout);
  if (*s->host) {
    fputs(", host ", stdout);
    tty_string(stdout, s->host);
  }
  putchar('\n');
}

static void print_contents(const struct tk_trace *t, const struct tk_summary *s) {
  char n[64], size[64];
  tk_print_size(t->counts.bytes, size);
  label("read");
  printf("%s, %s unpacked", tty_counted(t->counts.read, "record", n), size);
  also(t->counts.dropped, "dropped");
  putchar('\n');
  label("events");
  printf("%s: %s", tty_count(n_events(s), n), tty_counted(s->spans, "span", size));
  also_counted(s->instants, "instant");
  also_counted(s->counters, "counter sample");
  also_counted(s->samples, "stack sample");
  putchar('\n');
  label("tracks");
  if (s->machines) printf("%s, ", tty_counted(s->machines, "machine", n));
  printf("%u process%s, %s", s->processes, s->processes == 1 ? "" : "es", tty_counted(s->threads, "thread", n));
  also_counted(s->counter_tracks, "counter");
  also(s->async_tracks, "with async events");
  putchar('\n');
  label("nesting");
  printf("depth %u", s->max_depth);
  also(s->overlaps, "overlapping");
  also(s->unfinished, "unfinished");
  also(s->lost_clock, "without a time");
  if (s->flow_points) {
    putchar('\n');
    label("flows");
    printf("%s, %s", tty_counted(s->flow_pairs, "flow", n), tty_counted(s->flow_points, "flow point", size));
    also(s->dangling_points, "dangling");
  }
  putchar('\n');
}

/* True for kinds not worth listing: spans, instants, counters and async events are counted above, and "host" is everything that
 * is not on a device. */
static bool is_plain(const struct tk_summary *s, size_t kind) {
  static const char *const PLAIN[] = { "span", "instant", "counter", "async", "sample", "host" };
  for (size_t i = 0; i < sizeof PLAIN / sizeof PLAIN[0]; i++)
    if (strcmp(s->kinds[kind].name, PLAIN[i]) == 0) return true;
  return false;
}

static void print_kinds(const struct tk_summary *s) {
  char n[32];
  bool any = false;
  for (size_t i = 0; i < TK_KINDS && s->kinds[i].name; i++) {
    if (!s->kinds[i].events || is_plain(s, i)) continue;
    if (!any) label("kinds");
    printf("%s%s %s", any ? ", " : "", tty_count(s->kinds[i].events, n), s->kinds[i].name);
    any = true;
  }
  if (any) putchar('\n');
}

static void print_string(const struct tk_trace *t, tk_id id) {
  size_t len;
  const char *text = tk_string(t, id, &len);
  tty_text(stdout, text, len);
}

static void print_ident(const struct tk_trace *t, const struct tk_ident *ident) {
  if (ident->kind == TK_IDENT_STR) print_string(t, ident->str);
  else if (ident->kind != TK_IDENT_NONE) printf("%lld", (long long)ident->num);
}

/* Returns the number of events of each process, including its tracks, indexed by track id; NULL if out of memory. */
static uint64_t *process_events(const struct tk_trace *t) {
  uint64_t *n = calloc((size_t)t->n_tracks + 1, sizeof *n);
  for (tk_id i = 1; n && i <= t->n_tracks; i++) n[t->tracks[i].kind == TK_TRACK_PROCESS
                                                  ? i : t->tracks[i].parent] += t->tracks[i].count;
  return n;
}

static void print_processes(const struct tk_trace *t) {
  char n[64];
  uint64_t *events = process_events(t);
  for (tk_id i = 1; events && i <= t->n_tracks; i++) {
    const struct tk_track *track = &t->tracks[i];
    if (track->kind != TK_TRACK_PROCESS) continue;
    label("process");
    print_ident(t, &track->pid);
    if (track->name) fputs(" ", stdout);
    print_string(t, track->name);
    if (track->labels) fputs(" / ", stdout);
    print_string(t, track->labels);
    printf(": %s\n", tty_counted(events[i], "event", n));
  }
  free(events);
}

static void print_metadata(const struct tk_trace *t) {
  if (t->n_metas == 0) return;
  label("metadata");
  for (tk_id i = 1; i <= t->n_metas; i++) {
    if (i > 1) fputs(", ", stdout);
    print_string(t, t->metas[i].key);
  }
  putchar('\n');
}

static void print_memory(const struct tk_summary *s) {
  uint64_t n = n_events(s) ? n_events(s) : 1;
  char graph[32], strings[32], args[32], each[32], args_each[32];
  tk_print_size(s->memory, graph);
  tk_print_size(s->string_bytes, strings);
  tk_print_size(s->arg_bytes, args);
  label("memory");
  printf("%s graph, %s bytes per event; args %s, %s per event in %u shapes; %u strings, %s\n", graph,
         tty_fraction((double)s->memory / (double)n, 1, each), args,
         tty_fraction((double)s->arg_bytes / (double)n, 1, args_each), s->arg_shapes, s->n_strings, strings);
}

/* Prints the size that the trace would have if it were written again, by kind of data; `tracekit size` prints the details. */
static void print_size(struct tk_trace *t, const struct tk_summary *s) {
  static const struct tk_save_options options = { .threads = 1 };
  struct tk_size_report *r = NULL;
  struct tk_err err = { 0 };
  char size[32], packed[32];
  if (n_events(s) == 0) return;
  if (!tk_size(t, &options, &r, &err)) {
    tk_size_report_free(r);
    return;
  }
  tk_print_size(r->bytes, size);
  tk_print_size(r->packed, packed);
  label("size");
  printf("%s, %s compressed", size, packed);
  for (size_t i = 0; i < r->n_rows && r->rows[i].by == TK_SIZE_KIND; i++)
    printf("%s %s %.0f%%", i ? "," : ":", r->rows[i].key, 100.0 * (double)r->rows[i].bytes / (double)r->bytes);
  putchar('\n');
  tk_size_report_free(r);
}

/* ---- where the time went ---- */

enum { LONGEST = 5 };

/* Results of report and top that info shows. */
struct glance {
  struct tk_report *report;
  struct tk_top_report *top;
};

static bool look(struct tk_trace *t, bool names, struct glance *g, struct tk_err *err) {
  static const struct tk_top_options options = { .sort = TK_TOP_SORT_SELF };
  static const struct tk_report_options brief = { .brief = true };
  *g = (struct glance){ 0 };
  return tk_report_trace(t, &brief, &g->report, err) && (!names || tk_top(t, &options, &g->top, err));
}

static void look_away(struct glance *g) {
  tk_report_free(g->report);
  tk_top_report_free(g->top);
}

/* Returns the busy time of all devices as a percentage of their windows; -1 if there are no devices. */
static double busy_percent(const struct tk_report *r) {
  double busy = 0, window = 0;
  for (size_t i = 0; i < r->n_ranks; i++) {
    busy += (double)r->ranks[i].times.busy;
    window += (double)r->ranks[i].times.window;
  }
  return window > 0 ? 100 * busy / window : -1;
}

/* Returns the rank with the most steps; NULL if no rank has steps. */
static const struct tk_report_rank *row_with_steps(const struct tk_report *r) {
  const struct tk_report_rank *most = NULL;
  for (size_t i = 0; i < r->n_ranks; i++)
    if (r->ranks[i].step.count && (!most || r->ranks[i].step.count > most->step.count)) most = &r->ranks[i];
  return most;
}

/* Prints the mean length of a step of the rank with the most steps, and names this rank if several ranks have steps. */
static void print_step(const struct tk_report *r) {
  const struct tk_report_rank *row = row_with_steps(r);
  char time[48];
  size_t n = 0;
  if (!row) return;
  for (size_t i = 0; i < r->n_ranks; i++) n += r->ranks[i].step.count > 0;
  label("a step");
  tk_print_duration(row->step.mean, time);
  fputs(time, stdout);
  tk_print_duration(row->step.deviation, time);
  if (row->step.count > 1) printf(" on average, deviation %s", time);
  if (n > 1 && row->rank >= 0) printf(" (rank %lld; report shows all)", (long long)row->rank);
  else if (n > 1) printf(" (one of %zu rows; report shows all)", n);
  putchar('\n');
}

static size_t count_devices(const struct tk_report *r) {
  size_t n = 0;
  for (size_t i = 0; i < r->n_ranks; i++) n += *r->ranks[i].device != 0;
  return n;
}

/* Prints the name of each device with work once, at most MOST names. */
static void print_names(const struct tk_report *r) {
  enum { MOST = 8 };
  const char *names[MOST + 1];
  size_t n = 0;
  for (size_t i = 0; i < r->n_ranks && n <= MOST; i++) {
    size_t k = 0;
    while (k < n && strcmp(names[k], r->ranks[i].device) != 0) k++;
    if (k == n && *r->ranks[i].device) names[n++] = r->ranks[i].device;
  }
  tty_list(stdout, names, n < MOST ? n : MOST);
  if (n > MOST) fputs(", ...", stdout);
}

static void print_models(const struct tk_report *r) {
  if (!r->n_devices) return;
  fputs(" (", stdout);
  tty_list(stdout, r->devices, r->n_devices);
  putchar(')');
}

/* Prints the devices with work, and the models of devices that the trace states: "2: GPU 0, GPU 1 (NVIDIA H100)". */
static void print_devices(const struct tk_report *r) {
  const size_t n = count_devices(r);
  if (!n && !r->n_devices) return;
  label("devices");
  printf(n ? "%zu: " : "none with work", n);
  print_names(r);
  print_models(r);
  putchar('\n');
}

static void print_versions(const struct tk_report *r) {
  if (!r->n_versions) return;
  label("made by");
  tty_list(stdout, r->versions, r->n_versions);
  putchar('\n');
}

static void print_glance(const struct glance *g, bool all) {
  const double busy = busy_percent(g->report);
  char time[48], n[64];
  print_step(g->report);
  print_devices(g->report);
  if (busy >= 0) label("busy");
  if (busy >= 0) printf("%s%% of the window of the devices, from first work to end of last\n", tty_fraction(busy, 1, time));
  print_versions(g->report);
  for (size_t i = 0; all && i < g->top->n_rows && i < LONGEST; i++) {
    const struct tk_top_row *row = &g->top->rows[i];
    label(i ? "" : "longest");
    if (g->top->unit) tk_print_number((double)row->self.s * 1e9 + (double)row->self.ps / 1e3, time);
    else tk_print_total(row->self, time);
    printf("%s%s%s in %s of ", time, g->top->unit ? " " : "", g->top->unit ? g->top->unit : "", tty_counted(row->count, "event", n));
    tty_text(stdout, row->name ? row->name : "(none)", row->name ? row->name_len : 6);
    putchar('\n');
  }
}

static void json_texts(struct json *j, const char *key, const char *const *texts, size_t n) {
  json_open(j, key, '[');
  for (size_t i = 0; i < n; i++) json_string(j, NULL, texts[i]);
  json_close(j, ']');
}

static void json_glance(struct json *j, const struct glance *g) {
  const struct tk_report_rank *rank = row_with_steps(g->report);
  const struct tk_report_spread *s = rank ? &rank->step : NULL;
  const double busy = busy_percent(g->report);
  char text[32];
  json_open(j, "devices", '[');
  for (size_t i = 0; i < g->report->n_ranks; i++)
    if (*g->report->ranks[i].device) json_string(j, NULL, g->report->ranks[i].device);
  json_close(j, ']');
  json_texts(j, "device_names", g->report->devices, g->report->n_devices);
  json_texts(j, "made_by", g->report->versions, g->report->n_versions);
  if (busy >= 0) json_raw(j, "device_busy_percent", tty_fraction(busy, 3, text));
  else json_null(j, "device_busy_percent");
  if (s) {
    json_open(j, "step", '{');
    json_uint(j, "count", s->count);
    fields_time(j, "mean_ns", s->mean);
    fields_time(j, "deviation_ns", s->deviation);
    fields_time(j, "min_ns", s->min);
    fields_time(j, "max_ns", s->max);
    json_close(j, '}');
  }
  if (g->top->unit) json_string(j, "unit", g->top->unit);
  json_open(j, "longest", '[');
  for (size_t i = 0; i < g->top->n_rows && i < LONGEST; i++) {
    const struct tk_top_row *row = &g->top->rows[i];
    json_open(j, NULL, '{');
    if (row->name) json_text(j, "name", row->name, row->name_len);
    else json_null(j, "name");
    json_uint(j, "count", row->count);
    fields_total(j, "self_ns", row->self);
    json_close(j, '}');
  }
  json_close(j, ']');
}

/* All data that info prints about one trace. */
struct info {
  struct tk_summary summary;
  struct tk_inspection *parts;
  struct glance glance;
};

/* Prints the summary as text. more: another trace was printed before, so print an empty line first. */
static void print_info_text(const struct shared *shared, struct tk_trace *t, const struct info *info, bool more) {
  const struct tk_summary *s = &info->summary;
  char percent[32];
  if (more) putchar('\n');
  fputs(tty_style(stdout, TTY_BOLD), stdout);
  tty_string(stdout, t->source);
  printf("%s: %s\n", tty_style(stdout, TTY_PLAIN), format_title(t->format));
  print_contents(t, s);
  print_kinds(s);
  print_time(t, s);
  if (shared->verbose) print_clock(t);
  print_rank(s);
  inspect_print_origins(t);
  inspect_print(info->parts, shared->verbose);
  print_glance(&info->glance, shared->verbose);
  if (!shared->verbose) return;
  print_processes(t);
  print_metadata(t);
  print_memory(s);
  print_size(t, s);
  label("fast path");
  double part = t->counts.read ? 100.0 * (double)t->counts.by_template / (double)t->counts.read : 0.0;
  printf("%s%% of the records\n", tty_fraction(part, 1, percent));
}

/* ---- JSON ---- */

static void json_phases(struct json *j, const struct tk_counts *counts) {
  json_open(j, "records_by_phase", '{');
  for (int c = 0; c < 128; c++) {
    char key[2] = { (char)c, 0 };
    if (counts->by_phase[c]) json_uint(j, c ? key : "none", counts->by_phase[c]);
  }
  json_close(j, '}');
}

static void json_notes(struct json *j, const struct tk_trace *t) {
  json_open(j, "notes", '[');
  for (tk_id i = 1; i <= t->n_notes; i++) {
    const struct tk_note *n = &t->notes[i];
    size_t len;
    const char *text = tk_string(t, n->text, &len);
    json_open(j, NULL, '{');
    json_string(j, "kind", n->kind == TK_NOTE_REPAIR ? "repair" : n->kind == TK_NOTE_FACT ? "fact" : "info");
    if (n->source) json_string(j, "source", tk_string(t, n->source, NULL));
    json_text(j, "text", text, len);
    json_uint(j, "count", n->count);
    if (n->offset != UINT64_MAX) json_uint(j, "first_byte", n->offset);
    json_close(j, '}');
  }
  json_close(j, ']');
}

static void json_events(struct json *j, const struct tk_summary *s) {
  json_uint(j, "events", n_events(s));
  json_uint(j, "spans", s->spans);
  json_uint(j, "instants", s->instants);
  json_uint(j, "counter_samples", s->counters);
  json_uint(j, "stack_samples", s->samples);
  json_uint(j, "flow_points", s->flow_points);
  json_uint(j, "flow_pairs", s->flow_pairs);
  json_uint(j, "dangling_flow_points", s->dangling_points);
  json_uint(j, "metadata_records", s->records);
  json_uint(j, "overlapping", s->overlaps);
  json_uint(j, "unfinished", s->unfinished);
  json_uint(j, "without_time", s->lost_clock);
  json_uint(j, "machines", s->machines);
  json_uint(j, "processes", s->processes);
  json_uint(j, "threads", s->threads);
  json_uint(j, "counter_tracks", s->counter_tracks);
  json_uint(j, "async_tracks", s->async_tracks);
  json_uint(j, "max_depth", s->max_depth);
  json_open(j, "kinds", '{');
  for (size_t i = 0; i < TK_KINDS && s->kinds[i].name; i++)
    if (s->kinds[i].events) json_uint(j, s->kinds[i].name, s->kinds[i].events);
  json_close(j, '}');
}

static void json_time(struct json *j, const struct tk_trace *t, const struct tk_summary *s) {
  json_string(j, "clock", clock_name(t->clock));
  if (tk_clock_source(t)) json_string(j, "clock_source", tk_clock_source(t));
  json_int(j, "origin_ns", t->origin_ns);
  json_int(j, "zero_ns", t->zero_ns);
  if (n_events(s) == 0) return;
  json_int(j, "start_ps", s->start);
  json_int(j, "end_ps", s->end);
}

static void json_memory(struct json *j, const struct tk_summary *s) {
  json_open(j, "memory", '{');
  json_uint(j, "graph_bytes", s->memory);
  json_uint(j, "arg_bytes", s->arg_bytes);
  json_uint(j, "string_bytes", s->string_bytes);
  json_uint(j, "strings", s->n_strings);
  json_uint(j, "arg_shapes", s->arg_shapes);
  json_close(j, '}');
}

static void print_info_json(struct json *j, struct tk_trace *t, const struct info *info) {
  const struct tk_summary *s = &info->summary;
  json_open(j, NULL, '{');
  json_string(j, "input", t->source);
  json_string(j, "format", t->format);
  json_uint(j, "bytes", t->counts.bytes);
  json_uint(j, "read_records", t->counts.read);
  json_uint(j, "records_by_template", t->counts.by_template);
  json_uint(j, "empty_records", t->counts.empty);
  json_uint(j, "dropped", t->counts.dropped);
  json_phases(j, &t->counts);
  json_events(j, s);
  json_time(j, t, s);
  if (s->rank >= 0) {
    json_int(j, "rank", s->rank);
    json_string(j, "rank_from", s->rank_from);
  }
  if (*s->host) json_string(j, "host", s->host);
  inspect_json_origins(j, t);
  json_memory(j, s);
  inspect_json(j, t, info->parts);
  json_glance(j, &info->glance);
  json_notes(j, t);
  json_close(j, '}');
}

/* ---- the command ---- */

static int print_info(const struct shared *shared, struct tk_trace *t, struct json *j) {
  struct info info = { .parts = tk_inspect(t) };
  struct tk_err err = { 0 };
  int status = STATUS_DONE;
  if (!info.parts) return run_no_memory();
  const bool names = shared->json || shared->verbose;
  if (!tk_summarise(t, &info.summary, &err) || !look(t, names, &info.glance, &err)) status = run_fail(&err);
  else if (shared->json) print_info_json(j, t, &info);
  else print_info_text(shared, t, &info, j->more);
  j->more = j->more || status == STATUS_DONE;
  look_away(&info.glance);
  tk_inspection_free(info.parts);
  return status;
}

static int info_one(const struct shared *shared, struct tk_sources *sources, size_t i, struct json *j) {
  int status = STATUS_DONE;
  struct tk_trace *t = run_load_input(shared, sources, i, &status);
  if (!t) return status;
  status = print_info(shared, t, j);
  tk_free(t);
  return status;
}

static int cmd_info(const void *params, const struct operands *in) {
  struct shared with_facts = ((const struct params *)params)->shared, *s = &with_facts;
  struct json j = { .to = stdout };
  int worst = STATUS_DONE, status;
  s->facts = true;
  struct tk_sources *sources = run_sources(s, "info", in, &status);
  if (!sources) return status;
  if (s->json) {
    json_open(&j, NULL, '{');
    json_open(&j, "traces", '[');
  }
  for (size_t i = 0; i < sources->n && worst < STATUS_SIGNALLED; i++) {
    status = info_one(s, sources, i, &j);
    if (status > worst) worst = status;
  }
  if (s->json) {
    json_close(&j, ']');
    json_close(&j, '}');
  }
  tk_sources_close(sources);
  return worst;
}

const struct command command_info = {
  .name = "info",
  .group = GROUP_INSPECT,
  .summary = "summarise a trace",
  .operands = "[INPUT...]",
  .description =
    "Prints a summary of each trace (standard input without INPUT): records, events, tracks, nesting, flows, time, rank, host, "
    "training steps, accelerators and how busy they were, and versions. For XPlane it also prints hosts, devices and planes; "
    "for Perfetto, packets and sequences; for both, what takes up space in the file. -v adds the five names with the most self "
    "time, processes, lines, clocks, metadata and memory use. Notes are printed on standard error: assumptions, repairs, and "
    "properties such as overlapping spans. If an input cannot be read, the others are still printed, and the exit status is 3.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = ANY_NUMBER,
  .run = cmd_info,
};
