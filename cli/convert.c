/* convert.c - tracekit convert: converts a trace to another format or compression. */
#include "commands.h"
#include "redact.h"
#include "shared/run.h"
#include "shared/select.h"
#include "print/tty.h"
#include "shared/write.h"

struct params {
  struct shared shared;
};

#define ROW_SCOPES                                                                                                         \
  {                                                                                                                        \
    OPT_STRING, 0, "scopes", "arg.KEY", "add rows that show the scopes in the path of this arg, such as arg.tf_op",        \
        SHARED(scopes), 0, 0, 0                                                                                            \
  }

static const struct opt opts[] = { ROWS_WRITE, ROW_DERIVE, ROW_FOLD_GRAPHS, ROW_SCOPES, ROWS_REDACT, ROW_JSON, ROWS_READ, ROW_END };

static const struct example examples[] = {
  { "tracekit convert trace.json -o trace.json.gz", "compress a trace" },
  { "tracekit convert trace.json.gz --pretty -o readable.json", "write one event per line" },
  { "tracekit convert --dry-run -v trace.json -o other.json", "show what would be written without writing it" },
  { "gzip -dc trace.json.gz | tracekit convert --strict - > clean.json", "read from a pipe, and refuse a damaged trace" },
  { 0, 0 },
};

/* Adds tracks that show the paths in the arg named by --scopes. Fails with TK_ENOTHING if no event has a path in this arg. */
static bool add_scopes(const struct shared *s, struct tk_trace *t, struct tk_err *err) {
  uint64_t rows;
  if (!tk_scopes(t, s->scopes + 4, &rows, err)) return false;
  if (rows) return true;
  err->code = TK_ENOTHING;
  snprintf(err->msg, sizeof err->msg, "%.200s: nothing matched: no event has a path in its arg '%.200s' (--scopes)", t->source,
           s->scopes + 4);
  return false;
}

static bool convert_prepare(const struct shared *s, struct tk_trace *t, const char *output, struct redacting *r,
                            struct tk_err *err) {
  if (run_derives(s, output, t->format) && !tk_derive(t, NULL, err)) return false;
  if (s->fold_graphs && !tk_fold_graphs(t, NULL, err)) return false;
  if (s->scopes && !add_scopes(s, t, err)) return false;
  return !s->redact.asked || tk_redact(t, &r->options, &r->report, err);
}

static int convert_one(const struct shared *s, struct tk_sources *sources, const char *output, struct redacting *r) {
  int status = STATUS_DONE;
  struct tk_trace *t = run_load_input(s, sources, 0, &status);
  struct tk_err err = { 0 };
  struct report more = redact_report(r);
  if (t && !convert_prepare(s, t, output, r, &err)) status = run_fail(&err);
  else if (t) status = write_trace(s, "convert", t, output, s->redact.asked ? &more : NULL);
  tk_free(t);
  return status;
}

static void print_several(FILE *to, const struct shared *s, const struct tk_extracted *f) {
  struct json j = { .to = to };
  json_open(&j, NULL, '{');
  json_string(&j, "input", f->from);
  json_string(&j, "output", f->output);
  json_bool(&j, "dry_run", s->dry_run);
  json_uint(&j, "inputs", f->n_inputs);
  json_uint(&j, "written_records", f->written.records);
  json_uint(&j, "written_events", f->written.events);
  if (f->written.derived) json_uint(&j, "derived_events", f->written.derived);
  json_uint(&j, "written_flow_points", f->written.flow_points);
  if (s->redact.asked) redact_json(&j, &f->redacted);
  write_losses_json(&j, &f->written);
  json_uint(&j, "bytes", f->written.bytes);
  json_uint(&j, "raw_bytes", f->written.raw_bytes);
  json_close(&j, '}');
}

static void print_several_text(FILE *to, const struct shared *s, const struct tk_extracted *f) {
  char n[64], size[32];
  fputs(s->dry_run ? "would write " : "wrote ", to);
  tty_string(to, run_is_stdout(f->output) ? "to standard output" : f->output);
  fprintf(to, ": %s", tty_counted(f->written.events, "event", n));
  write_derived(to, &f->written);
  tk_print_size(f->written.bytes, size);
  if (!s->dry_run) fprintf(to, ", %s", size);
  if (f->n_inputs > 1) fprintf(to, ", from %zu traces on one timeline", f->n_inputs);
  fputc('\n', to);
}

/* Merges several hosts or ranks of a run into one timeline, as extract and merge do, and writes the result to `output`. */
static int convert_several(const struct shared *s, struct tk_sources *sources, const char *output, struct redacting *r) {
  struct tk_err err = { 0 };
  struct tk_extract_report *report = NULL;
  struct progress progress;
  struct tk_extract_options options = {
    .sources = sources,
    .load = run_load_options(s, &progress),
    .save = run_save_options(s, "tracekit convert", &progress),
    .output = output,
    .derive = s->derive > 0,
    .fold_graphs = s->fold_graphs,
    .redact = s->redact.asked ? &r->options : NULL,
  };
  int status;
  bool ok;
  progress_start(&progress, "converting", NULL, s->quiet ? -1 : s->progress);
  ok = tk_extract(NULL, 0, &options, &report, &err);
  progress_end(&progress);
  run_notes(s, NULL, report ? report->notes : NULL);
  status = ok ? STATUS_DONE : run_fail(&err);
  if (ok && report->files[0].n_failed) status = STATUS_INPUT;
  if (ok) write_losses(s, output, &report->files[0].written);
  if (ok && s->json) print_several(run_report_to(s, output), s, &report->files[0]);
  else if (ok && !s->quiet) print_several_text(run_report_to(s, output), s, &report->files[0]);
  tk_extract_report_free(report);
  return status;
}

static int cmd_convert(const void *params, const struct operands *in) {
  const struct shared *s = &((const struct params *)params)->shared;
  int status;
  const char *input = run_input("convert", in, &status);
  const bool folder = run_names_folder(s);
  const char *output = !input ? NULL : folder ? s->output : run_trace_output(s, "convert", in, &status);
  struct tk_sources *sources = output ? run_sources(s, "convert", in, &status) : NULL;
  struct redacting r;
  if (!sources) return status;
  if (s->scopes && (!select_is_arg(s->scopes) || sources->n > 1 || folder)) {
    status = run_usage("convert", select_is_arg(s->scopes) ? "--scopes accepts only one input and one "
                                                             "output" : "--scopes: expected arg.KEY");
    tk_sources_close(sources);
    return status;
  }
  if (redact_begin(s, "convert", in, &r, &status)) {
    status = sources->n > 1 || folder ? convert_several(s, sources, output, &r) : convert_one(s, sources, output, &r);
    status = redact_end(&r, output, status);
  }
  tk_sources_close(sources);
  return status;
}

const struct command command_convert = {
  .name = "convert",
  .group = GROUP_OPEN,
  .summary = "convert a trace to another format or compression",
  .operands = "[INPUT]",
  .description =
    "Reads one trace and writes it in another format or with another compression. The input format is detected from the "
    "content, whatever the file name. The output format is set by -f, or else by the extension of -o, or else by the input; an "
    "additional .gz or .zst compresses the output. Without INPUT, or with '-', the trace is read from standard input. Without "
    "-o it is written to standard output, unless that is a terminal.\n"
    "\n"
    "If the output ends in '/', it becomes a folder for xprof and TensorBoard, as in merge.\n"
    "\n"
    "Repairs of the input are reported on standard error, with their number and the byte offset of the first. Anything that "
    "the output format cannot represent is counted and reported. From a damaged input all recoverable events are kept, unless "
    "--strict is given.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = 1,
  .run = cmd_convert,
};
