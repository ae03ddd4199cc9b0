/* convert.c - tracekit convert: one trace in, the same trace out in another format or compression. */
#include "commands.h"
#include "json.h"
#include "run.h"
#include "tty.h"

struct params {
  struct shared shared;
};

static const struct opt opts[] = { ROWS_WRITE, ROW_JSON, ROWS_READ, ROW_END };

static const struct example examples[] = {
  { "tracekit convert trace.json -o trace.json.gz", "compress" },
  { "tracekit convert trace.json.gz --pretty -o readable.json", "one event per line" },
  { "tracekit convert --dry-run -v trace.json -o other.json", "say what would be written" },
  { "gzip -dc trace.json.gz | tracekit convert --strict - > clean.json", "in a pipe; refuse what is damaged" },
  { 0, 0 },
};

static void print_text(FILE *to, const struct shared *s, const struct tk_trace *t, const struct tk_saved *done,
                       const char *output) {
  char a[32], b[32], c[32], size[32];
  fputs(s->dry_run ? "would write " : "wrote ", to);
  tty_string(to, run_is_stdout(output) ? "to standard output" : output);
  tk_print_size(done->bytes, size);
  fprintf(to, ": %s of %s records, %s events", tty_count(done->records, a), tty_count(t->counts.read, b),
          tty_count(done->events, c));
  if (t->counts.dropped) fprintf(to, ", %s dropped", tty_count(t->counts.dropped, a));
  if (!s->dry_run) fprintf(to, ", %s", size);
  fputc('\n', to);
}

static void print_json(FILE *to, const struct shared *s, const struct tk_trace *t, const struct tk_saved *done,
                       const char *output) {
  struct json j = { .to = to };
  json_open(&j, NULL, '{');
  json_string(&j, "input", t->source);
  json_string(&j, "output", output);
  json_bool(&j, "dry_run", s->dry_run);
  json_uint(&j, "read_records", t->counts.read);
  json_uint(&j, "written_records", done->records);
  json_uint(&j, "written_events", done->events);
  json_uint(&j, "written_flow_points", done->flows);
  json_uint(&j, "dropped", t->counts.dropped);
  json_uint(&j, "bytes", done->bytes);
  json_uint(&j, "raw_bytes", done->raw_bytes);
  json_close(&j, '}');
}

static int save(const struct shared *s, const struct tk_trace *t, const char *output) {
  struct tk_err err = { 0 };
  struct tk_saved done = { 0 };
  struct progress progress;
  struct tk_save_options options = run_save_options(s, "tracekit convert", &progress);
  FILE *to = run_report_to(s, output);
  bool ok;
  progress_start(&progress, output, s->quiet ? -1 : s->progress);
  ok = tk_save(t, output, &options, &done, &err);
  progress_end(&progress);
  if (!ok) return run_fail(&err);
  if (s->json) print_json(to, s, t, &done, output);
  else if (!s->quiet && (s->verbose || s->dry_run)) print_text(to, s, t, &done, output);
  return STATUS_DONE;
}

static int run(const void *params, const struct operands *in) {
  const struct shared *s = &((const struct params *)params)->shared;
  int status;
  const char *input = run_input("convert", in, &status);
  const char *output = input ? run_output(s, "convert", in, &status) : NULL;
  struct tk_trace *t;
  if (!output) return status;
  t = run_load(s, input, &status);
  if (!t) return status;
  status = save(s, t, output);
  tk_free(t);
  return status;
}

const struct command command_convert = {
  .name = "convert",
  .summary = "read a trace and write it in another format or compression",
  .operands = "[INPUT]",
  .description =
    "Reads one trace and writes it again. The input's format is found from its content, whatever it is called; the "
    "output's comes from -f, else from the extension of the output, and a further .gz compresses it. Without INPUT, or "
    "with '-', standard input is read; without -o, standard output is written if it is not a terminal.\n\n"
    "Nothing is left out silently: what had to be repaired is said on standard error, with how often and where. A damaged "
    "input keeps what can be saved of it, unless --strict is given.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = 1,
  .run = run,
};
