/* filter.c - tracekit filter: keeps selected events as a valid trace. */
#include "commands.h"
#include "shared/select.h"
#include "print/tty.h"
#include "shared/write.h"

#include <string.h>

struct params {
  struct selected selected;
  struct opt_list keep, keep_args, drop_args;
  bool drop_flows, allow_empty;
};

#define FIELD(field) offsetof(struct params, field)
#define ROW_LIST(name, arg, help, field) { OPT_LIST, 0, name, arg, help, FIELD(field), 0, 0, 0 }

static const struct opt_word keep_words[] = {
  { "parents", 0, "spans around selected events" },
  { "children", 0, "spans inside selected events" },
  { "flows", 0, "events connected by flows" }, { 0, 0, 0 },
};

static const struct opt opts[] = {
  ROWS_SELECT,
  { OPT_LIST, 0, "keep", "WHAT",
    "also keep parents or children (spans around or within selected events), or flows (events connected to them by flows)", FIELD(keep),
    keep_words, 0, 0 },
  ROW_LIST("drop-args", "GLOB", "remove args whose key matches", drop_args),
  ROW_LIST("keep-args", "GLOB", "remove args whose key does not match", keep_args),
  { OPT_FLAG, 0, "drop-flows", 0, "remove all flows", FIELD(drop_flows), 0, 0, 0 },
  { OPT_FLAG, 0, "allow-empty", 0, "write the output even if no event is selected (default: write nothing, exit with status 1)",
    FIELD(allow_empty), 0, 0, 0 },
  ROWS_WRITE,
  ROW_JSON,
  ROW_KEEP_GOING,
  ROWS_READ,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit filter trace.json --min-dur 100us -o long.json.gz", "keep spans of at least 100 us" },
  { "tracekit filter trace.json --name '*sort*' --keep parents --keep flows -o sorting.json",
    "keep events by name, with their parents and the events connected by flows" },
  { "tracekit filter trace.json -e 'dur > 1ms && (depth <= 2 || kind == collective)' -o big.json",
    "keep events by an expression" },
  { "tracekit filter trace.json --time 25%..50% --no-python -o quarter.pftrace", "keep the second quarter of the time" },
  { 0, 0 },
};

/* ---- the report ---- */

static void report_text(FILE *to, const void *arg) {
  const struct tk_filter_report *r = arg;
  char a[64], b[64];
  fprintf(to, "kept %s of %s", tty_count(r->events, a), tty_counted(r->events_before, "event", b));
  if (r->points_before) fprintf(to, ", %s of %s", tty_count(r->points, a), tty_counted(r->points_before, "flow point", b));
  if (r->clipped) fprintf(to, ", clipped %s", tty_count(r->clipped, a));
  if (r->broken_flows) fprintf(to, ", dropped %s that lost an end", tty_counted(r->broken_flows, "flow", a));
  if (r->records_dropped) fprintf(to, ", dropped %s", tty_counted(r->records_dropped, "other record", a));
  fputc('\n', to);
}

static void report_json(struct json *j, const void *arg) {
  const struct tk_filter_report *r = arg;
  json_uint(j, "events_before", r->events_before);
  json_uint(j, "events", r->events);
  json_uint(j, "flow_points_before", r->points_before);
  json_uint(j, "flow_points", r->points);
  json_uint(j, "clipped", r->clipped);
  json_uint(j, "broken_flows", r->broken_flows);
  json_uint(j, "records_dropped", r->records_dropped);
}

/* ---- the command ---- */

static bool read_keep(const struct params *p, struct tk_filter_options *o) {
  static const char *const words[] = { "parents", "children", "flows", NULL };
  for (size_t i = 0; i < p->keep.n; i++) {
    const char *word = p->keep.v[i], *near = tk_nearest(word, words);
    if (!strcmp(word, "parents")) o->keep_parents = true;
    else if (!strcmp(word, "children")) o->keep_children = true;
    else if (!strcmp(word, "flows")) o->keep_flows = true;
    else {
      tty_say("filter: --keep: unknown value '%s'; did you mean '%s'?", word, near ? near : "parents");
      return false;
    }
  }
  return true;
}

/* Explains --depth N, because most users who give a single depth mean all depths from 0 to N. */
static void say_depth(const struct params *p) {
  const char *depth = p->selected.selection.depth;
  if (p->selected.shared.quiet || !depth || !strcmp(depth, "0") || strstr(depth, "..")) return;
  tty_say("filter: --depth %s selects exactly this depth; use --depth ..%s for this depth and above", depth, depth);
}

static int filter(const struct params *p, struct tk_filter_options *options, const struct operands *in) {
  struct tk_filter_report done = { 0 };
  struct progress progress;
  struct report more = { report_json, report_text, &done };
  struct tk_err err = { 0 };
  int status;
  const char *input = run_input("filter", in, &status);
  const char *output = input ? run_trace_output(&p->selected.shared, "filter", in, &status) : NULL;
  struct tk_trace *t = output ? run_load(&p->selected.shared, input, &status) : NULL;
  if (!t) return status;
  progress_start(&progress, "filtering", t->source, p->selected.shared.quiet ? -1 : p->selected.shared.progress);
  progress.events = true;
  options->progress = run_ticker(&progress);
  bool ok = tk_filter(t, options, &done, &err);
  progress_end(&progress);
  if (ok) status = write_trace(&p->selected.shared, "filter", t, output, &more);
  else status = run_fail_of(t->source, &err);
  if (status == STATUS_DONE) say_depth(p);
  tk_free(t);
  return status;
}

/* True if the options select by time only, and change nothing else. */
static bool cuts_only(const struct params *p, const struct tk_filter_options *o) {
  const bool by_time = o->time && !o->steps && (!o->where || !*o->where);
  return by_time && !o->drop_flows && !p->keep.n && !p->keep_args.n && !p->drop_args.n;
}

/* Checks all options before reading the input. */
static int cmd_filter(const void *params, const struct operands *in) {
  struct params own = *(const struct params *)params, *const p = &own;
  struct exprs e = select_expressions(&p->selected, "filter");
  struct tk_filter_options options = { .where = (const char *const *)e.v,
                                       .time = p->selected.selection.time,
                                       .steps = p->selected.selection.step,
                                       .keep_args = (const char *const *)p->keep_args.v,
                                       .drop_args = (const char *const *)p->drop_args.v,
                                       .drop_flows = p->drop_flows,
                                       .refuse_empty = !p->allow_empty };
  struct tk_err err = { 0 };
  int status = STATUS_USAGE;
  if (cuts_only(p, &options)) own.selected.shared.cut = options.time;
  if (e.failed && !e.wrong) tty_say("out of memory");
  else if (!e.wrong && read_keep(p, &options)) status = tk_filter_check(&options, &err) ? filter(p, &options, in) : run_fail(&err);
  select_free(&e);
  return status;
}

const struct command command_filter = {
  .name = "filter",
  .group = GROUP_CUT,
  .summary = "keep the events you care about, as a valid trace",
  .operands = "[INPUT]",
  .description =
    "Keeps the events that pass all selecting options, and writes them as convert does. All tests refer to the trace as it was "
    "read. The output is a valid trace: children of a removed span move up one level; a span that crosses the edge of the time "
    "range is clipped and gets the arg tracekit.clipped; a counter keeps its value at the start of the range; a flow is "
    "removed if one of its ends is removed; a track without events is removed with its metadata. If no event is selected, "
    "nothing is written, a message explains why, and the exit status is 1, unless --allow-empty is given.\n"
    "\n"
    "An expression (-e) consists of tests joined by && || ! and parentheses. A test is SYMBOL OP VALUE; OP is == != < <= > >=, "
    "=~ or !~ (Perl-compatible regular expression, anywhere in the text) or ~ (glob). A symbol alone tests whether the event "
    "has this property. The symbols are name cat ts dur end self depth pid tid rank host process thread track kind step stream "
    "device arg.KEY. Times need a unit (10us); ts and end are relative to the first event. If the event lacks the property, as a "
    "counter sample lacks dur and depth, != and !~ are true and all other tests are false. docs/filter.md describes the whole "
    "language.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = 1,
  .run = cmd_filter,
};
