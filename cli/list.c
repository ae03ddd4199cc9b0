/* list.c - tracekit list: lists the traces in run directories and archives, as a table or as JSON
 * (schemas/list.schema.json). */
#include "commands.h"
#include "print/fields.h"
#include "print/json.h"
#include "shared/run.h"
#include "print/table.h"
#include "print/tty.h"

#include <string.h>

struct params {
  struct shared shared;
  const char *step, *host;
  struct opt_number rank;
  bool deep, all;
};

static const struct opt opts[] = {
  { OPT_FLAG, 0, "deep", 0, "read the files completely: count events, measure the length, find damage",
    offsetof(struct params, deep), 0, 0, 0 },
  { OPT_FLAG, 'a', "all", 0, "also list files that are not traces", offsetof(struct params, all), 0, 0, 0 },
  { OPT_STRING, 0, "run", "RUN", "list only runs with this name or prefix", SHARED(run), 0, 0, 0 },
  { OPT_STRING, 0, "step-dir", "N", "list only runs in the folder step_N", SHARED(step_dir), 0, 0, 0 },
  { OPT_STRING, 0, "step", "N", "same as --step-dir", offsetof(struct params, step), 0, 0, 0 },
  { OPT_STRING, 0, "host", "HOST",
    "list only this host; '*' and '?' are wildcards", offsetof(struct params, host), 0, 0, 0 },
  { OPT_NUMBER, 0, "rank", "N", "list only this rank", offsetof(struct params, rank), 0, 0, 0 },
  ROW_JSON,
  ROW_NO_FETCH,
  ROW_NSYS,
  ROW_MAX_MEMORY,
  ROW_MAX_SIZE,
  ROW_THREADS,
  ROW_PROGRESS,
  ROW_QUIET,
  ROW_VERBOSE,
  ROW_END
};

static const struct example examples[] = {
  { "tracekit list logdir", "list runs and hosts, the newest run first" },
  { "tracekit list --deep logdir", "also show events, length and damage" },
  { "tracekit list --json traces.zip", "list an archive as JSON for use in a script" },
  { 0, 0 },
};

static const char *health_name(enum tk_health health) {
  switch (health) {
    case TK_HEALTH_OK: return "ok";
    case TK_HEALTH_EMPTY: return "empty";
    case TK_HEALTH_TRUNCATED: return "truncated";
    case TK_HEALTH_CORRUPT: return "corrupt";
    case TK_HEALTH_REPAIRED: return "repaired";
    case TK_HEALTH_CAPPED: return "capped";
    case TK_HEALTH_NO_TRACE: return "not a trace";
    default: return "";
  }
}

static bool is_shown(const struct params *p, const struct tk_listed *f) {
  return p->all || f->input.health != TK_HEALTH_NO_TRACE || f->input.best;
}

/* ---- table ---- */

static void list_header(struct table *t) {
  const char *const names[] = { "run", "step", "host", "rank", "format", "size", "events", "time", "health", "file" };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) table_cell(t, "%s", names[i]);
}

/* True if the health of any listed file is known. The other files are then shown as "unchecked", because an empty cell could be
 * read as "no problem". */
static bool any_health(const struct params *p, const struct tk_list_report *r) {
  for (size_t i = 0; i < r->n; i++)
    if (is_shown(p, &r->files[i]) && *health_name(r->files[i].input.health)) return true;
  return false;
}

static void list_row(struct table *t, const struct tk_listed *f, const char *unchecked) {
  const struct tk_input *in = &f->input;
  char size[32] = "", time[32] = "", count[32] = "";
  if (in->size != UINT64_MAX) tk_print_size(in->size, size);
  if (f->deep && f->events) tk_print_duration(f->end - f->start, time);
  table_cell(t, "%s", in->run);
  table_cell(t, "%s", in->step);
  table_cell(t, "%s", in->host);
  if (in->rank >= 0) table_cell(t, "%lld", (long long)in->rank);
  else table_cell(t, "%s", f->ranks ? f->ranks : "");
  table_cell(t, "%s", in->format ? in->format : "");
  table_cell(t, "%s", size);
  table_cell(t, "%s", f->deep ? tty_count(f->events, count) : "");
  table_cell(t, "%s", time);
  table_cell(t, "%s", in->health == TK_HEALTH_UNKNOWN ? unchecked : health_name(in->health));
  table_cell(t, "%s%s", in->name, in->best ? "" : " (not read)");
  if (in->health == TK_HEALTH_TRUNCATED || in->health == TK_HEALTH_CORRUPT) table_mark(t, TTY_BAD);
  else if (in->health == TK_HEALTH_EMPTY) table_mark(t, TTY_DOUBT);
}

/* Prints a line for each damaged file, with the number of events that can be recovered. */
static void print_faults(const struct params *p, const struct tk_list_report *r) {
  char events[32], bytes[32];
  for (size_t i = 0; i < r->n; i++) {
    const struct tk_listed *f = &r->files[i];
    if (!f->input.why || !is_shown(p, f)) continue;
    tty_string(stdout, f->input.name);
    fputs(": ", stdout);
    tty_string(stdout, f->input.why);
    if (f->deep) printf("; %s events in %s bytes can be recovered", tty_count(f->events, events), tty_count(f->bytes, bytes));
    putchar('\n');
  }
}

static bool print_list_text(const struct params *p, const struct tk_list_report *r) {
  struct table table = { .align = "lllrlrrrll", .width = p->shared.verbose ? 0 : tty_width(stdout), .squeezed = 10, .sparse = true };
  const char *const unchecked = any_health(p, r) ? "unchecked" : "";
  size_t others = 0;
  list_header(&table);
  for (size_t i = 0; i < r->n; i++) {
    if (is_shown(p, &r->files[i])) list_row(&table, &r->files[i], unchecked);
    else others++;
  }
  if (!table_print(&table, stdout)) return false;
  print_faults(p, r);
  if (others && !p->shared.quiet)
    printf("%zu other %s (-a lists all)\n", others, others == 1 ? "file is not a trace" : "files are not traces");
  return true;
}

/* ---- JSON ---- */

static void print_list_json(const struct params *p, const struct tk_list_report *r) {
  struct json j = { .to = stdout };
  json_open(&j, NULL, '{');
  json_open(&j, "files", '[');
  for (size_t i = 0; i < r->n; i++)
    if (is_shown(p, &r->files[i])) fields_object(&j, NULL, TK_ROW_LISTED, tk_row_at(r->files, TK_ROW_LISTED, i), NULL);
  json_close(&j, ']');
  json_close(&j, '}');
}

/* ---- the command ---- */

/* Reports sources that contain no file, and files that cannot be opened. Returns STATUS_INPUT if there are any. */
static int status_of(const struct tk_list_report *r) {
  int status = STATUS_DONE;
  for (size_t i = 0; i < r->n; i++) {
    const struct tk_input *in = &r->files[i].input;
    if (in->run_id != UINT32_MAX && !(in->health == TK_HEALTH_UNKNOWN && in->why)) continue;
    tty_say("%s: %s", in->name, in->why);
    status = STATUS_INPUT;
  }
  return status;
}

/* Returns STATUS_INPUT, with a message, if no trace matches a given run, step, host or rank: other commands also fail then. */
static int say_none(const struct tk_source_options *asked) {
  if (!asked->run && !asked->step && !asked->host && !asked->rank) return STATUS_DONE;
  tty_say("list: no trace has the given run, step, host and rank; without these options, list shows all");
  return STATUS_INPUT;
}

static int cmd_list(const void *params, const struct operands *in) {
  static const char *const here[] = { "." };
  const struct params *p = params;
  struct progress progress;
  struct tk_err err = { 0 };
  struct tk_list_report *report = NULL;
  struct tk_list_options options = { .load = run_load_options(&p->shared, &progress), .deep = p->deep };
  int status;
  bool ok;
  options.source = run_source_options(&p->shared, &progress);
  if (p->step) options.source.step = p->step;
  options.source.host = p->host;
  options.source.rank = p->rank.given ? &p->rank.value : NULL;
  options.source.all_runs = options.source.all_files = true;
  progress_start(&progress, "listing", NULL, p->shared.quiet ? -1 : p->shared.progress);
  ok = tk_list(in->n ? in->v : here, in->n ? in->n : 1, &options, &report, &err);
  progress_end(&progress);
  if (!ok) {
    status = run_fail(&err);
  } else {
    run_notes(&p->shared, NULL, report->notes);
    status = report->n ? status_of(report) : say_none(&options.source);
    if (p->shared.json) print_list_json(p, report);
    else if ((status == STATUS_DONE || report->n > 1) && !print_list_text(p, report)) status = STATUS_INPUT;
  }
  tk_list_report_free(report);
  return status;
}

const struct command command_list = {
  .name = "list",
  .group = GROUP_OPEN,
  .summary = "list the runs, hosts and files of a run directory or archive",
  .operands = "[SOURCE...]",
  .description =
    "Lists the traces in a run directory of JAX, TensorFlow or PyTorch, in any other folder, or in an archive, with run, host, "
    "rank, format and size; the newest run comes first. Traces are found at any depth; without SOURCE the current folder is "
    "searched. \"not read\" marks a file for which the other commands read a better file of the same session.\n"
    "\n"
    "Only the start of each file is read. The number of events, the length in time and damage require reading it completely, "
    "so these columns are shown only with --deep. Columns without any value are left out of the table. Empty "
    "files and files that are not traces are always recognised.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = ANY_NUMBER,
  .run = cmd_list,
};
