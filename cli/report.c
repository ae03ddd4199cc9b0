/* report.c - tracekit report: summarises where a run spent its time, as text, as JSON or as an HTML page. */
#include "report/findings.h"
#include "report/text.h"
#include "report/json.h"
#include "report/html.h"

#include "commands.h"
#include "shared/full_names.h"
#include "shared/select.h"
#include "shared/thresholds.h"
#include "shared/write.h"
#include "print/tty.h"

#include <stdlib.h>

struct params {
  struct selected selected;
  const char *html, *thresholds;
  struct opt_list label;
  bool findings, full_names;
  int top;
};

#define FIELD(field) offsetof(struct params, field)

static const struct opt opts[] = {
  { OPT_FILE, 0, "html", "FILE", "write a self-contained HTML page, without references to the network or to other "
                                 "files", FIELD(html), 0, 0, 0 },
  { OPT_LIST, 0, "label", "NAME", "name of the next run in the output (default: its folder or file); repeatable; each input is a run",
    FIELD(label), 0, 0, 0 },
  { OPT_INT, 0, "top", "N", "show N kernels (default: 10 as text, 30 on the page; JSON: all)", FIELD(top), 0, 1, 1000000000 },
  { OPT_FLAG, 0, "findings", 0, "print only the findings, and all of them", FIELD(findings), 0, 0, 0 },
  ROW_FULL_NAMES(struct params, full_names),
  ROW_THRESHOLDS(struct params, thresholds),
  ROW_KEEP_GOING,
  ROW_JOIN,
  ROW_FORCE,
  ROWS_SELECT,
  ROW_ALLOW_EMPTY,
  ROW_JSON,
  ROWS_READ,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit report trace.json", "show where the device spent its time" },
  { "tracekit report logdir --html report.html", "write a page about all ranks of a run" },
  { "tracekit report logdir --findings", "print only what stands out, with what to do next" },
  { "tracekit report nightly/run1.json.gz nightly/run2.json.gz --label before --label after", "show two runs side by side" },
  { "tracekit report rank0.json.gz rank1.json.gz --json", "print JSON for use in a script" },
  { 0, 0 },
};

/* ---- the page ---- */

static int draw_page(const struct params *p, const struct tk_sources *sources, const struct tk_report *r) {
  char *text = NULL;
  size_t n = 0;
  FILE *to = tty_open_text(&text, &n);
  if (to) report_write_html(r, p->top ? (size_t)p->top : 30, p->full_names, to);
  if (!to || !tty_close_text(to, &text)) return run_no_memory();
  const int status = write_page(&p->selected.shared, sources, p->html, text, n, !p->selected.shared.json);
  free(text);
  return status;
}

static bool may_write(const struct params *p, const struct operands *in, int *status) {
  struct shared s = p->selected.shared;
  if (!p->html) return true;
  s.output = p->html;
  return run_output(&s, "report", in, status) != NULL;
}

/* ---- the command ---- */

static int print_report(const struct params *p, const struct tk_sources *sources, const struct tk_report *r) {
  if (p->html) {
    int status = draw_page(p, sources, r);
    if (status || run_is_stdout(p->html)) return status;
  }
  if (p->selected.shared.json && p->findings) report_print_json_findings(r);
  else if (p->selected.shared.json) report_print_json(r, p->top ? (size_t)p->top : SIZE_MAX);
  else if (!p->html && p->findings) findings_print(r, SIZE_MAX);
  else if (!p->html && !report_print_text(r, p->top ? (size_t)p->top : 10, p->full_names)) return STATUS_INPUT;
  return STATUS_DONE;
}

/* True if the selection contains no device work. If the traces record no device, a range of time or of steps may also select
 * only host events. */
static bool is_empty(const struct tk_report *r, const struct tk_selection *select) {
  const bool by_event = select->where && *select->where;
  uint64_t events = 0;
  for (size_t i = 0; i < r->n_ranks; i++) events += r->ranks[i].events;
  return !r->n_kernels && (by_event || ((r->n_devices || !events) && select_is_asked(select)));
}

static int say_nothing(const struct shared *s) {
  if (!s->quiet) tty_fail("nothing matched: no kernel or other device work is selected; for other events, use tracekit top or tree");
  return STATUS_FINDING;
}

static int report_of(const struct params *p, const struct tk_selection *select, const struct operands *in) {
  struct tk_report *report = NULL;
  struct tk_report_options options = { .size = sizeof options, .select = *select, .strips = p->html != NULL,
                                       .keep_going = p->selected.shared.keep_going, .thresholds = p->thresholds,
                                       .labels = (const char *const *)p->label.v,
                                       .n_labels = p->label.n };
  const struct shared *s = &p->selected.shared;
  struct progress progress;
  struct tk_err err = { 0 };
  int status;
  struct tk_sources *sources = run_sources(s, "report", in, &status);
  if (!sources) return status;
  progress_start(&progress, "reading", NULL, s->quiet ? -1 : s->progress);
  options.load = run_load_options(s, &progress);
  bool ok = tk_report_sources(sources, &options, &report, &err);
  progress_end(&progress);
  if (ok) run_notes(s, NULL, report->notes);
  if (!ok) status = run_fail(&err);
  else status = is_empty(report, select) && !p->selected.selection.allow_empty ? say_nothing(s) : print_report(p, sources, report);
  tk_report_free(report);
  tk_sources_close(sources);
  return status;
}

/* Checks all options before reading any input. */
static int cmd_report(const void *params, const struct operands *in) {
  const struct params *p = params;
  struct exprs e = select_expressions(&p->selected, "report");
  const struct tk_selection select = { .where = (const char *const *)e.v,
                                       .time = p->selected.selection.time,
                                       .steps = p->selected.selection.step };
  const struct tk_filter_options asked = { .where = select.where, .time = select.time, .steps = select.steps };
  struct tk_err err = { 0 };
  int status = STATUS_USAGE;
  if (p->label.n > (in->n ? in->n : 1)) status = run_usage("report", "--label: more names than runs");
  else if (e.failed && !e.wrong) tty_say("out of memory");
  else if (!e.wrong && !tk_filter_check(&asked, &err)) status = run_fail(&err);
  else if (!e.wrong && may_write(p, in, &status)) status = report_of(p, &select, in);
  select_free(&e);
  return status;
}

const struct command command_report = {
  .name = "report",
  .group = GROUP_ANALYSE,
  .summary = "summarise where a run spent its time, as text or HTML",
  .operands = "[INPUT...]",
  .description =
    "Begins with findings: figures that are beyond their thresholds, most severe first, with the place and what to do or run "
    "next. docs/findings.md lists them; --thresholds changes the limits.\n"
    "\n"
    "Shows, for each device of each rank: utilization, that is how long it computed, communicated and copied, and how much of "
    "that was hidden behind other work; how long it was idle and why; how long steps took and which are outliers; which "
    "kernels and operators took the most time; what copies transferred; FLOP/s and bytes/s of operators relative to the device's "
    "peak, and MFU (model FLOPs utilization), if the trace states operations or shapes; how far ahead work was launched; what "
    "collectives cost and which rank was the straggler; how long programs were compiled; and peak memory use. Data that the "
    "trace does not contain is listed as not available, and is null in JSON.\n"
    "\n"
    "Several inputs are read one after the other and put on one timeline, as in merge, to compare their collectives; large "
    "inputs are read twice for that. If inputs have the same ranks, each is a run with its own name; --label changes the names. "
    "The options that select events apply to the work of devices; --time and --step select the time range. Figures "
    "that HolisticTraceAnalysis also has are defined in the same way; see docs/analysis.md.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = ANY_NUMBER,
  .run = cmd_report,
};
