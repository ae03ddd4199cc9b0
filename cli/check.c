/* check.c - tracekit check: is this a trace that needs no repair, and does the graph made of it hold its invariants? */
#include "commands.h"
#include "run.h"
#include "tty.h"

struct params {
  struct shared shared;
};

static const struct opt opts[] = { ROWS_READ, ROW_END };

static const struct example examples[] = {
  { "tracekit check trace.json.gz", "check a trace; the status is 0 if it is sound" },
  { "tracekit check -q rank0.json.gz rank1.json.gz", "set only the status, for a script" },
  { 0, 0 },
};

static bool was_repaired(const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_notes; i++)
    if (t->notes[i].kind == TK_NOTE_REPAIR) return true;
  return false;
}

static int check_one(const struct shared *s, struct tk_sources *sources, size_t i) {
  const char *source = sources->inputs[i].name;
  struct tk_err err = { 0 };
  int status = STATUS_DONE;
  struct tk_trace *t = run_load_input(s, sources, i, &status);
  if (!t) return status;
  if (!tk_check(t, &err)) {
    tty_say("%s: %s", source, err.msg);
    status = err.code == TK_ELIMIT ? STATUS_INPUT : STATUS_FINDING;
  } else if (was_repaired(t)) {
    status = STATUS_FINDING;
  }
  if (!s->quiet && status != STATUS_INPUT) {
    tty_string(stdout, source);
    puts(status == STATUS_DONE ? ": ok" : ": faults");
  }
  tk_free(t);
  return status;
}

static int cmd_check(const void *params, const struct operands *in) {
  struct shared with_facts = ((const struct params *)params)->shared, *s = &with_facts;
  int worst = STATUS_DONE;
  s->facts = true;
  struct tk_sources *sources = run_sources(s, "check", in, &worst);
  for (size_t i = 0; sources && i < sources->n && worst < STATUS_SIGNALLED; i++) {
    int status = check_one(s, sources, i);
    if (status > worst) worst = status;
  }
  tk_sources_close(sources);
  return worst;
}

const struct command command_check = {
  .name = "check",
  .summary = "say whether a trace is sound",
  .operands = "INPUT...",
  .description =
    "Reads each input in full and says whether it needed repair. Each fault is printed on standard error, with how often "
    "and at which byte it was found. Facts about the trace, such as spans that overlap or never end, are printed too; they "
    "are no faults. The exit status is 0 if no input has a fault, 1 if one has, and 3 if one cannot be read as a trace.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .min_operands = 1,
  .max_operands = ANY_NUMBER,
  .run = cmd_check,
};
