/* convert.c - tracekit convert: one trace in, the same trace out in another format or compression. */
#include "commands.h"
#include "run.h"
#include "write.h"

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

static int run(const void *params, const struct operands *in) {
  const struct shared *s = &((const struct params *)params)->shared;
  int status;
  const char *input = run_input("convert", in, &status);
  const char *output = input ? run_output(s, "convert", in, &status) : NULL;
  struct tk_trace *t;
  if (!output) return status;
  t = run_load(s, input, &status);
  if (!t) return status;
  status = write_trace(s, "convert", t, output, NULL);
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
