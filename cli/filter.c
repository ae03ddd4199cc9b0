/* filter.c - tracekit filter: what matters of a trace, still a valid trace.
 *
 * Every plain option is an expression that somebody did not have to write: --min-dur 10us is "dur >= 10us".  So there is one
 * language, one place that understands it, and all that is asked for must hold. */
#include "commands.h"
#include "tty.h"
#include "write.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct params {
  struct shared shared;
  struct opt_list exprs, names, excludes, regexes, cats, pids, tids, ranks, hosts, devices, tracks, kinds, keep;
  struct opt_list keep_args, drop_args;
  const char *depth, *min_dur, *max_dur, *time, *step;
  bool no_python, drop_flows;
};

#define FIELD(field) offsetof(struct params, field)
#define ROW_LIST(name, arg, help, field) { OPT_LIST, 0, name, arg, help, FIELD(field), 0, 0, 0 }
#define ROW_TEXT(name, arg, help, field) { OPT_STRING, 0, name, arg, help, FIELD(field), 0, 0, 0 }

static const struct opt opts[] = {
  { OPT_LIST, 'e', "expr", "EXPR", "keep events for which this expression is true", FIELD(exprs), 0, 0, 0 },
  ROW_LIST("name", "GLOB", "keep events with this name; given several times: with any of the names", names),
  ROW_LIST("exclude", "GLOB", "remove events with this name", excludes),
  ROW_LIST("regex", "REGEX", "keep events whose name matches this regular expression (as Perl has them) anywhere", regexes),
  ROW_LIST("cat", "GLOB", "keep events of this category", cats),
  ROW_LIST("kind", "KIND",
    "keep events of this kind: kernel, memcpy, memset, transfer, collective, op, module, runtime, python, "
    "step, annotation, device, host, span, instant, counter or async",
           kinds),
  ROW_TEXT("depth", "A..B", "keep spans at this depth of nesting; 0 is outermost", depth),
  ROW_TEXT("min-dur", "TIME", "keep spans that last at least this long", min_dur),
  ROW_TEXT("max-dur", "TIME", "keep spans that last at most this long", max_dur),
  ROW_TEXT("time", "A..B",
    "keep a range of time: +2s..+5s after the start, -1s.. before the end, 10%..20%, 1500us..3ms as the file prints "
    "times, or UTC",
           time),
  ROW_TEXT("step", "N..M", "keep the range of time of these training steps", step),
  ROW_LIST("pid", "N..M", "keep processes with this pid, or with a pid in this range", pids),
  ROW_LIST("tid", "N..M", "keep threads with this tid, or with a tid in this range", tids),
  ROW_LIST("rank", "N..M", "keep the ranks of a merged trace in this range", ranks),
  ROW_LIST("host", "GLOB", "keep hosts with this name", hosts),
  ROW_LIST("device", "N..M", "keep accelerators with a number in this range", devices),
  ROW_LIST("track", "GLOB", "keep threads, counters and processes with this name", tracks),
  ROW_LIST("keep", "WHAT",
    "keep also the parents or children of the events that pass, or the events that flows join to them (flows)", keep),
  ROW_LIST("drop-args", "GLOB", "remove args with this key", drop_args),
  ROW_LIST("keep-args", "GLOB", "remove args with any other key", keep_args),
  { OPT_FLAG, 0, "drop-flows", 0, "remove all flows", FIELD(drop_flows), 0, 0, 0 },
  { OPT_FLAG, 0, "no-python", 0, "remove frames of the Python interpreter", FIELD(no_python), 0, 0, 0 },
  ROWS_WRITE,
  ROW_JSON,
  ROWS_READ,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit filter trace.json --min-dur 100us -o long.json.gz", "keep spans of at least 100 us" },
  { "tracekit filter trace.json --name '*kernel*' --keep parents --keep flows -o kernels.json",
    "keep events by name, with their parents and the events that flows join to them" },
  { "tracekit filter trace.json -e 'dur > 1ms && (depth <= 2 || kind == collective)' -o big.json",
    "keep events by an expression" },
  { "tracekit filter trace.json --time 25%..50% --no-python -o quarter.pftrace", "keep the second quarter of the time" },
  { 0, 0 },
};

/* ---- options to expressions ---- */

struct exprs {
  char **v;
  size_t n;
  bool failed; /* out of memory */
  bool wrong;  /* said already */
};

static void add_expr(struct exprs *e, char *text) {
  char **v = text ? realloc(e->v, (e->n + 2) * sizeof *v) : NULL;
  if (!v) {
    free(text);
    e->failed = true;
    return;
  }
  e->v = v;
  v[e->n++] = text;
  v[e->n] = NULL;
}

static void append(char **text, const char *more) {
  size_t n = *text ? strlen(*text) : 0, m = strlen(more);
  char *longer = realloc(*text, n + m + 1);
  if (!longer) return;
  memcpy(longer + n, more, m + 1);
  *text = longer;
}

static void append_quoted(char **text, const char *value) {
  char c[3] = { 0 };
  append(text, "\"");
  for (; *value; value++) {
    bool escape = *value == '"' || (*value == '\\' && (value[1] == '"' || value[1] == '\\' || !value[1]));
    c[0] = escape ? '\\' : *value;
    c[1] = escape ? *value : 0;
    append(text, c);
  }
  append(text, "\"");
}

/* symbol op "a" || symbol op "b" */
static void any_of(struct exprs *e, const char *symbol_op, const struct opt_list *list) {
  char *text = NULL;
  for (size_t i = 0; i < list->n; i++) {
    if (i) append(&text, " || ");
    append(&text, symbol_op);
    append_quoted(&text, list->v[i]);
  }
  if (list->n) add_expr(e, text);
}

static void none_of(struct exprs *e, const char *symbol_op, const struct opt_list *list) {
  for (size_t i = 0; i < list->n; i++) {
    char *text = NULL;
    append(&text, "!");
    append(&text, symbol_op);
    append_quoted(&text, list->v[i]);
    add_expr(e, text);
  }
}

/* A whole number that is written as such: what looks otherwise ("007") can only be text. */
static bool parse_number(const char *text, size_t n, long long *value) {
  char copy[24], again[24];
  if (n == 0 || n >= sizeof copy) return false;
  memcpy(copy, text, n);
  copy[n] = 0;
  *value = strtoll(copy, NULL, 10);
  snprintf(again, sizeof again, "%lld", *value);
  return !strcmp(copy, again);
}

static void append_test(char **text, const char *symbol, const char *op, long long value) {
  char test[96];
  snprintf(test, sizeof test, "%s %s %lld", symbol, op, value);
  append(text, test);
}

/* "3..5", "3.." or "..5": symbol >= 3 && symbol <= 5. */
static bool append_bounds(char **text, const char *symbol, const char *range, const char *dots) {
  long long low = LLONG_MIN, high = LLONG_MAX;
  bool has_low = dots != range, has_high = dots[2];
  if (has_low && !parse_number(range, (size_t)(dots - range), &low)) return false;
  if (has_high && !parse_number(dots + 2, strlen(dots + 2), &high)) return false;
  if ((!has_low && !has_high) || low > high) return false;
  append(text, "(");
  if (has_low) append_test(text, symbol, ">=", low);
  if (has_low && has_high) append(text, " && ");
  if (has_high) append_test(text, symbol, "<=", high);
  append(text, ")");
  return true;
}

/* A range, a number or, of an id, text. */
static bool append_range(char **text, const char *symbol, const char *range, bool is_id) {
  const char *dots = strstr(range, "..");
  long long value;
  if (dots) return append_bounds(text, symbol, range, dots);
  if (parse_number(range, strlen(range), &value)) return append_test(text, symbol, "==", value), true;
  if (!is_id || !*range) return false;
  append(text, symbol);
  append(text, " == ");
  append_quoted(text, range);
  return true;
}

static void any_range(struct exprs *e, const char *symbol, const struct opt_list *list, bool is_id) {
  char *text = NULL;
  for (size_t i = 0; i < list->n; i++) {
    if (i) append(&text, " || ");
    if (append_range(&text, symbol, list->v[i], is_id)) continue;
    tty_say("filter: --%s: '%s' is not N, N..M, N.. or ..M%s", symbol, list->v[i], is_id ? ", nor a name" : "");
    e->wrong = true;
  }
  if (list->n) add_expr(e, text);
}

static void one_range(struct exprs *e, const char *symbol, const char *range) {
  struct opt_list list = { &range, 1 };
  if (range) any_range(e, symbol, &list, false);
}

/* The option is called as `word`-dur. */
static void one_limit(struct exprs *e, const char *word, const char *op, const char *value) {
  char *text = NULL;
  tk_time ps;
  if (!value) return;
  if (!tk_parse_duration(value, &ps)) {
    tty_say("filter: --%s-dur: '%s' is not a duration such as 1.5ms, 20us or 3s", word, value);
    e->wrong = true;
    return;
  }
  append_test(&text, "dur", op, ps);
  append(&text, "ps");
  add_expr(e, text);
}

static void as_given(struct exprs *e, const char *expr) {
  char *text = NULL;
  append(&text, expr);
  add_expr(e, text);
}

static struct exprs expressions(const struct params *p) {
  struct exprs e = { 0 };
  for (size_t i = 0; i < p->exprs.n; i++) as_given(&e, p->exprs.v[i]);
  any_of(&e, "name ~ ", &p->names);
  any_of(&e, "name =~ ", &p->regexes);
  none_of(&e, "name ~ ", &p->excludes);
  any_of(&e, "cat ~ ", &p->cats);
  any_of(&e, "kind == ", &p->kinds);
  any_of(&e, "host ~ ", &p->hosts);
  any_of(&e, "track ~ ", &p->tracks);
  any_range(&e, "pid", &p->pids, true);
  any_range(&e, "tid", &p->tids, true);
  any_range(&e, "rank", &p->ranks, false);
  any_range(&e, "device", &p->devices, false);
  one_range(&e, "depth", p->depth);
  one_limit(&e, "min", ">=", p->min_dur);
  one_limit(&e, "max", "<=", p->max_dur);
  if (p->no_python) as_given(&e, "kind != python");
  return e;
}

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
    else return tty_say("filter: --keep: unknown word '%s'; did you mean '%s'?", word, near ? near : "parents"), false;
  }
  return true;
}

static int filter(const struct params *p, struct tk_filter_options *options, const struct operands *in) {
  struct tk_filter_report done = { 0 };
  struct progress progress;
  struct report more = { report_json, report_text, &done };
  struct tk_err err = { 0 };
  int status;
  const char *input = run_input("filter", in, &status);
  const char *output = input ? run_trace_output(&p->shared, "filter", in, &status) : NULL;
  struct tk_trace *t = output ? run_load(&p->shared, input, &status) : NULL;
  if (!t) return status;
  progress_start(&progress, "filtering", -1);
  options->progress = run_ticker(&progress);
  if (tk_filter(t, options, &done, &err)) status = write_trace(&p->shared, "filter", t, output, &more);
  else status = run_fail(&err);
  tk_free(t);
  return status;
}

/* What is asked for is understood before anything is read. */
static int cmd_filter(const void *params, const struct operands *in) {
  const struct params *p = params;
  struct exprs e = expressions(p);
  struct tk_filter_options options = { .where = (const char *const *)e.v,
                                       .time = p->time,
                                       .steps = p->step,
                                       .keep_args = (const char *const *)p->keep_args.v,
                                       .drop_args = (const char *const *)p->drop_args.v,
                                       .drop_flows = p->drop_flows };
  struct tk_err err = { 0 };
  int status = STATUS_USAGE;
  if (e.failed && !e.wrong) tty_say("out of memory");
  else if (!e.wrong && read_keep(p, &options)) status = tk_filter_check(&options, &err) ? filter(p, &options, in) : run_fail(&err);
  for (size_t i = 0; i < e.n; i++) free(e.v[i]);
  free(e.v);
  return status;
}

const struct command command_filter = {
  .name = "filter",
  .summary = "keep the events that matter, as a valid trace",
  .operands = "[INPUT]",
  .description =
    "Keeps the events that pass all tests that the options make, and writes them as convert does. All tests are made on the "
    "trace as it was read. The output is a valid trace: children of a removed span move up one depth, a span that crosses "
    "an edge of the time range is clipped and gets the arg tracekit.clipped, a counter keeps the value that it has at the "
    "start of the range, a flow of which one end is removed is removed, and a track without events is removed with its "
    "metadata.\n\n"
    "An expression (-e) consists of tests joined by && || ! and parentheses. A test is SYMBOL OP VALUE, where OP is == != < "
    "<= > >=, =~ or !~ (regular expression as Perl has them, anywhere) or ~ (glob). A symbol alone tests that the event has it. The "
    "symbols are name cat ts dur end self depth pid tid rank host process thread track kind step stream device arg.KEY. Times need "
    "a unit (10us); ts and end count from the first event. A test of what an event does not have is false: a counter sample "
    "has no dur and no depth. docs/filter.md has the whole language.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = 1,
  .run = cmd_filter,
};
