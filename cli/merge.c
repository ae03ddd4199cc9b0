/* merge.c - tracekit merge: merges the traces of several ranks into one timeline. */
#include "shared/clocks.h"
#include "commands.h"
#include "print/fields.h"
#include "print/json.h"
#include "redact.h"
#include "shared/merging.h"
#include "shared/run.h"
#include "print/table.h"
#include "print/tty.h"
#include "shared/write.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct params {
  struct shared shared;
  struct merging merging;
  const char *align_report;
  bool manifest;
};

#define FIELD(field) offsetof(struct params, field)

static const struct opt opts[] = {
  ROW_OUTPUT,
  ROWS_MERGE_CLOCKS(struct params, merging_align_words),
  { OPT_FILE, 0, "align-report", "FILE", "write a JSON report on the clocks to this file, even in a dry run",
    FIELD(align_report), 0, 0, 0 },
  ROWS_MERGE_ANCHORS(struct params),
  ROWS_MERGE_PART(struct params),
  ROWS_MERGE_LAYOUT(struct params),
  { OPT_FLAG, 0, "manifest", 0,
    "write a tar of the decompressed inputs, with a manifest from which Perfetto 58 and later merges them", FIELD(manifest), 0, 0, 0 },
  { OPT_FLAG, 'k', "keep-going", 0, "leave out inputs that cannot be read (the exit status is still 3)",
    SHARED(keep_going), 0, 0, 0 },
  ROW_JOIN,
  ROW_FORMAT,
  ROW_STEP_NAME,
  ROW_FORCE,
  ROW_DRY_RUN,
  ROW_NO_LOSS,
  ROW_PRETTY,
  ROW_OVERLAPS,
  ROW_GPU_EVENTS,
  ROW_LEVEL,
  ROW_NO_PROVENANCE,
  ROW_NO_PASSTHROUGH,
  ROW_DERIVE,
  ROW_FOLD_GRAPHS,
  ROWS_REDACT,
  ROW_JSON,
  ROWS_READ,
  ROW_END
};

static const struct example examples[] = {
  { "tracekit merge rank0.json.gz rank1.json.gz -o merged.json.gz", "merge two ranks into one timeline" },
  { "tracekit merge rank*.json.gz --align=none -o merged.json.gz", "merge without changing any time" },
  { "tracekit merge rank*.json.gz --offset 1=+1.5ms --align-report clocks.json -o merged.json.gz",
    "shift rank 1 by an offset, and write a report on the clocks" },
  { "tracekit merge rank*.json.gz --label '{host}/{rank}: {process}' --group-by=kind -o merged.json.gz",
    "rename the processes, and put all GPUs together" },
  { "tracekit merge rank*.json.gz --rank 0..1 --time 25%..75% --to 2MB -o part.json.gz",
    "merge the middle half of two ranks into a file of at most 2 MB" },
  { "tracekit merge rank*.json.gz --collectives collectives.csv --link-collectives -o merged.json.gz",
    "show which ranks waited in each collective, as a table and as arrows" },
  { "tracekit merge rank*.json.gz -o tb/", "write one file per rank for xprof and TensorBoard (--logdir tb)" },
  { "tracekit merge rank*.json.gz --manifest -o merged.tar", "put the files into a tar that Perfetto can merge" },
  { "tracekit merge --keep-going --json rank*.json.gz -o merged.json.gz > report.json",
    "leave out unreadable inputs, and write the report as JSON" },
  { 0, 0 },
};

/* ---- the report ---- */

static void header(struct table *table) {
  const char *const names[] = { "rank", "host", "input", "records", "events", "flows", "processes", "shift" };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) table_cell(table, "%s", names[i]);
}

static void failed_row(struct table *table, const struct tk_merge_rank *r) {
  table_cell(table, "-");
  table_cell(table, "%s", r->host ? r->host : "");
  table_cell(table, "%s", r->input);
  for (int i = 0; i < 4; i++) table_cell(table, "-");
  table_cell(table, "left out");
}

static void row(struct table *table, const struct tk_merge_rank *r) {
  char n[32], shift[64];
  if (r->failed) {
    failed_row(table, r);
    return;
  }
  clocks_shift(r->shift_ns, shift, sizeof shift);
  if (r->merged) table_cell(table, "%u ranks", r->merged);
  else table_cell(table, "%lld", (long long)r->rank);
  table_cell(table, "%s", r->host && *r->host ? r->host : "?");
  if (r->recordings) table_cell(table, "%s, %s", r->input, r->recordings);
  else table_cell(table, "%s", r->input);
  table_cell(table, "%s", tty_count(r->read, n));
  table_cell(table, "%s", tty_count(r->events, n));
  table_cell(table, "%s", tty_count(r->flow_points, n));
  if (r->hidden_processes) table_cell(table, "%u (+%u empty)", r->processes, r->hidden_processes);
  else table_cell(table, "%u", r->processes);
  table_cell(table, "%s", shift);
}

/* Orders by rank, because by name "rank10" would precede "rank2". Inputs that were left out come last. */
static int compare_ranks(const void *a, const void *b) {
  const struct tk_merge_rank *x = *(const struct tk_merge_rank *const *)a, *y = *(const struct tk_merge_rank *const *)b;
  if (!x->failed != !y->failed) return x->failed ? 1 : -1;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return x < y ? -1 : x > y;
}

static const struct tk_merge_rank **by_rank(const struct tk_merge_report *r) {
  const struct tk_merge_rank **v = calloc(r->n_ranks + 1, sizeof *v);
  for (size_t i = 0; v && i < r->n_ranks; i++) v[i] = &r->ranks[i];
  if (v) qsort(v, r->n_ranks, sizeof *v, compare_ranks);
  return v;
}

static void print_merge_text(FILE *to, const struct shared *s, const struct tk_merge_report *report, const char *output) {
  char a[64], b[64], c[64], size[32];
  struct table table = { .align = "rllrrrlr", .width = s->verbose ? 0 : tty_width(to), .squeezed = 3 };
  const struct tk_merge_rank **ranks = by_rank(report);
  header(&table);
  for (size_t i = 0; ranks && i < report->n_ranks; i++)
    if (!ranks[i]->skipped) row(&table, ranks[i]);
  if (ranks) table_print(&table, to);
  else tty_say("out of memory: a table is missing from the output");
  free(ranks);
  if (report->n_skipped) fprintf(to, "left out: %s of other ranks\n", tty_counted(report->n_skipped, "input", a));
  clocks_text(to, s, &report->align);
  clocks_collectives_text(to, &report->collectives);
  if (s->redact.asked) redact_text(to, &report->redacted, (enum tk_redact_names)s->redact.names.value);
  fputs(s->dry_run ? "would write " : "wrote ", to);
  tty_string(to, run_is_stdout(output) ? "to standard output" : output);
  fprintf(to, ": %s, %s", tty_counted(report->saved.records, "record", a), tty_counted(report->saved.events, "event", b));
  write_derived(to, &report->saved);
  fprintf(to, ", %s", tty_counted(report->saved.flow_points, "flow point", c));
  if (report->events_before > report->saved.events) fprintf(to, ", of %s", tty_counted(report->events_before, "event", c));
  tk_print_size(report->saved.bytes, size);
  if (!s->dry_run) fprintf(to, ", %s", size);
  fputc('\n', to);
}

static void print_merge_json(FILE *to, const struct shared *s, const struct tk_merge_report *report, const char *output) {
  struct json j = { .to = to };
  json_open(&j, NULL, '{');
  json_string(&j, "output", output);
  json_bool(&j, "dry_run", s->dry_run);
  json_open(&j, "ranks", '[');
  for (size_t i = 0; i < report->n_ranks; i++) fields_object(&j, NULL, TK_ROW_MERGE_RANK, &report->ranks[i], NULL);
  json_close(&j, ']');
  json_raw(&j, "align", report->align.json);
  if (report->collectives.n) clocks_collectives_json(&j, &report->collectives);
  json_uint(&j, "written_records", report->saved.records);
  json_uint(&j, "written_events", report->saved.events);
  if (report->saved.derived) json_uint(&j, "derived_events", report->saved.derived);
  if (s->redact.asked) redact_json(&j, &report->redacted);
  json_uint(&j, "written_flow_points", report->saved.flow_points);
  write_losses_json(&j, &report->saved);
  if (report->events_before) json_uint(&j, "events_before", report->events_before);
  if (report->bytes_before) json_uint(&j, "bytes_before", report->bytes_before);
  json_uint(&j, "bytes", report->saved.bytes);
  json_uint(&j, "raw_bytes", report->saved.raw_bytes);
  json_close(&j, '}');
}

/* Returns the reason `why` without the prefix "NAME: ", if it has one. */
static const char *behind(const char *name, const char *why) {
  const size_t n = strlen(name);
  return !strncmp(why, name, n) && !strncmp(why + n, ": ", 2) ? why + n + 2 : why;
}

/* Reports the inputs that were left out. Returns STATUS_INPUT if there are any. */
static int say_failed(const struct tk_merge_report *report) {
  int status = STATUS_DONE;
  for (size_t i = 0; i < report->n_ranks; i++) {
    if (!report->ranks[i].failed) continue;
    tty_warn("%s: left out: %s", report->ranks[i].input, behind(report->ranks[i].input, report->ranks[i].failed));
    status = STATUS_INPUT;
  }
  return status;
}

static int print_report(const struct shared *s, const struct tk_merge_report *report, const char *output) {
  FILE *to = run_report_to(s, output);
  int status;
  run_notes(s, NULL, report->notes);
  status = say_failed(report);
  write_losses(s, output, &report->saved);
  if (s->json) print_merge_json(to, s, report, output);
  else if (!s->quiet) print_merge_text(to, s, report, output);
  return status;
}

static int finding(const struct params *p, const struct tk_align_report *a, int status) {
  if (!p->merging.require_align || a->trusted || status != STATUS_DONE) return status;
  tty_fail("--require-align: the alignment of at least one host is unreliable");
  return STATUS_FINDING;
}

/* True, with a usage error, if the last operand looks like an output that lacks -o, as in "merge rank0.json rank1.json merged.json" if
 * there is no file merged.json. */
static bool forgot_output(const struct params *p, const struct operands *in, int *status) {
  struct stat st;
  const char *last = in->v[in->n - 1];
  char why[512];
  if (p->shared.output || in->n < 2 || !tk_path_of(last).format || strpbrk(last, "*?[:") || stat(last, &st) == 0) return false;
  snprintf(why, sizeof why, "%.200s: no such file; to write it, use -o %.200s", last, last);
  *status = run_usage("merge", why);
  return true;
}

/* Warns if the last input is itself a merged trace, probably the output of an earlier merge given without -o. */
static void say_merged_again(const struct params *p, const struct tk_merge_report *r) {
  const struct tk_merge_rank *last = r->n_ranks > 1 ? &r->ranks[r->n_ranks - 1] : NULL;
  if (!p->shared.output && last && last->merged > 1 && !p->shared.quiet)
    tty_say("%s: is itself a merged trace and was read like the other inputs; to replace it, use -o %s "
            "--force", last->input, last->input);
}

static int run_merge(const struct params *p, const struct operands *in, const char *output, struct tk_merge_options *options) {
  struct tk_err err = { 0 };
  struct tk_merge_report *report = NULL;
  struct progress *progress = options->load.progress.arg;
  progress_start(progress, "merging", NULL, p->shared.quiet ? -1 : p->shared.progress);
  bool ok = tk_merge(in->v, in->n, output, options, &report, &err);
  progress_end(progress);
  int status = ok ? print_report(&p->shared, report, output) : run_fail(&err);
  if (report) say_merged_again(p, report);
  if (ok) status = finding(p, &report->align, status);
  tk_merge_report_free(report);
  return status;
}

static int cmd_merge(const void *params, const struct operands *in) {
  const struct params *p = params;
  struct progress progress;
  const struct tk_source_options source = run_source_options(&p->shared, &progress);
  struct tk_merge_options options = {
    .load = run_load_options(&p->shared, &progress),
    .save = run_save_options(&p->shared, "tracekit merge", &progress),
    .source = &source,
    .keep_going = p->shared.keep_going,
    .derive = p->shared.derive > 0,
    .fold_graphs = p->shared.fold_graphs,
    .manifest = p->manifest,
    .align_report = p->align_report,
  };
  int status;
  struct redacting r;
  merging_options(&p->merging, &options);
  if (forgot_output(p, in, &status)) return status;
  if (p->manifest && p->shared.redact.asked)
    return run_usage("merge", "--redact cannot be combined with --manifest, which copies inputs unchanged");
  const char *output = run_names_folder(&p->shared) ? p->shared.output : run_output(&p->shared, "merge", in, &status);
  if (!output || !redact_begin(&p->shared, "merge", in, &r, &status)) return status;
  if (p->shared.redact.asked) options.redact = &r.options;
  status = run_merge(p, in, output, &options);
  return redact_end(&r, output, status);
}

const struct command command_merge = {
  .name = "merge",
  .group = GROUP_COMBINE,
  .summary = "merge the traces of several ranks into one timeline",
  .operands = "INPUT...",
  .description =
    "Reads the traces of several ranks, one at a time, and writes them as one trace in which every process is labelled with "
    "its rank and host. Rank 0 comes first. Process ids, flow ids and async ids of different ranks are kept apart. Names and "
    "args of events are unchanged. The top-level metadata of every rank is kept. A process that has metadata but no events "
    "gets no row. In Perfetto output each rank is a machine.\n"
    "\n"
    "The rank of an input comes from the trace (distributedInfo), or else from its file name, or else from its position among "
    "the inputs. The printed table shows the rank, the number of events read, and the shift in time of each rank.\n"
    "\n"
    "The clocks of different hosts differ by microseconds to seconds. If ranks of several hosts took part in the same "
    "collectives (kernels of NCCL and RCCL, ops on the device planes of XLA), merge measures the difference, because all ranks "
    "leave a collective together. Each host is shifted as a whole: by a constant, by a linear function of time if its clock "
    "drifts, or by several such functions if its clock was set meanwhile. Ranks of one host are not shifted relative to each "
    "other, unless their collectives show that they have different clocks. All ways to match the collectives are weighed "
    "against each other, and against the possibility that the hosts share nothing. A second table shows, for each host, the "
    "offset of its clock, the error, the bounds proven by causality, and other possible offsets. If the offset of a host is "
    "unreliable, the host stays on its wall clock and a message reports it. Alignment reads the inputs twice.\n"
    "\n"
    "Several profilers may have recorded one rank: PyTorch's profiler, Nsight Systems, a memory snapshot. Inputs that claim "
    "the same rank in different formats become one rank if they share the pid of a process, were recorded at the same time and "
    "do not name different hosts. --join states that they belong together, which is needed for formats without pids (XPlane, "
    "memory snapshots). The clocks of two recordings are compared by the kernels that both contain, or else by NVTX ranges and "
    "annotations of the same names; without these, wall clocks are used. --align=clock and --align=none move no recording. A "
    "kernel or call in both recordings is counted once. Processes with the same pid become one process, in which each profiler "
    "has separate rows. A note reports which inputs were joined, by how much each was moved, and how many events were left out.\n"
    "\n"
    "--rank, --every-rank, --step and --time keep part of the trace; each input is cut as it is read. Each rank has its own "
    "steps; a time range refers to the merged timeline.\n"
    "\n"
    "--to shrinks the output to a size, as shrink does. Each rank gets a share and is shrunk to it as it is written: the rank "
    "that the others waited for longest and a typical rank get all they need, if half of the size is enough for that; the "
    "others share the rest. The metadata lists what was removed from each rank, and the total by name. Format-specific data "
    "(passthrough) is removed. With --pretty or .zst output, the ranks are not written one by one, so everything that is kept "
    "is held in memory.\n"
    "\n"
    "If the output ends in '/', it becomes a folder for xprof and TensorBoard with one file per host, all on one timeline: "
    "LOGDIR/plugins/profile/RUN/HOST.xplane.pb. RUN is the run of the first input. A host with several ranks has one file per "
    "rank. If the output is a folder inside plugins/profile, it is used as the run folder itself. An existing run is kept, "
    "unless --force is given.\n"
    "\n"
    "--manifest does not merge: it writes a tar (.tar, .tar.gz) of the decompressed input files and a perfetto_manifest.json "
    "with the rank, host and clock of each. Perfetto 58 and later merges them when it opens the tar. Inputs that Perfetto "
    "cannot read (XPlane), and a second Perfetto trace with several machines, are refused. A manifest cannot describe "
    "clock drift; if an input's clock drifts, a message reports the drift that is lost.\n"
    "\n"
    "--label is a string with fields in braces. If the value of a field is unknown, the field is omitted together with the text "
    "before it. {{ prints a brace.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .min_operands = 1,
  .max_operands = ANY_NUMBER,
  .run = cmd_merge,
};
