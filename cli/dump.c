/* dump.c - tracekit dump: prints the events of a trace, one per line, or the event graph as canonical text for diff(1) and
 * tests. */
#include "commands.h"
#include "print/listing.h"
#include "shared/select.h"
#include "print/tty.h"

#include <stdlib.h>
#include <string.h>

/* Values of --cols: columns of the table of events (tracekit_arrow.h) that are not printed by default. */
#define COLUMNS "phase, op, module, step, rank, host, device, id, parent"

struct params {
  struct selected selected;
  struct opt_list cols;
  int head;
  bool jsonl, csv, graph;
};

#define FIELD(field) offsetof(struct params, field)

static const struct opt opts[] = {
  { OPT_INT, 0, "head", "N", "print only the first N events", FIELD(head), 0, 1, 2147483647 },
  { OPT_FLAG, 0, "jsonl", 0, "print a JSON object per event, including its args", FIELD(jsonl), 0, 0, 0 },
  { OPT_FLAG, 0, "csv", 0, "print the events as CSV", FIELD(csv), 0, 0, 0 },
  { OPT_LIST, 0, "cols", "COLUMN", "add a column: " COLUMNS " or arg.KEY", FIELD(cols), 0,
    0, 0 },
  { OPT_FLAG, 0, "graph", 0, "print the whole event graph in canonical order, with times in picoseconds",
    FIELD(graph), 0, 0, 0 },
  ROWS_SELECT,
  ROW_ALLOW_EMPTY,
  ROWS_READ,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit dump trace.json --head 20", "print the first 20 events" },
  { "tracekit dump trace.json --min-dur 5ms --depth ..2", "print a timeline of long outer spans" },
  { "tracekit dump trace.json --jsonl > events.jsonl", "print all events for use in a script" },
  { "tracekit dump trace.json --csv --cols phase --cols step", "print each event with its phase and its training step" },
  { "tracekit dump trace.json --graph", "print the event graph, one item per line" },
  { 0, 0 },
};

/* Ignores write errors, because every command reports a failed standard output at its end. */
static bool print(void *arg, const char *text, size_t n) {
  (void)arg;
  fwrite(text, 1, n, stdout);
  return true;
}

static bool is_column(const char *word) {
  const size_t n = strlen(word);
  for (const char *p = COLUMNS; *p; p += strspn(p, ", ")) {
    const size_t length = strcspn(p, ",");
    if (length == n && memcmp(p, word, n) == 0) return true;
    p += length;
  }
  return select_is_arg(word);
}

static bool are_columns(const struct opt_list *cols) {
  for (size_t i = 0; i < cols->n; i++) {
    if (is_column(cols->v[i])) continue;
    tty_say("dump: --cols: unknown column '%s'; expected " COLUMNS " or arg.KEY", cols->v[i]);
    return false;
  }
  return true;
}

static void print_list(const struct params *p, struct tk_trace *t, const uint8_t *selected, int *status) {
  const enum listing_form form = p->jsonl ? LISTING_JSONL : p->csv ? LISTING_CSV : LISTING_TABLE;
  const struct listing listing = { .form = form, .head = (size_t)p->head, .selected = selected };
  const char **names = calloc(p->cols.n + 1, sizeof *names);
  struct columns columns = { 0 };
  struct tk_err err = { 0 };
  for (size_t i = 0; names && i < p->cols.n; i++) names[i] = p->cols.v[i];
  const bool read = names && (!p->cols.n || columns_read(&columns, t, names, &err));
  const bool ok = read && listing_print(stdout, t, &listing, &columns);
  if (names && !read) *status = run_fail(&err);
  else if (!ok) *status = run_no_memory();
  columns_free(&columns);
  free(names);
}

static bool is_any(const struct tk_trace *t, const uint8_t *selected) { return memchr(selected, 1, (size_t)t->n_events + 1) != NULL; }

/* Prints the selected events. Sets *status to STATUS_FINDING if none is selected, unless --allow-empty is given. */
static void print_selected(const struct params *p, struct tk_trace *t, const struct tk_selection *select, int *status) {
  const struct selected *asked = &p->selected;
  uint8_t *selected = calloc((size_t)t->n_events + 1, 1);
  struct tk_err err = { 0 };
  if (!selected) *status = run_no_memory();
  else if (!tk_selected(t, select, selected, &err)) *status = run_fail_of(t->source, &err);
  else if (asked->selection.allow_empty || is_any(t, selected)) print_list(p, t, selected, status);
  else {
    *status = STATUS_FINDING;
    if (!asked->shared.quiet) select_say_nothing(t, select);
  }
  free(selected);
}

static int dump_one(const struct params *p, const struct tk_selection *select, struct tk_sources *sources, size_t i) {
  int status = STATUS_DONE;
  struct tk_trace *t = run_load_input(&p->selected.shared, sources, i, &status);
  if (!t) return status;
  if (!p->graph && select_is_asked(select)) print_selected(p, t, select, &status);
  else if (!p->graph) print_list(p, t, NULL, &status);
  else if (!tk_dump_to(t, print, NULL)) status = run_no_memory();
  tk_free(t);
  return status;
}

static int dump_all(const struct params *p, const struct tk_selection *select, const struct operands *in) {
  int worst = STATUS_DONE;
  struct tk_sources *sources = run_sources(&p->selected.shared, "dump", in, &worst);
  for (size_t i = 0; sources && i < sources->n && worst < STATUS_SIGNALLED; i++) {
    int status = dump_one(p, select, sources, i);
    if (status > worst) worst = status;
  }
  tk_sources_close(sources);
  return worst;
}

static int check_forms(const struct params *p, const struct tk_selection *select) {
  if (p->jsonl + p->csv + p->graph > 1) return run_usage("dump", "--jsonl, --csv and --graph cannot be combined");
  if (p->graph && p->head) return run_usage("dump", "--head cannot be combined with --graph");
  if (p->graph && p->cols.n) return run_usage("dump", "--cols cannot be combined with --graph");
  if (p->graph && select_is_asked(select))
    return run_usage("dump", "--graph prints the whole trace; to select events, use tracekit filter first");
  return are_columns(&p->cols) ? STATUS_DONE : STATUS_USAGE;
}

static int cmd_dump(const void *params, const struct operands *in) {
  const struct params *p = params;
  struct exprs e = select_expressions(&p->selected, "dump");
  const struct tk_selection select = { .where = (const char *const *)e.v, .time = p->selected.selection.time,
                                       .steps = p->selected.selection.step };
  const struct tk_filter_options asked = { .where = select.where, .time = select.time, .steps = select.steps };
  struct tk_err err = { 0 };
  int status = e.wrong ? STATUS_USAGE : e.failed ? run_no_memory() : check_forms(p, &select);
  if (status == STATUS_DONE) status = tk_filter_check(&asked, &err) ? dump_all(p, &select, in) : run_fail(&err);
  select_free(&e);
  return status;
}

const struct command command_dump = {
  .name = "dump",
  .group = GROUP_INSPECT,
  .summary = "print the events of a trace as text, JSON lines or CSV",
  .operands = "[INPUT]",
  .description =
    "Prints the events of a trace sorted by time, one per line: start (milliseconds since the first event), duration, name, "
    "indented by depth, process and thread. --jsonl and --csv print the same for programs, with exact times; --jsonl includes "
    "args. --cols adds a column, such as the phase to which an event belongs, or an arg. The options that select events work "
    "as in filter; times and depths remain those of the whole trace.\n"
    "\n"
    "--graph prints the event graph as it was read: tracks, events with their depth and args, flows, records, metadata and "
    "notes, in canonical order. Two traces with the same meaning print the same text. The text is meant for people and for "
    "diff: no command reads it, and it may change between versions.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = 1,
  .run = cmd_dump,
};
