/* apply.c - tracekit apply: writes one rank of a planned merge as a part file. */
#include "commands.h"
#include "print/json.h"
#include "shared/progress.h"
#include "shared/run.h"
#include "print/tty.h"
#include "shared/write.h"

struct params {
  struct shared shared;
  const char *input;
  struct opt_number rank;
};

#define FIELD(field) offsetof(struct params, field)

static const struct opt opts[] = {
  ROW_OUTPUT,
  { OPT_STRING, 0, "input", "NAME", "name of the input in the plan (default: the name of the file)", FIELD(input), 0, 0, 0 },
  { OPT_NUMBER, 0, "rank", "N", "number of the rank in the plan; needed for a file that contains several ranks", FIELD(rank), 0, 0, 0 },
  ROW_FORCE,
  ROW_JSON,
  ROWS_READ,
  ROW_END
};

static const struct example examples[] = {
  { "tracekit apply plan.json rank0.json.gz -o rank0.part", "write the part of rank 0" },
  { "tracekit apply plan.json rank1.json.gz --rank 1 -o rank1.part", "select the rank by its number in the plan" },
  { 0, 0 },
};

static void print_text(FILE *to, const struct tk_merge_report *r, const char *output) {
  char a[64], b[64], c[64], size[32];
  const struct tk_merge_rank *rank = &r->ranks[0];
  tk_print_size(r->saved.bytes, size);
  fputs("wrote ", to);
  tty_string(to, run_is_stdout(output) ? "to standard output" : output);
  fprintf(to, ": rank %lld, %s, %s", (long long)rank->rank, tty_counted(r->saved.records, "record", a),
          tty_counted(r->saved.events, "event", b));
  write_derived(to, &r->saved);
  fprintf(to, ", %s, %s\n", tty_counted(r->saved.flow_points, "flow point", c), size);
}

static void apply_print_json(FILE *to, const struct tk_merge_report *r, const char *output) {
  struct json j = { .to = to };
  json_open(&j, NULL, '{');
  json_string(&j, "output", output);
  json_string(&j, "input", r->ranks[0].input);
  json_int(&j, "rank", r->ranks[0].rank);
  json_string(&j, "host", r->ranks[0].host);
  json_uint(&j, "written_records", r->saved.records);
  json_uint(&j, "written_events", r->saved.events);
  json_uint(&j, "written_flow_points", r->saved.flow_points);
  write_losses_json(&j, &r->saved);
  json_uint(&j, "bytes", r->saved.bytes);
  json_close(&j, '}');
}

static int print_report(const struct params *p, const struct tk_merge_report *r, const char *output) {
  FILE *to = run_report_to(&p->shared, output);
  run_notes(&p->shared, NULL, r->notes);
  write_losses(&p->shared, output, &r->saved);
  if (p->shared.json) apply_print_json(to, r, output);
  else if (!p->shared.quiet) print_text(to, r, output);
  return STATUS_DONE;
}

static int cmd_apply(const void *params, const struct operands *in) {
  const struct params *p = params;
  struct progress progress;
  struct tk_err err = { 0 };
  struct tk_merge_report *report = NULL;
  const struct tk_source_options source = run_source_options(&p->shared, &progress);
  const struct tk_apply_options options = {
    .source = &source,
    .load = run_load_options(&p->shared, &progress),
    .save = run_save_options(&p->shared, "tracekit apply", &progress),
    .input = p->input,
    .rank = p->rank.given ? &p->rank.value : NULL,
  };
  int status;
  const char *output = run_output(&p->shared, "apply", in, &status);
  if (!output) return status;
  progress_start(&progress, "reading", NULL, p->shared.quiet ? -1 : p->shared.progress);
  const bool ok = tk_apply(in->v[0], in->v[1], output, &options, &report, &err);
  progress_end(&progress);
  status = ok ? print_report(p, report, output) : run_fail(&err);
  tk_merge_report_free(report);
  return status;
}

const struct command command_apply = {
  .name = "apply",
  .group = GROUP_CLUSTER,
  .summary = "write one rank of a planned merge",
  .operands = "PLAN RANK",
  .description =
    "Writes one rank exactly as merge would write it among all ranks of the plan (see plan): on the common timeline, with the "
    "same pids, ids and names. The result is a part of the merged file, with the data that concat needs; only concat can read "
    "it. The other ranks are not needed, so ranks can be written in parallel on the machines that store them.\n"
    "\n"
    "The input is matched to the plan by its full name, or else by its file name, or else by the rank that it states. A file "
    "that contains several ranks, such as the report of a node, becomes one part for each --rank. Writing the same rank again "
    "gives the same bytes.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .min_operands = 2,
  .max_operands = 2,
  .run = cmd_apply,
};
