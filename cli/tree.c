/* tree.c - tracekit tree: shows time as a call tree, as text, as JSON (schemas/tree.schema.json) or in formats for flame
 * graphs. */
#include "commands.h"
#include "print/fields.h"
#include "print/json.h"
#include "shared/figures.h"
#include "shared/full_names.h"
#include "shared/remarks.h"
#include "shared/select.h"
#include "print/table.h"
#include "tree_graph.h"
#include "print/tty.h"
#include "print/wrap.h"

#include <stdlib.h>
#include <string.h>

struct params {
  struct selected selected;
  const char *by, *per, *path, *every;
  int top, sort, levels;
  bool fold, folded, speedscope, svg, full_names, layers;
};

#define FIELD(field) offsetof(struct params, field)

enum { BY_TOTAL, BY_START };
static const struct opt_word sort_words[] = {
  { "total", BY_TOTAL, "sum of durations (default)" },
  { "start", BY_START, "first start" },
  { 0, 0, 0 },
};

static const struct opt opts[] = {
  { OPT_STRING, 0, "by", "WHAT",
    "group the outermost level by: cat, rank, process, track, stream, step, phase, op, module, class, device or arg.KEY "
    "(default: names only)", FIELD(by), 0, 0, 0 },
  { OPT_STRING, 0, "path", "arg.KEY",
    "show the paths in this arg instead of nested names, such as arg.tf_op: time per scope, layer and operation",
    FIELD(path), 0, 0, 0 },
  { OPT_STRING, 0, "per", "GLOB", "show only the contents of spans with this name, averaged per call", FIELD(per), 0, 0, 0 },
  { OPT_STRING, 0, "every", "PATTERN",
    "cut a loop without marks of its steps into iterations: each event with this name begins one (a glob, or a regex between "
    "slashes); show what they contain, averaged per iteration", FIELD(every), 0, 0, 0 },
  { OPT_FLAG, 0, "layers", 0,
    "show the device time of each layer, averaged per step; layers are the scopes of XLA programs, or else modules, or else "
    "annotations",
    FIELD(layers), 0, 0, 0 },
  { OPT_INT, 0, "levels", "N", "show only the first N levels", FIELD(levels), 0, 1, 1000 },
  { OPT_FLAG, 0, "fold", 0, "combine names that differ only in numbers or template arguments: layer_*, add<*>(float*)", FIELD(fold),
    0, 0, 0 },
  { OPT_WORD, 0, "sort", "ORDER", "sort the lines of one level by total, largest first, or by start",
    FIELD(sort), sort_words, 0, 0 },
  { OPT_INT, 0, "top", "N", "show only the N paths that took the most time (default: 60 as text, otherwise all)", FIELD(top), 0, 1,
    1000000000 },
  { OPT_FLAG, 0, "folded", 0, "print each path with its self time in ns on one line, for flame graph tools",
    FIELD(folded), 0, 0, 0 },
  { OPT_FLAG, 0, "speedscope", 0, "print a profile for speedscope", FIELD(speedscope), 0, 0, 0 },
  { OPT_FLAG, 0, "svg", 0, "print a flame graph as SVG", FIELD(svg), 0, 0, 0 },
  ROW_FULL_NAMES(struct params, full_names),
  ROWS_SELECT,
  ROW_ALLOW_EMPTY,
  ROW_JSON,
  ROW_KEEP_GOING,
  ROWS_READ,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit tree trace.json --top 20", "show the twenty paths that took the most time" },
  { "tracekit tree trace.json --kind annotation --per train_step",
    "show the parts of a training step, and their device time" },
  { "tracekit tree trace.json --every 'DataLoader*'", "show the parts of an iteration of a loop that has no annotation" },
  { "tracekit tree trace.json --kind annotation --sort start", "show annotations in the order of time" },
  { "tracekit tree trace.json --layers --levels 2 --allow-empty", "show the device time of each layer" },
  { "tracekit tree trace.json --svg > flame.svg", "draw a flame graph" },
  { 0, 0 },
};

enum { SHOWN_NODES = 60, MOST_PATTERN = 1000 /* bytes of --every */ };

/* ---- selection of nodes ---- */

static int by_total(const void *p, const void *q) {
  const struct tk_tree_node *const *a = p, *const *b = q;
  struct tk_total x = (*a)->total, y = (*b)->total;
  if ((*a)->is_mark != (*b)->is_mark) return (*a)->is_mark ? 1 : -1;
  if (x.s != y.s) return x.s > y.s ? -1 : 1;
  if (x.ps != y.ps) return x.ps > y.ps ? -1 : 1;
  return (*a > *b) - (*a < *b);
}

/* Selects the `top` nodes with the most time, and all their ancestors. Returns a flag per node; NULL if out of memory. */
static bool *choose_nodes(const struct tk_tree_report *r, size_t top) {
  const struct tk_tree_node **order = malloc((r->n_nodes + 1) * sizeof *order);
  bool *shown = calloc(r->n_nodes + 1, sizeof *shown);
  for (size_t i = 0; order && i < r->n_nodes; i++) order[i] = &r->nodes[i];
  if (order && top < r->n_nodes) qsort(order, r->n_nodes, sizeof *order, by_total);
  for (size_t i = 0; order && shown && i < r->n_nodes && i < top; i++)
    for (uint32_t k = (uint32_t)(order[i] - r->nodes); k != UINT32_MAX && !shown[k]; k = r->nodes[k].parent) shown[k] = true;
  if (!order) free(shown), shown = NULL;
  free(order);
  return shown;
}

/* ---- text ---- */

static void duration_cell(struct table *t, bool known, double s) {
  char text[48] = "";
  if (!known) table_cell(t, "%s", "");
  if (!known) return;
  if (s < 9e6) tk_print_duration((tk_time)(s * 1e12 + 0.5), text);
  else snprintf(text, sizeof text, "%.0f s", s);
  table_cell(t, "%s", text);
}

static void percent_cell(struct table *t, bool known, double part, double whole) {
  char text[32];
  table_cell(t, "%s", known ? tty_fraction(whole > 0 ? 100 * part / whole : 0, 1, text) : "-");
}

static void times_cell(struct table *t, double count) {
  char text[32];
  uint64_t whole = (uint64_t)(count + 0.05);
  double off = count - (double)whole;
  if (off > -0.05 && off < 0.05) table_cell(t, "x%s", tty_count(whole, text));
  else table_cell(t, "x%s", tty_fraction(count, 1, text));
}

/* Adds the cell of the node's name, indented by two spaces per level. */
static void name_cell(struct table *t, const struct tk_tree_node *n, bool full) {
  enum { DEEPEST = 60 };
  const char *name = n->short_name && !full ? n->short_name : n->name ? n->name : "(none)";
  table_cell(t, "%*s%s", (int)(n->depth < DEEPEST ? n->depth : DEEPEST) * 2, "", name);
}

/* Adds a cell with a duration, or with an amount in the report's unit if it has one. */
static void figure_cell(struct table *t, const struct tk_tree_report *r, bool timed, double seconds) {
  char text[32];
  if (!r->unit) {
    duration_cell(t, timed, seconds);
    return;
  }
  tk_print_number(seconds * 1e9, text);
  table_cell(t, "%s", text);
}

static void node_row(struct table *t, const struct params *p, const struct tk_tree_report *r, const struct tk_tree_node *n,
                     bool device) {
  const double calls = r->calls ? (double)r->calls : 1, total = figure_seconds(n->total), all = figure_seconds(r->sum);
  const bool timed = n->count > n->unfinished;
  figure_cell(t, r, timed, total / calls);
  percent_cell(t, !n->is_mark, total, n->parent == UINT32_MAX ? all : figure_seconds(r->nodes[n->parent].total));
  percent_cell(t, !n->is_mark, total, all);
  figure_cell(t, r, timed, figure_seconds(n->self) / calls);
  duration_cell(t, n->mean >= 0, (double)n->mean / 1e12);
  if (device) duration_cell(t, n->launched > 0, (double)n->device / 1e12 / calls);
  times_cell(t, (double)n->count / calls);
  name_cell(t, n, p->full_names);
}

static void layer_row(struct table *t, const struct params *p, const struct tk_tree_report *r, const struct tk_tree_node *n) {
  const double calls = r->calls ? (double)r->calls : 1;
  duration_cell(t, n->launched > 0, (double)n->device / 1e12 / calls);
  if (r->work) percent_cell(t, true, (double)n->device, (double)r->work);
  else table_cell(t, "%s", "");
  if (strcmp(r->layers, "scopes") != 0) duration_cell(t, n->mean >= 0, figure_seconds(n->total) / calls);
  times_cell(t, (double)n->count / calls);
  name_cell(t, n, p->full_names);
}

static bool any_launched(const struct tk_tree_report *r) {
  for (size_t i = 0; i < r->n_nodes; i++)
    if (r->nodes[i].launched) return true;
  return false;
}

static void print_layer_notes(const struct tk_tree_report *r, size_t hidden) {
  const char *const none = any_launched(r) ? "the selection contains no work of devices, only layers"
                                           : "no work of devices was recorded";
  char steps[96] = "", work[96], more[96] = "", n[64];
  tk_print_duration(r->calls ? r->work / (tk_time)r->calls : r->work, n);
  snprintf(work, sizeof work, "devices worked for %s%s", n, r->calls ? " of each" : "");
  if (r->calls) snprintf(steps, sizeof steps, "averages over %s; ", tty_counted(r->calls, "step", n));
  if (hidden) snprintf(more, sizeof more, "; %s not shown (see --top)", tty_counted(hidden, "layer", n));
  putchar('\n');
  wrap_note("%s%s%s", steps, r->work ? work : none, more);
  if (r->work) wrap_note("device: time in which work %s the layer ran on any device",
                         strcmp(r->layers, "scopes") != 0 ? "that was launched within" : "of");
  if (r->stepless) wrap_note("%s begin outside of all steps and are left out (--step-name chooses other steps)",
                             tty_counted(r->stepless, "span", n));
}

static bool print_layers(const struct params *p, const struct tk_tree_report *r, const bool *shown) {
  const bool hosts = strcmp(r->layers, "scopes") != 0;
  struct table t = { .align = hosts ? "rrrrl" : "rrrl", .width = tty_width(stdout), .sparse = true };
  size_t hidden = 0;
  table_cell(&t, "device");
  table_cell(&t, "%%device");
  if (hosts) table_cell(&t, "host");
  table_cell(&t, "count");
  table_cell(&t, "%s", r->layers);
  for (size_t i = 0; i < r->n_nodes; i++) {
    if (shown[i]) layer_row(&t, p, r, &r->nodes[i]);
    else hidden++;
  }
  if (!table_print(&t, stdout)) return false;
  if (!p->selected.shared.quiet) print_layer_notes(r, hidden);
  return true;
}

/* Prints the device time of work that belongs to no line of the tree. */
static void print_outside(const struct tk_tree_report *r) {
  char outside[48], work[48], share[32];
  if (!r->outside) return;
  tk_print_duration(r->outside, outside);
  tk_print_duration(r->work, work);
  tty_fraction(100 * (double)r->outside / (double)r->work, 1, share);
  wrap_note("device: for %s of the %s in which devices worked (%s%%), they ran work that was launched outside of these spans or by "
            "unknown calls", outside, work, share);
}

struct sums {
  uint64_t unfinished, clipped, launched, marks;
  size_t hidden;
};

static struct sums sum_up(const struct tk_tree_report *r, const bool *shown) {
  struct sums s = { 0 };
  for (size_t i = 0; i < r->n_nodes; i++) {
    s.unfinished += r->nodes[i].unfinished;
    s.clipped += r->nodes[i].clipped;
    s.launched += r->nodes[i].launched;
    s.marks += r->nodes[i].is_mark;
    s.hidden += !shown[i];
  }
  return s;
}

static void print_notes(const struct params *p, const struct tk_tree_report *r, const struct sums *s) {
  char calls[96] = "", n[64];
  if (r->calls) snprintf(calls, sizeof calls, "averages over %s", tty_counted(r->calls, p->every ? "iteration" : "call", n));
  if (r->calls || s->hidden || s->marks || r->unit || r->unweighed || s->unfinished || s->clipped || r->outside) putchar('\n');
  if (s->hidden) wrap_note("%s%s%s not shown (see --top)", calls, r->calls ? "; " : "", tty_counted(s->hidden, "path", n));
  else if (r->calls) wrap_note("%s", calls);
  if (s->marks) wrap_note("spans of the profiler itself are listed last and excluded from sums");
  remarks_partial(&(struct remarks_partial){ r->unit, r->unweighed, s->unfinished, s->clipped });
  print_outside(r);
}

static bool print_text(const struct params *p, const struct tk_tree_report *r, const bool *shown) {
  static const char *const titles[] = { "total", "%parent", "%all", "self", "mean", "device", "count" };
  const struct sums s = sum_up(r, shown);
  struct table t = { .align = s.launched ? "rrrrrrrl" : "rrrrrrl", .drop = s.launched ? "....a..." : "....a.." };
  t.width = tty_width(stdout);
  t.bars = 3;
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    if (i != 5 || s.launched) table_cell(&t, "%s", titles[i]);
  table_cell(&t, "path");
  for (size_t i = 0; i < r->n_nodes; i++)
    if (shown[i]) node_row(&t, p, r, &r->nodes[i], s.launched > 0);
  if (!table_print(&t, stdout)) return false;
  if (!p->selected.shared.quiet) print_notes(p, r, &s);
  return true;
}

/* ---- JSON ---- */

/* Writes averages per call (--per) or per iteration (--every), as the text output shows them. */
static void json_per_call(struct json *j, const struct tk_tree_report *r, const struct tk_tree_node *n) {
  const double calls = (double)r->calls;
  char text[32];
  json_open(j, "per_call", '{');
  tk_print_number((double)n->count / calls, text);
  json_raw(j, "count", text);
  tk_print_number(figure_seconds(n->total) * 1e9 / calls, text);
  json_raw(j, "total_ns", text);
  tk_print_number(figure_seconds(n->self) * 1e9 / calls, text);
  json_raw(j, "self_ns", text);
  tk_print_number((double)n->device / 1e3 / calls, text);
  if (n->launched) json_raw(j, "device_ns", text);
  else json_null(j, "device_ns");
  json_close(j, '}');
}

static void json_node(struct json *j, const struct tk_tree_report *r, uint32_t i) {
  json_open(j, NULL, '{');
  fields_json(j, TK_ROW_TREE, &r->nodes[i], r, SIZE_MAX);
  if (r->calls) json_per_call(j, r, &r->nodes[i]);
  json_close(j, '}');
}

static void tree_print_json(const struct params *p, const struct tk_trace *t, const struct tk_tree_report *r,
                            const bool *shown) {
  struct json j = { .to = stdout };
  json_open(&j, NULL, '{');
  json_string(&j, "input", t->source);
  if (p->by) json_string(&j, "by", p->by);
  if (p->per) json_string(&j, "per", p->per);
  if (p->every) json_string(&j, "every", p->every);
  if (r->calls) json_uint(&j, "calls", r->calls);
  if (r->unit) json_string(&j, "unit", r->unit);
  if (r->unweighed) json_uint(&j, "samples_in_other_units", r->unweighed);
  if (r->layers) json_string(&j, "layers", r->layers);
  if (r->layers || r->work) fields_time(&j, "work_ns", r->work);
  if (!r->layers && r->work) fields_time(&j, "outside_ns", r->outside);
  if (r->stepless) json_uint(&j, "spans_outside_steps", r->stepless);
  fields_total(&j, "sum_ns", r->sum);
  json_uint(&j, "paths_in_all", r->n_nodes);
  json_open(&j, "paths", '[');
  for (uint32_t i = 0; i < r->n_nodes; i++)
    if (shown[i]) json_node(&j, r, i);
  json_close(&j, ']');
  json_close(&j, '}');
}

/* ---- the command ---- */

static int print_tree(const struct params *p, const struct tk_trace *t, const struct tk_tree_report *r) {
  const bool json = p->selected.shared.json, text = !json && !p->folded && !p->speedscope && !p->svg;
  bool *shown = choose_nodes(r, p->top ? (size_t)p->top : text ? SHOWN_NODES : SIZE_MAX);
  bool ok = shown != NULL;
  if (!shown) tty_say("out of memory");
  else if (json) tree_print_json(p, t, r, shown);
  else if (p->folded) ok = tree_graph_folded(r, shown);
  else if (p->speedscope) ok = tree_graph_speedscope(r, shown, t->source);
  else if (p->svg) ok = tree_graph_svg(r, shown);
  else ok = r->layers ? print_layers(p, r, shown) : print_text(p, r, shown);
  free(shown);
  return ok ? STATUS_DONE : STATUS_INPUT;
}

/* Prints that no span has the name given by --per, and suggests a similar name. */
static void say_no_calls(const struct tk_trace *t, const char *name) {
  const char **names = calloc((size_t)t->n_classes + 1, sizeof *names), *near = NULL;
  for (tk_id i = 1; names && i <= t->n_classes; i++) names[i - 1] = tk_string(t, t->classes[i].name, NULL);
  if (names) near = tk_nearest(name, names);
  if (near) tty_fail("%s: nothing matched: no selected span has the name '%s' (--per); did you mean '%s'?", t->source, name, near);
  else tty_fail("%s: nothing matched: no selected span has the name '%s' (--per); patterns match whole names", t->source, name);
  free(names);
}

static void say_nothing(const struct params *p, struct tk_trace *t, const struct tk_tree_options *options) {
  if (p->per) say_no_calls(t, p->per);
  else if (p->every)
    tty_fail("%s: nothing matched: an iteration needs two events with the name '%s' (--every) on one thread", t->source, p->every);
  else if (p->layers && !select_is_asked(&options->select))
    tty_fail("%s: nothing matched: --layers needs scopes (an arg named 'tf_op', 'level 0' or 'name'), modules or annotations, and the "
             "trace has none", t->source);
  else if (p->path) tty_fail("%s: nothing matched: no selected span has the arg '%s' (--path)", t->source, options->path);
  else select_say_nothing(t, &options->select);
}

/* Returns the data that need not be loaded (tk_load_options.without). Flame graphs do not show device times, so they need neither flows
 * nor args. */
static uint8_t without_of(const struct params *p, const struct tk_tree_options *o) {
  const struct tk_top_options like = { .select = o->select, .by = o->has_by ? o->by : TK_TOP_NAME, .arg = o->arg };
  return (p->folded || p->speedscope || p->svg) && !o->path ? select_without(&p->selected.shared, &like) : 0;
}

static int tree_of(const struct params *p, struct tk_tree_options *options, const struct operands *in) {
  struct tk_tree_report *report = NULL;
  struct progress progress;
  struct tk_err err = { 0 };
  int status;
  struct shared shared = p->selected.shared;
  char every[MOST_PATTERN + sizeof "every:"];
  if (p->every) snprintf(every, sizeof every, "every:%s", p->every);
  if (p->every) shared.step_name = every;
  shared.without = without_of(p, options);
  struct tk_trace *t = run_load_operands(&shared, "tree", in, &status);
  if (!t) return status;
  progress_start(&progress, "adding up", NULL, p->selected.shared.quiet ? -1 : p->selected.shared.progress);
  progress.events = true;
  options->select.progress = run_ticker(&progress);
  bool ok = tk_tree(t, options, &report, &err);
  progress_end(&progress);
  const bool asked = p->per || p->path || p->every || p->layers || select_is_asked(&options->select);
  const bool nothing = ok && !report->n_nodes && asked && !p->selected.selection.allow_empty;
  if (!ok) status = run_fail_of(t->source, &err);
  else status = nothing ? STATUS_FINDING : print_tree(p, t, report);
  if (nothing && !p->selected.shared.quiet) say_nothing(p, t, options);
  tk_tree_report_free(report);
  tk_free(t);
  return status;
}

static bool read_level(const struct params *p, struct tk_tree_options *o) {
  o->has_by = p->by && strcmp(p->by, "name") != 0;
  if (!select_by("tree", p->by, &o->by, &o->arg)) return false;
  if (o->by != TK_TOP_KIND) return true;
  tty_say("tree: --by kind is not supported because an event can have several kinds; select one with --kind");
  return false;
}

/* Returns why the options cannot be used together; NULL if they can. */
static const char *conflict_of(const struct params *p) {
  const bool graph = p->folded || p->speedscope || p->svg;
  if (p->selected.shared.json + p->folded + p->speedscope + p->svg > 1)
    return "--json, --folded, --speedscope and --svg cannot be combined";
  if (p->every && (p->path || p->per)) return "--every, --path and --per cannot be combined";
  if (p->every && p->selected.shared.step_name) return "--every and --step-name cannot be combined";
  if (p->every && strlen(p->every) > MOST_PATTERN) return "--every: pattern is too long";
  if (p->layers && (p->path || p->per || p->every || graph))
    return "--layers cannot be combined with --path, --per, --every, --folded, --speedscope or --svg";
  if (p->path && p->per) return "--path and --per cannot be combined";
  return NULL;
}

/* Checks all options before reading any input. */
static int cmd_tree(const void *params, const struct operands *in) {
  const struct params *p = params;
  struct exprs e = select_expressions(&p->selected, "tree");
  const struct tk_selection select = { .where = (const char *const *)e.v,
                                       .time = p->selected.selection.time,
                                       .steps = p->selected.selection.step };
  const struct tk_filter_options asked = { .where = select.where, .time = select.time, .steps = select.steps };
  const char *path = p->path && select_is_arg(p->path) ? p->path + 4 : p->path, *conflict = conflict_of(p);
  struct tk_tree_options options = { .select = select, .per = p->per, .fold = p->fold, .path = path,
                                     .by_start = p->sort == BY_START, .per_step = p->every, .layers = p->layers,
                                     .levels = (uint32_t)p->levels };
  struct tk_err err = { 0 };
  int status = STATUS_USAGE;
  if (conflict) status = run_usage("tree", conflict);
  else if (e.failed && !e.wrong) tty_say("out of memory");
  else if (!e.wrong && read_level(p, &options)) status = tk_filter_check(&asked, &err) ? tree_of(p, &options, in) : run_fail(&err);
  select_free(&e);
  return status;
}

const struct command command_tree = {
  .name = "tree",
  .group = GROUP_ANALYSE,
  .summary = "show time as a call tree",
  .operands = "[INPUT...]",
  .description =
    "Shows a call tree: paths of nested names with the time spent in them. All spans with the same path form one line, "
    "whatever their thread, step or rank, unless --by separates them. A span that is not selected has no line, and its "
    "contents move up to its parent. Several inputs are read as one trace, as in merge.\n"
    "\n"
    "The column total is the sum of durations; %parent and %all are its shares of the parent line and of all outermost lines; "
    "mean is the mean duration of a span. Self is the time during which a span of the line was the innermost selected span of "
    "its thread. Device is the time during which an accelerator ran work launched inside the span, on any stream: kernels, "
    "copies and fills connected to a call by a correlation id or a flow. A note says how much of the devices' time has no "
    "line. With --per, times and counts are averages per call of that name. With --every, they are averages per iteration. An "
    "iteration lasts from one event with the name to the next on the same thread; events before the first iteration or after "
    "the last one are excluded. --step-name 'every:PATTERN' cuts steps for all other commands in the same way. A span that "
    "never ended is counted but has no duration; if a span crosses an edge of the time range, only the part inside counts. The "
    "widths in flame graphs are self times.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = ANY_NUMBER,
  .run = cmd_tree,
};
