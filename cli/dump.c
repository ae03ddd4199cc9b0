/* dump.c - tracekit dump: the event graph as canonical text, for looking at it and for diff(1). */
#include "commands.h"
#include "run.h"
#include "tty.h"

struct params {
  struct shared shared;
};

static const struct opt opts[] = { ROWS_READ, ROW_END };

static const struct example examples[] = {
  { "tracekit dump trace.json", "print the event graph, one thing per line" },
  { 0, 0 },
};

/* Where the text cannot be written is said at the end, as for every command: it is no reason to stop here. */
static bool print(void *arg, const char *text, size_t n) {
  (void)arg;
  fwrite(text, 1, n, stdout);
  return true;
}

static int dump_one(const struct shared *s, struct tk_sources *sources, size_t i) {
  int status = STATUS_DONE;
  struct tk_trace *t = run_load_input(s, sources, i, &status);
  if (!t) return status;
  if (!tk_dump_to(t, print, NULL)) status = run_no_memory();
  tk_free(t);
  return status;
}

static int cmd_dump(const void *params, const struct operands *in) {
  const struct shared *s = &((const struct params *)params)->shared;
  int worst = STATUS_DONE;
  struct tk_sources *sources = run_sources(s, "dump", in, &worst);
  for (size_t i = 0; sources && i < sources->n && worst < STATUS_SIGNALLED; i++) {
    int status = dump_one(s, sources, i);
    if (status > worst) worst = status;
  }
  tk_sources_close(sources);
  return worst;
}

const struct command command_dump = {
  .name = "dump",
  .summary = "print the event graph of a trace as text",
  .operands = "[INPUT]",
  .description =
    "Prints the event graph that was read from a trace: tracks, events with their depth and args, flows, records, metadata "
    "and notes, in a canonical order. Two traces with the same meaning print the same text. The text is for people and for "
    "diff. No command reads it, and it may change between versions.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = 1,
  .run = cmd_dump,
};
