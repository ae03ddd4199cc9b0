/* extract.c - tracekit extract: writes a run from a run directory or an archive as one trace that viewers can open. */
#include "commands.h"
#include "redact.h"
#include "print/fields.h"
#include "print/json.h"
#include "shared/run.h"
#include "print/tty.h"
#include "shared/write.h"

#include <string.h>

struct params {
  struct shared shared;
  const char *step, *host;
  struct opt_number rank;
  bool latest, all, split, raw;
};

static const struct opt opts[] = {
  { OPT_FILE, 'o', "output", "FILE",
    "write the output here; a folder ('out/') gets one file per run; '-' is standard output",
    SHARED(output), 0, 0, 0 },
  { OPT_FLAG, 0, "latest", 0, "use the newest run (default)", offsetof(struct params, latest), 0, 0, 0 },
  { OPT_STRING, 0, "step", "N", "same as --step-dir", offsetof(struct params, step), 0, 0, 0 },
  { OPT_STRING, 0, "host", "HOST",
    "use only this host; '*' and '?' are wildcards", offsetof(struct params, host), 0, 0, 0 },
  { OPT_NUMBER, 0, "rank", "N", "use only this rank", offsetof(struct params, rank), 0, 0, 0 },
  { OPT_FLAG, 'a', "all", 0, "extract all runs", offsetof(struct params, all), 0, 0, 0 },
  { OPT_FLAG, 0, "split", 0,
    "write one file per host instead of one timeline of all hosts", offsetof(struct params, split), 0, 0, 0 },
  { OPT_FLAG, 0, "raw", 0, "copy the files unchanged, without reading them", offsetof(struct params, raw), 0, 0, 0 },
  ROW_JOIN,
  ROW_FORMAT,
  ROW_FORCE,
  ROW_DRY_RUN,
  ROW_NO_LOSS,
  ROW_PRETTY,
  ROW_OVERLAPS,
  ROW_GPU_EVENTS,
  ROW_LEVEL,
  ROW_NO_PROVENANCE,
  ROW_NO_PASSTHROUGH,
  ROW_FOLD_GRAPHS,
  { OPT_SWITCH, 0, "derive", 0,
    "add the steps and lines that xprof derives from an XPlane: Steps, XLA Modules, Framework Ops, ... (default)",
    SHARED(derive), 0, 0, 0 },
  ROWS_REDACT,
  ROW_JSON,
  ROWS_READ,
  ROW_END
};

static const struct example examples[] = {
  { "tracekit extract logdir", "write the newest run to <run>.<host>.json.gz in the current folder" },
  { "tracekit extract logdir -o trace.pftrace", "write the newest run as Perfetto protobuf" },
  { "tracekit extract --all --split logdir -o out/", "write one file per host for every run" },
  { "tracekit extract --all traces.zip -f xplane -o tb/", "write all runs for xprof and TensorBoard (--logdir tb)" },
  { "tracekit extract traces.zip -o merged.json.gz", "merge the ranks in an archive into one timeline" },
  { 0, 0 },
};

static void print_one(FILE *to, const struct shared *s, const struct params *p, const struct tk_extracted *f) {
  char n[64], size[32];
  fputs(s->dry_run ? "would write " : f->written.was_there ? "kept " : "wrote ", to);
  tty_string(to, run_is_stdout(f->output) ? "to standard output" : f->output);
  fputs(f->written.was_there ? ", which holds the same already: " : ": ", to);
  if (!p->raw) fputs(tty_counted(f->written.events, "event", n), to);
  if (!p->raw) write_derived(to, &f->written);
  if (!p->raw) fputs(", ", to);
  tk_print_size(f->written.bytes, size);
  if (!s->dry_run || p->raw) fprintf(to, "%s, ", size);
  fputs("from ", to);
  tty_string(to, f->from);
  if (f->n_inputs > f->n_failed + 1) fprintf(to, " and %zu more", f->n_inputs - f->n_failed - 1);
  if (f->n_failed) fprintf(to, ", %zu left out", f->n_failed);
  if (f->saved) fprintf(to, " (damaged: %s could be read)", tty_counted(f->saved, "event", n));
  fputc('\n', to);
}

static void json_one(struct json *j, const struct params *p, const struct tk_extracted *f) {
  json_open(j, NULL, '{');
  fields_json(j, TK_ROW_EXTRACTED, f, NULL, SIZE_MAX);
  if (!p->raw && p->shared.redact.asked) redact_json(j, &f->redacted);
  if (!p->raw) write_losses_json(j, &f->written);
  json_close(j, '}');
}

static void print_report(const struct params *p, const struct tk_extract_report *r, FILE *to) {
  struct json j = { .to = to };
  for (size_t i = 0; i < r->n; i++) write_losses(&p->shared, r->files[i].output, &r->files[i].written);
  if (!p->shared.json) {
    for (size_t i = 0; i < r->n && !p->shared.quiet; i++) print_one(to, &p->shared, p, &r->files[i]);
    return;
  }
  json_open(&j, NULL, '{');
  json_bool(&j, "dry_run", p->shared.dry_run);
  json_open(&j, "files", '[');
  for (size_t i = 0; i < r->n; i++) json_one(&j, p, &r->files[i]);
  json_close(&j, ']');
  json_close(&j, '}');
}

static int status_of(const struct tk_extract_report *r) {
  if (r->n_failed) return STATUS_INPUT;
  for (size_t i = 0; i < r->n; i++)
    if (r->files[i].n_failed) return STATUS_INPUT;
  return STATUS_DONE;
}

static struct tk_extract_options options_of(const struct params *p, struct progress *progress) {
  struct tk_extract_options o = {
    .source = run_source_options(&p->shared, progress),
    .load = run_load_options(&p->shared, progress),
    .save = run_save_options(&p->shared, "tracekit extract", progress),
    .output = p->shared.output,
    .split = p->split,
    .raw = p->raw,
    .derive = p->shared.derive >= 0,
    .fold_graphs = p->shared.fold_graphs,
  };
  o.save.same = true;
  if (p->step) o.source.step = p->step;
  o.source.apart = p->raw;
  o.source.host = p->host;
  o.source.rank = p->rank.given ? &p->rank.value : NULL;
  o.source.all_runs = p->all;
  return o;
}

/* Returns an error message if a given option cannot be combined with --raw; NULL if there is no such option. */
static const char *raw_excludes(const struct shared *s) {
  if (s->format) return "--raw cannot be combined with -f: it copies files unchanged";
  if (s->no_loss) return "--raw cannot be combined with --no-loss: it copies files unchanged";
  if (s->pretty || s->overlaps || s->level) return "--raw cannot be combined with --pretty, --overlaps or --level: it copies "
                                                   "files unchanged";
  if (s->derive > 0) return "--raw cannot be combined with --derive: it copies files unchanged";
  if (s->fold_graphs) return "--raw cannot be combined with --fold-graphs: it copies files unchanged";
  return NULL;
}

static int cmd_extract(const void *params, const struct operands *in) {
  static const char *const here[] = { "." };
  const struct params *p = params;
  struct progress progress;
  struct tk_err err = { 0 };
  struct tk_extract_report *report = NULL;
  struct tk_extract_options options = options_of(p, &progress);
  int status = STATUS_DONE;
  bool ok;
  struct redacting r;
  if ((p->latest || p->shared.latest_good) && p->all) return run_usage("extract", "--latest and --all cannot be combined");
  if (p->raw) {
    const char *why = raw_excludes(&p->shared);
    if (why) return run_usage("extract", why);
  }
  if (p->raw && p->shared.redact.asked) return run_usage("extract", "--raw cannot be combined with --redact: it copies files "
                                                                    "unchanged");
  if (!redact_begin(&p->shared, "extract", in, &r, &status)) return status;
  if (p->shared.redact.asked) options.redact = &r.options;
  progress_start(&progress, "extracting", NULL, p->shared.quiet ? -1 : p->shared.progress);
  ok = tk_extract(in->n ? in->v : here, in->n ? in->n : 1, &options, &report, &err);
  progress_end(&progress);
  run_notes(&p->shared, NULL, report ? report->notes : NULL);
  if (!ok) status = run_fail(&err);
  if (report) print_report(p, report, run_report_to(&p->shared, p->shared.output ? p->shared.output : ""));
  if (ok) status = status_of(report);
  tk_extract_report_free(report);
  return redact_end(&r, p->shared.output, status);
}

const struct command command_extract = {
  .name = "extract",
  .group = GROUP_OPEN,
  .summary = "extract a run from a log directory or archive as one trace",
  .operands = "[SOURCE...]",
  .description =
    "Extracts the newest run from a run directory of JAX, TensorFlow or PyTorch, from any other folder, or from an archive, "
    "and writes it as one trace that ui.perfetto.dev and other viewers can open. Runs are found at any depth; without SOURCE "
    "the current folder is searched.\n"
    "\n"
    "Profilers may write several files for one session. For each host the best one is read: <host>.xplane.pb, or else "
    "<host>.trace.json.gz, which contains at most the first million events, or else perfetto_trace.json.gz. Several hosts or "
    "ranks of a run are merged into one timeline, unless --split is given.\n"
    "\n"
    "With -f xplane, each run is written to a folder with the layout that xprof and TensorBoard expect: "
    "LOGDIR/plugins/profile/RUN/HOST.xplane.pb.\n"
    "\n"
    "xprof shows data that an XPlane does not contain: the step of each event (args group_id and step_name), and device lines "
    "derived from the ops (Steps, XLA Modules, XLA Ops, Framework Name Scope, Framework Ops, Source code, Host Offload Ops). "
    "extract adds them and counts them separately, unless --no-derive is given. Derived events have the arg tracekit.derived, "
    "and are never written to an XPlane. top, tree and diff leave derived lines out. As in xprof, the event that marks a step gets "
    "the name of the step: train becomes train 0, train 1 and so on; the arg xplane.name keeps its own name.\n"
    "\n"
    "Without -o, the output is <run>.<host>.json.gz in the current folder. An existing file is replaced only with --force; an "
    "existing file with the same contents is kept, without an error. All readable events of a truncated or damaged file are "
    "saved, and a message reports their number. If no event of a host can be read, the host is left out, a message reports it, "
    "and the exit status is 3.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = ANY_NUMBER,
  .run = cmd_extract,
};
