/* plan.c - tracekit plan: compares the clocks of a job from the scans of its ranks, and plans the merge. */
#include "shared/clocks.h"
#include "commands.h"
#include "shared/merging.h"
#include "shared/progress.h"
#include "print/table.h"
#include "print/tty.h"

struct params {
  struct shared shared;
  struct merging merging;
};

/* "marker" is missing because a scan records only collectives, and "none" because each rank is placed separately. */
static const struct opt_word align_words[] = {
  { "auto", TK_ALIGN_AUTO, "align hosts by the collectives of their ranks if that is reliable, otherwise as with clock" },
  { "clock", TK_ALIGN_CLOCK, "align by absolute time, if the inputs record it" },
  { "collectives", TK_ALIGN_COLLECTIVES, "align by collectives even if that is unreliable" },
  { "start", TK_ALIGN_START, "align the first events of all hosts" },
  { 0, 0, 0 },
};

static const struct opt opts[] = {
  ROW_OUTPUT,
  { OPT_FORMAT, 'f', "format", "FORMAT", "format of the merged trace, such as json.gz (default: json); 'help' lists them",
    SHARED(format), 0, 0, 0 },
  ROWS_MERGE_CLOCKS(struct params, align_words),
  ROWS_MERGE_PART(struct params),
  ROWS_MERGE_LAYOUT(struct params),
  ROW_OVERLAPS,
  ROW_LEVEL,
  ROW_NO_PROVENANCE,
  ROW_NO_PASSTHROUGH,
  ROW_DERIVE,
  ROW_FORCE,
  ROW_MAX_MEMORY,
  ROW_JSON,
  ROW_QUIET,
  ROW_VERBOSE,
  ROW_END
};

static const struct example examples[] = {
  { "tracekit plan all.scan -o plan.json", "compare the clocks of all ranks" },
  { "tracekit plan all.scan -f pftrace --every-rank 8 -o plan.json", "plan a merge of every eighth rank into a Perfetto "
                                                                     "trace" },
  { "tracekit merge rank0.json.gz --offsets-from plan.json -o part0.json.gz", "move one rank onto the merged timeline" },
  { 0, 0 },
};

/* ---- stragglers ---- */

enum { SHOWN = 5 };

static const char *time_text(int64_t ns, char *text) {
  *text = '-';
  tk_print_duration((ns < 0 ? -ns : ns) * (ns > INT64_MAX / 1000 || ns < -INT64_MAX / 1000 ? 1 : 1000), text + (ns < 0));
  return text;
}

static void straggler_row(struct table *table, const struct tk_straggler *r, const char *is) {
  char text[40];
  table_cell(table, "%lld", (long long)r->rank);
  table_cell(table, "%s", *r->host ? r->host : "?");
  table_cell(table, "%llu", (unsigned long long)r->met);
  table_cell(table, "%s", time_text(r->wait_ns, text));
  table_cell(table, "%llu", (unsigned long long)r->last);
  table_cell(table, "%s", time_text(r->cost_ns, text));
  table_cell(table, "%s", time_text(r->lasts_ns, text));
  table_cell(table, "%s", is);
}

static void stragglers_text(FILE *to, const struct shared *s, const struct tk_stragglers *g, uint64_t n_ranks) {
  static const char *const titles[] = { "rank", "host", "met", "waited", "last", "cost", "lasts", "" };
  struct table table = { .align = "rlrrrrrl", .width = s->verbose ? 0 : tty_width(to), .squeezed = 2 };
  char own[64], other[64];
  if (!g || !g->met) return;
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) table_cell(&table, "%s", titles[i]);
  for (size_t i = 0; i < g->n_ranks && i < SHOWN; i++)
    if (!i || g->ranks[i].last) straggler_row(&table, &g->ranks[i], i ? "" : "slow");
  straggler_row(&table, &g->typical, "typical");
  table_print(&table, to);
  if (g->compared < n_ranks)
    fprintf(to, "compared: %s of %s; the others have clocks that could not be aligned, or took part in no collective\n",
            tty_count(g->compared, own), tty_counted(n_ranks, "rank", other));
  if (g->stepped)
    fprintf(to, "rank %lld delayed the others most in step %lld: %s\n", (long long)g->ranks[0].rank, (long long)g->step,
            time_text(g->step_cost_ns, own));
  for (size_t i = 0; i < g->n_names && i < SHOWN; i++) {
    fprintf(to, "rank %lld spent %s in ", (long long)g->ranks[0].rank, time_text(g->names[i].self_ns[0], own));
    tty_string(to, g->names[i].name);
    fprintf(to, ", rank %lld %s\n", (long long)g->typical.rank, time_text(g->names[i].self_ns[1], other));
  }
}

static void json_straggler(struct json *j, const char *key, const struct tk_straggler *r) {
  json_open(j, key, '{');
  json_int(j, "rank", r->rank);
  json_string(j, "host", r->host);
  json_uint(j, "met", r->met);
  json_uint(j, "last", r->last);
  json_int(j, "wait_ns", r->wait_ns);
  json_int(j, "cost_ns", r->cost_ns);
  json_int(j, "lasts_ns", r->lasts_ns);
  json_close(j, '}');
}

static void json_straggler_name(struct json *j, const struct tk_straggler_name *n) {
  json_open(j, NULL, '{');
  json_string(j, "name", n->name);
  json_uint(j, "count", n->count[0]);
  json_int(j, "self_ns", n->self_ns[0]);
  json_int(j, "p50_ns", n->p50_ns[0]);
  json_uint(j, "typical_count", n->count[1]);
  json_int(j, "typical_self_ns", n->self_ns[1]);
  json_int(j, "typical_p50_ns", n->p50_ns[1]);
  json_close(j, '}');
}

static void json_stragglers(struct json *j, const struct tk_stragglers *g) {
  if (!g) return;
  json_open(j, "stragglers", '{');
  json_string(j, "by", g->met ? "collectives" : "length");
  json_open(j, "ranks", '[');
  for (size_t i = 0; i < g->n_ranks; i++) json_straggler(j, NULL, &g->ranks[i]);
  json_close(j, ']');
  json_uint(j, "compared", g->compared);
  json_straggler(j, "typical", &g->typical);
  if (g->stepped) {
    json_open(j, "step", '{');
    json_int(j, "number", g->step);
    json_int(j, "cost_ns", g->step_cost_ns);
    json_close(j, '}');
  }
  json_open(j, "names", '[');
  for (size_t i = 0; i < g->n_names; i++) json_straggler_name(j, &g->names[i]);
  json_close(j, ']');
  json_close(j, '}');
}

/* ---- the report ---- */

static void print_text(FILE *to, const struct shared *s, const struct tk_merge_report *r, const char *output) {
  char n[64], hosts[64];
  clocks_text(to, s, &r->align);
  clocks_collectives_text(to, &r->collectives);
  stragglers_text(to, s, r->stragglers, r->n_ranks - r->n_skipped);
  fputs("wrote ", to);
  tty_string(to, run_is_stdout(output) ? "to standard output" : output);
  fprintf(to, ": %s, %s\n", tty_counted(r->n_ranks, "rank", n), tty_counted(r->align.n_hosts, "clock", hosts));
}

static void plan_print_json(FILE *to, const struct tk_merge_report *r, const char *output) {
  struct json j = { .to = to };
  json_open(&j, NULL, '{');
  json_string(&j, "output", output);
  json_uint(&j, "ranks", r->n_ranks);
  json_raw(&j, "align", r->align.json);
  if (r->collectives.n) clocks_collectives_json(&j, &r->collectives);
  json_stragglers(&j, r->stragglers);
  json_close(&j, '}');
}

static int finding(const struct params *p, const struct tk_merge_report *r) {
  if (!p->merging.require_align || r->align.trusted) return STATUS_DONE;
  tty_fail("--require-align: the alignment of at least one host is unreliable");
  return STATUS_FINDING;
}

static int cmd_plan(const void *params, const struct operands *in) {
  const struct params *p = params;
  struct progress progress;
  struct tk_err err = { 0 };
  struct tk_merge_report *report = NULL;
  struct tk_merge_options options = {
    .load = run_load_options(&p->shared, &progress),
    .save = run_save_options(&p->shared, "tracekit plan", &progress),
    .derive = p->shared.derive > 0,
  };
  int status;
  merging_options(&p->merging, &options);
  const char *output = run_output(&p->shared, "plan", in, &status);
  if (!output) return status;
  const bool ok = tk_plan(in->v, in->n, output, &options, &report, &err);
  run_notes(&p->shared, NULL, report ? report->notes : NULL);
  FILE *to = run_report_to(&p->shared, output);
  if (ok && p->shared.json) plan_print_json(to, report, output);
  else if (ok && !p->shared.quiet) print_text(to, &p->shared, report, output);
  status = ok ? finding(p, report) : run_fail(&err);
  tk_merge_report_free(report);
  return status;
}

const struct command command_plan = {
  .name = "plan",
  .group = GROUP_CLUSTER,
  .summary = "plan a merge from the scans of its ranks",
  .operands = "SCAN...",
  .description =
    "Compares the clocks of all hosts as merge does, using scans (see scan) instead of traces, and writes the result as JSON: "
    "the offset of each clock with its error and evidence, and the shift of each rank. Ranks are in the order of the scans.\n"
    "\n"
    "The plan also contains everything that is needed to write each rank independently of the others: its position, pids and "
    "label, and the options given here. apply then writes one rank, and concat joins the parts of all ranks.\n"
    "\n"
    "With --to, the plan also gives each rank a share of the size, as in merge: the rank that the others waited for longest "
    "and a typical rank get all they need, if half of the size is enough for that; the others share the rest. apply shrinks "
    "its rank to that share.\n"
    "\n"
    "For three or more ranks, the plan identifies stragglers: how long each rank waited in collectives, how often it was last "
    "and how much that cost the others, as report shows for traces; the step in which this was worst; and the names in which "
    "the slow rank spent more self time than a typical one.\n"
    "\n"
    "merge --offsets-from accepts a plan too, to write a single rank as a separate trace on the merged timeline.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .min_operands = 1,
  .max_operands = ANY_NUMBER,
  .run = cmd_plan,
};
