/* split.c - tracekit split: splits a trace into several files. */
#include "commands.h"
#include "print/json.h"
#include "shared/run.h"
#include "print/tty.h"
#include "shared/write.h"

#include <string.h>

struct params {
  struct shared shared;
  int by;
  const char *every;
};

#define FIELD(field) offsetof(struct params, field)

enum { BY_NOTHING };

static const struct opt_word by_words[] = {
  { "step", TK_SPLIT_STEP + 1, "one file per training step" },
  { "rank", TK_SPLIT_RANK + 1, "one file per rank of a merged trace" },
  { "process", TK_SPLIT_PROCESS + 1, "one file per process that has events" },
  { "time", TK_SPLIT_TIME + 1, "files of equal length in time, set by --every" },
  { "size", TK_SPLIT_SIZE + 1, "files of at most the size set by --every" },
  { 0, 0, 0 },
};

static const struct opt opts[] = {
  { OPT_WORD, 0, "by", "WHAT", "how to split the trace", FIELD(by), by_words, 0, 0 },
  { OPT_STRING, 0, "every", "TIME|SIZE",
    "length of a part (--by time), or maximum size of a file (--by size)", FIELD(every), 0, 0, 0 },
  ROW_STEP_NAME,
  ROWS_WRITE,
  ROW_JSON,
  ROW_KEEP_GOING,
  ROWS_READ,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit split trace.json --by process -o 'part.{}.json.gz'", "write one file per process" },
  { "tracekit split trace.json --by time --every 100ms -o 'part.{}.json'", "write one file per 100 ms" },
  { 0, 0 },
};

static void print_split_text(FILE *to, const struct tk_split_report *r, bool dry_run) {
  char a[64], size[32];
  for (size_t i = 0; i < r->n_parts; i++) {
    const struct tk_split_part *p = &r->parts[i];
    fputs(dry_run ? "would write " : "wrote ", to);
    tty_string(to, p->output);
    tk_print_size(p->saved.bytes, size);
    fprintf(to, ": %s", tty_counted(p->saved.events, "event", a));
    if (!dry_run) fprintf(to, ", %s", size);
    if (p->clipped) fprintf(to, ", clipped %s", tty_count(p->clipped, a));
    if (p->broken_flows) fprintf(to, ", dropped %s to other parts", tty_counted(p->broken_flows, "flow", a));
    fputc('\n', to);
  }
}

static void print_split_json(FILE *to, const struct tk_trace *t, const struct tk_split_report *r, bool dry_run) {
  struct json j = { .to = to };
  json_open(&j, NULL, '{');
  json_string(&j, "input", t->source);
  json_bool(&j, "dry_run", dry_run);
  json_open(&j, "parts", '[');
  for (size_t i = 0; i < r->n_parts; i++) {
    json_open(&j, NULL, '{');
    json_string(&j, "output", r->parts[i].output);
    json_uint(&j, "written_events", r->parts[i].saved.events);
    json_uint(&j, "written_flow_points", r->parts[i].saved.flow_points);
    write_losses_json(&j, &r->parts[i].saved);
    json_uint(&j, "bytes", r->parts[i].saved.bytes);
    json_uint(&j, "clipped", r->parts[i].clipped);
    json_uint(&j, "broken_flows", r->parts[i].broken_flows);
    json_close(&j, '}');
  }
  json_close(&j, ']');
  json_close(&j, '}');
}

/* Reads the options into `o`. Returns an error message; NULL if the options are valid. */
static const char *read_options(const struct params *p, struct tk_split_options *o) {
  if (p->by == BY_NOTHING) return "missing --by: use step, rank, process, time or size";
  o->by = (enum tk_split_by)(p->by - 1);
  if (!p->shared.output) return "missing output; use -o 'part.{}.json.gz'";
  if (!strstr(p->shared.output, "{}")) return "-o needs {} as a placeholder for the name of the part: 'part.{}.json.gz'";
  bool by_time = o->by == TK_SPLIT_TIME, by_size = o->by == TK_SPLIT_SIZE;
  if (!p->every) return by_time || by_size ? "missing --every: the length or size of a part" : NULL;
  if (!by_time && !by_size) return "--every requires --by time or --by size";
  if (by_time && (!tk_parse_duration(p->every, &o->every) || o->every <= 0)) return "--every: invalid duration; expected a "
                                                                                    "duration such as 100ms";
  if (by_size && (!tk_parse_size(p->every, &o->bytes) || !o->bytes)) return "--every: invalid size; expected a size such as "
                                                                            "50MB";
  return NULL;
}

static int cmd_split(const void *params, const struct operands *in) {
  const struct params *p = params;
  const struct shared *s = &p->shared;
  struct progress progress;
  struct tk_split_options options = { .save = run_save_options(s, "tracekit split", &progress) };
  struct tk_split_report *report = NULL;
  struct tk_err err = { 0 };
  int status;
  const char *wrong = read_options(p, &options), *input = wrong ? NULL : run_input("split", in, &status);
  if (wrong) return run_usage("split", wrong);
  struct tk_trace *t = input && run_names_trace(s, s->output, &status) ? run_load(s, input, &status) : NULL;
  if (!t) return status;
  progress_start(&progress, "splitting", NULL, s->quiet ? -1 : s->progress);
  bool ok = tk_split(t, s->output, &options, &report, &err);
  progress_end(&progress);
  status = ok ? STATUS_DONE : run_fail(&err);
  for (size_t i = 0; ok && i < report->n_parts; i++) write_losses_of(s, t, report->parts[i].output, &report->parts[i].saved);
  if (ok && s->json) print_split_json(stdout, t, report, s->dry_run);
  else if (ok && !s->quiet) print_split_text(stdout, report, s->dry_run);
  tk_split_report_free(report);
  tk_free(t);
  return status;
}

const struct command command_split = {
  .name = "split",
  .group = GROUP_CUT,
  .summary = "split a trace into several files",
  .operands = "[INPUT]",
  .description =
    "Splits a trace into several files: one file per training step, rank or process, one file per time interval, or as many "
    "files as needed to keep each within a size. {} in the output name is replaced by the step, the rank, the name of the "
    "process or the number of the part. If two processes have the same name, a number is prepended. Parts in time are cut as "
    "with filter --time.\n"
    "\n"
    "Either all files are written or none: files get their names, and replace existing ones, only when all parts are complete.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = 1,
  .run = cmd_split,
};
