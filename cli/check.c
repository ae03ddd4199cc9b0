/* check.c - tracekit check: tests that a trace needs no repair, that its graph satisfies the invariants, and that the
 * assertions about the run hold. */
#include "shared/annotate.h"
#include "commands.h"
#include "shared/expect.h"
#include "shared/run.h"
#include "shared/thresholds.h"
#include "print/tty.h"

#include <stdlib.h>

struct params {
  struct shared shared;
  struct opt_list asserts;
  int annotations;
  const char *thresholds;
};

#define FIELD(field) offsetof(struct params, field)

static const struct opt opts[] = {
  { OPT_LIST, 0, "assert", "EXPR",
    "fail unless this holds for each input, such as 'gpu_busy > 80%', 'p95(step) < 150ms', 'count(cudaMalloc) == 0'", FIELD(asserts),
    0, 0, 0 },
  { OPT_WORD, 0, "annotations", "FORM", "print the findings in the format of a CI service", FIELD(annotations),
    annotate_words, 0, 0 },
  ROW_THRESHOLDS(struct params, thresholds),
  ROW_STEP_NAME,
  ROWS_READ,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit check trace.json.gz", "validate a trace; the exit status is 0 if it needs no repair" },
  { "tracekit check -q rank0.json.gz rank1.json.gz", "set only the exit status, for a script" },
  { "tracekit check trace.json --assert 'findings < 5'", "fail if report has five findings or more" },
  { "tracekit check trace.json --assert 'operators with self time above 50 ms < 5'", "test a key figure of report" },
  { "tracekit check trace.json --assert 'count(train_step) < 100'", "also test an assertion about performance" },
  { 0, 0 },
};

struct check {
  const struct params *p;
  struct expect *expects;
  struct annotations_of found;
  bool quiet;
};

static bool was_repaired(const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_notes; i++)
    if (t->notes[i].kind == TK_NOTE_REPAIR) return true;
  return false;
}

static int check_soundness(struct check *c, const char *source, const struct tk_trace *t) {
  struct tk_err err = { 0 };
  int status = STATUS_DONE;
  if (!tk_check(t, &err)) {
    tty_fail("%s: %s", source, err.msg);
    status = err.code == TK_ELIMIT ? STATUS_INPUT : STATUS_FINDING;
  } else if (was_repaired(t)) {
    status = STATUS_FINDING;
  }
  annotate(&c->found, source, "needs no repair", status == STATUS_DONE ? "ok" : "faults", status != STATUS_DONE, false);
  return status;
}

/* Evaluates and prints an assertion. Returns STATUS_DONE if it holds, STATUS_FINDING if it fails, STATUS_INPUT if it cannot be
 * evaluated. */
static int check_assert(struct check *c, const struct expect *e, struct tk_trace *t, const struct tk_report *r) {
  static const char *const WORDS[] = { [EXPECT_HELD] = "holds", [EXPECT_FAILED] = "fails", [EXPECT_UNKNOWN] = "unknown" };
  char said[512] = "";
  const enum expect_result result = expect_ask(e, t, r, said, sizeof said);
  if (!c->quiet) {
    printf("  %-8s%s: ", WORDS[result], e->text);
    tty_string(stdout, said);
    putchar('\n');
  }
  if (result == EXPECT_UNKNOWN) tty_fail("%s: '%s': %s", t->source, e->text, said);
  annotate(&c->found, t->source, e->text, said, result == EXPECT_FAILED, result == EXPECT_UNKNOWN);
  return result == EXPECT_HELD ? STATUS_DONE : result == EXPECT_FAILED ? STATUS_FINDING : STATUS_INPUT;
}

/* Prints the verdict of an input. `asserted` is the worst status of its assertions; an unknown assertion is worse than a failed
 * one. */
static void say_verdict(const struct check *c, const char *source, int soundness, int asserted) {
  if (c->quiet || soundness == STATUS_INPUT) return;
  tty_string(stdout, source);
  fputs(soundness == STATUS_DONE ? asserted == STATUS_DONE ? ": ok" : ": needs no repair" : ": faults", stdout);
  if (asserted == STATUS_FINDING) fputs(", but an assertion fails", stdout);
  if (asserted == STATUS_INPUT) fputs(", but an assertion is unknown", stdout);
  putchar('\n');
}

static int check_asserts(struct check *c, struct tk_trace *t) {
  struct tk_report *report = NULL;
  struct tk_err err = { 0 };
  int worst = STATUS_DONE;
  if (c->p->asserts.n == 0) return STATUS_DONE;
  const struct tk_report_options options = { .size = sizeof options, .thresholds = c->p->thresholds };
  const bool ok = tk_report_trace(t, &options, &report, &err);
  if (!ok) worst = run_fail(&err);
  for (size_t i = 0; ok && i < c->p->asserts.n; i++) {
    int status = check_assert(c, &c->expects[i], t, report);
    if (status > worst) worst = status;
  }
  tk_report_free(report);
  return worst;
}

static int check_one(struct check *c, struct tk_sources *sources, size_t i) {
  const char *source = sources->inputs[i].name;
  struct shared with_facts = c->p->shared;
  int status = STATUS_DONE;
  with_facts.facts = true;
  struct tk_trace *t = run_load_input(&with_facts, sources, i, &status);
  if (!t) {
    annotate(&c->found, source, "can be read", "it cannot", false, true);
    return status;
  }
  status = check_soundness(c, source, t);
  const int asserted = status == STATUS_INPUT ? status : check_asserts(c, t);
  say_verdict(c, source, status, asserted);
  tk_free(t);
  return asserted > status ? asserted : status;
}

static int check_all(struct check *c, const struct operands *in) {
  int worst = STATUS_DONE;
  struct tk_sources *sources = run_sources(&c->p->shared, "check", in, &worst);
  for (size_t i = 0; sources && i < sources->n && worst < STATUS_SIGNALLED; i++) {
    int status = check_one(c, sources, i);
    if (status > worst) worst = status;
  }
  tk_sources_close(sources);
  annotate_end(&c->found);
  return worst;
}

/* Parses all assertions before reading any input. */
static int cmd_check(const void *params, const struct operands *in) {
  const struct params *p = params;
  struct check c = { .p = p, .expects = calloc(p->asserts.n + 1, sizeof *c.expects) };
  bool ok = c.expects != NULL;
  int status = STATUS_USAGE;
  c.found = (struct annotations_of){ .as = (enum annotations)p->annotations, .command = "check" };
  if (p->thresholds && !p->asserts.n) {
    tty_fail("check: --thresholds requires --assert");
    ok = false;
  }
  c.quiet = p->shared.quiet || p->annotations == ANNOTATE_JUNIT;
  for (size_t i = 0; c.expects && i < p->asserts.n; i++) ok = expect_parse(&c.expects[i], "check", p->asserts.v[i], false) && ok;
  if (!c.expects) status = run_no_memory();
  else if (ok) status = check_all(&c, in);
  for (size_t i = 0; c.expects && i < p->asserts.n; i++) expect_free(&c.expects[i]);
  free(c.expects);
  return status;
}

const struct command command_check = {
  .name = "check",
  .group = GROUP_INSPECT,
  .summary = "validate a trace, and test assertions about its performance",
  .operands = "INPUT...",
  .description =
    "Reads each input completely and reports whether it needed repairs. Each fault is printed on standard error with its "
    "number of occurrences and the byte offset of the first. Properties of the trace, such as spans that overlap or never end, "
    "are printed too but are not faults. The exit status is 0 if no input has a fault, 1 if one has, and 3 if one cannot be "
    "read as a trace.\n"
    "\n"
    "--assert tests the performance of the run as well. An assertion is WORD OP VALUE or FUNCTION(NAME) OP VALUE; OP is <, <=, "
    ">, >=, == or !=. WORD is a key of report --json without the unit at its end; the value has the unit instead: 'compute > "
    "50%', 'idle_host < 20ms', 'kernels < 5000'. The assertion must hold for every rank. WORD may also be the name of a key "
    "figure of report, such as 'device utilization > 80%' or 'peak memory < 90%'; the worst value of all devices is tested. "
    "Functions are total, self, union, count, mean, min, max, p50, p95, percent_of_range and percent_of_sum, applied to the "
    "events whose name matches a glob, as in top --json. The name step refers to training steps, which also have deviation and "
    "outliers. If an assertion does not hold, the exit status is 1. An assertion that cannot be evaluated (no device, no "
    "steps, no such event, unknown figure) never passes; the exit status is 3. The exception is count(), which is 0 for a "
    "missing event. If an assertion is invalid, the exit status is 2 and nothing is read.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .min_operands = 1,
  .max_operands = ANY_NUMBER,
  .run = cmd_check,
};
