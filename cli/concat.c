/* concat.c - tracekit concat: joins the parts of all ranks into the merged trace. */
#include "commands.h"
#include "print/json.h"
#include "shared/progress.h"
#include "shared/run.h"
#include "print/tty.h"
#include "shared/write.h"

struct params {
  struct shared shared;
  bool keep_going;
};

#define FIELD(field) offsetof(struct params, field)

static const struct opt opts[] = {
  ROW_OUTPUT,
  { OPT_FLAG, 'k', "keep-going", 0, "leave out ranks without a part, and files that are not parts (the exit status is still 3)",
    FIELD(keep_going), 0, 0, 0 },
  ROW_FORCE,
  ROW_NO_LOSS,
  ROW_JSON,
  ROW_MAX_MEMORY,
  ROW_PROGRESS,
  ROW_QUIET,
  ROW_VERBOSE,
  ROW_END
};

static const struct example examples[] = {
  { "tracekit concat plan.json rank*.part -o merged.json.gz", "join the parts of all ranks" },
  { 0, 0 },
};

/* Reports the ranks that are missing from the output. Returns their number. */
static size_t say_missing(const struct tk_merge_report *r) {
  size_t n = 0;
  for (size_t i = 0; i < r->n_ranks; i++) {
    if (!r->ranks[i].failed) continue;
    tty_say("%s: left out: %s", r->ranks[i].input, r->ranks[i].failed);
    n++;
  }
  return n;
}

static void print_text(FILE *to, const struct tk_merge_report *r, size_t missing, const char *output) {
  char a[64], b[64], c[64], d[64], size[32];
  tk_print_size(r->saved.bytes, size);
  fputs("wrote ", to);
  tty_string(to, run_is_stdout(output) ? "to standard output" : output);
  fprintf(to, ": %s, %s, %s", tty_counted(r->n_ranks - r->n_skipped - missing, "rank", a), tty_counted(r->saved.records, "record", b),
          tty_counted(r->saved.events, "event", c));
  write_derived(to, &r->saved);
  fprintf(to, ", %s, %s\n", tty_counted(r->saved.flow_points, "flow point", d), size);
}

static void concat_print_json(FILE *to, const struct tk_merge_report *r, size_t missing, const char *output) {
  struct json j = { .to = to };
  json_open(&j, NULL, '{');
  json_string(&j, "output", output);
  json_uint(&j, "ranks", r->n_ranks - r->n_skipped - missing);
  json_open(&j, "missing", '[');
  for (size_t i = 0; i < r->n_ranks; i++)
    if (r->ranks[i].failed) json_string(&j, NULL, r->ranks[i].input);
  json_close(&j, ']');
  json_uint(&j, "written_records", r->saved.records);
  json_uint(&j, "written_events", r->saved.events);
  json_uint(&j, "written_flow_points", r->saved.flow_points);
  write_losses_json(&j, &r->saved);
  json_uint(&j, "bytes", r->saved.bytes);
  json_uint(&j, "raw_bytes", r->saved.raw_bytes);
  json_close(&j, '}');
}

static int print_report(const struct params *p, const struct tk_merge_report *r, const char *output) {
  FILE *to = run_report_to(&p->shared, output);
  const size_t missing = say_missing(r);
  write_losses(&p->shared, output, &r->saved);
  if (p->shared.json) concat_print_json(to, r, missing, output);
  else if (!p->shared.quiet) print_text(to, r, missing, output);
  return missing ? STATUS_INPUT : STATUS_DONE;
}

static int cmd_concat(const void *params, const struct operands *in) {
  const struct params *p = params;
  struct progress progress;
  struct tk_err err = { 0 };
  struct tk_merge_report *report = NULL;
  const struct tk_concat_options options = {
    .save = run_save_options(&p->shared, "tracekit concat", &progress),
    .max_memory = p->shared.max_memory,
    .keep_going = p->keep_going,
  };
  int status;
  const char *output = run_output(&p->shared, "concat", in, &status);
  if (!output) return status;
  progress_start(&progress, "joining", NULL, p->shared.quiet ? -1 : p->shared.progress);
  const bool ok = tk_concat(in->v[0], in->v + 1, output, &options, &report, &err);
  progress_end(&progress);
  run_notes(&p->shared, NULL, report ? report->notes : NULL);
  status = ok ? print_report(p, report, output) : run_fail(&err);
  tk_merge_report_free(report);
  return status;
}

const struct command command_concat = {
  .name = "concat",
  .group = GROUP_CLUSTER,
  .summary = "join the outputs of apply into one trace",
  .operands = "PLAN PART...",
  .description =
    "Joins the parts that apply wrote for the ranks of a plan, in any order. The result is the trace that merge would write "
    "from the same ranks with the same options: byte for byte, with the same build of tracekit. Parts are copied without "
    "decoding or recompressing them; a .gz output is a single gzip stream.\n"
    "\n"
    "Each part records its plan, rank, length and CRC. A part that is truncated, damaged or belongs to another plan is "
    "refused, and so is an output that lacks a rank of the plan. A duplicate part is ignored if it is identical.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .min_operands = 2,
  .max_operands = ANY_NUMBER,
  .run = cmd_concat,
};
