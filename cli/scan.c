/* scan.c - tracekit scan: summarises ranks in a small file, from which plan compares their clocks. */
#include "commands.h"
#include "print/json.h"
#include "shared/progress.h"
#include "shared/run.h"
#include "print/tty.h"

struct params {
  struct shared shared;
  const char *anchor, *input;
  bool join;
};

#define FIELD(field) offsetof(struct params, field)

static const struct opt opts[] = {
  ROW_OUTPUT,
  { OPT_FLAG, 0, "join", 0, "the inputs are scans; join them into one", FIELD(join), 0, 0, 0 },
  { OPT_STRING, 0, "anchor", "REGEX", "also treat spans with this name as collectives, as in merge", FIELD(anchor), 0, 0, 0 },
  { OPT_STRING, 0, "input", "NAME", "name of the input in the scan, if it is read from a pipe or is a copy", FIELD(input),
    0, 0, 0 },
  ROW_STEP_NAME,
  ROW_FORCE,
  ROW_JSON,
  ROWS_READ,
  ROW_END
};

static const struct example examples[] = {
  { "tracekit scan rank0.json.gz -o rank0.scan", "summarise one rank for plan" },
  { "tracekit scan rank*.json.gz -o job.scan", "summarise all ranks in one file" },
  { "tracekit scan --join rank0.scan job.scan -o all.scan", "join two scans" },
  { 0, 0 },
};

static void print_text(FILE *to, const struct tk_scan_report *r, const char *output) {
  char a[64], b[64], c[64], others[64], size[32];
  tk_print_size(r->bytes, size);
  fputs("wrote ", to);
  tty_string(to, run_is_stdout(output) ? "to standard output" : output);
  fprintf(to, ": %s", tty_counted(r->ranks, "rank", a));
  if (r->others) fprintf(to, ", %s without a rank", tty_counted(r->others, "input", others));
  fprintf(to, ", %s, %s, %s\n", tty_counted(r->events, "event", b), tty_counted(r->anchors, "collective", c), size);
}

static void scan_print_json(FILE *to, const struct tk_scan_report *r, const char *output) {
  struct json j = { .to = to };
  json_open(&j, NULL, '{');
  json_string(&j, "output", output);
  json_uint(&j, "ranks", r->ranks);
  json_uint(&j, "others", r->others);
  json_uint(&j, "events", r->events);
  json_uint(&j, "collectives", r->anchors);
  json_uint(&j, "bytes", r->bytes);
  json_close(&j, '}');
}

static int cmd_scan(const void *params, const struct operands *in) {
  const struct params *p = params;
  struct progress progress;
  struct tk_err err = { 0 };
  struct tk_scan_report *report = NULL;
  const struct tk_source_options source = run_source_options(&p->shared, &progress);
  const struct tk_scan_options options = {
    .source = &source,
    .load = run_load_options(&p->shared, &progress),
    .save = run_save_options(&p->shared, "tracekit scan", &progress),
    .anchor = p->anchor,
    .join = p->join,
    .input = p->input,
  };
  int status;
  const char *output = run_output(&p->shared, "scan", in, &status);
  if (!output) return status;
  progress_start(&progress, "scanning", NULL, p->shared.quiet ? -1 : p->shared.progress);
  const bool ok = tk_scan(in->v, in->n, output, &options, &report, &err);
  progress_end(&progress);
  run_notes(&p->shared, NULL, report ? report->notes : NULL);
  if (!ok) status = run_fail(&err);
  else if (p->shared.json) status = (scan_print_json(run_report_to(&p->shared, output), report, output), STATUS_DONE);
  else if (!p->shared.quiet) status = (print_text(run_report_to(&p->shared, output), report, output), STATUS_DONE);
  else status = STATUS_DONE;
  tk_scan_report_free(report);
  return status;
}

const struct command command_scan = {
  .name = "scan",
  .group = GROUP_CLUSTER,
  .summary = "summarise one rank for plan",
  .operands = "INPUT...",
  .description =
    "Reads traces, each once and one at a time, and writes a summary of at most 64 KiB per rank: its identity, start, end and "
    "size, its collectives and steps, and the names with the most self time. plan needs only these summaries to compare the "
    "clocks of all ranks, so the traces of a large job can stay on the machines that recorded them.\n"
    "\n"
    "merge extracts the same data from its inputs and computes the same clock offsets. If a rank has more than 2,048 "
    "collectives, a subset is kept, the same one on every rank.\n"
    "\n"
    "Scans can be joined with cat or with --join. --join reads them and refuses damaged ones.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .min_operands = 1,
  .max_operands = ANY_NUMBER,
  .run = cmd_scan,
};
