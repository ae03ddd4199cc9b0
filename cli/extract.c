/* extract.c - tracekit extract: out of a run directory or an archive, the file that a viewer opens. */
#include "commands.h"
#include "redact.h"
#include "json.h"
#include "run.h"
#include "tty.h"
#include "write.h"

#include <string.h>

struct params {
  struct shared shared;
  const char *run, *step, *host;
  struct opt_number rank;
  bool latest, latest_good, all, split, raw;
};

static const struct opt opts[] = {
  { OPT_FILE, 'o', "output", "FILE",
    "write the output here; a folder ('out/') gets a file for each run; '-' is standard output",
    SHARED(output), 0, 0, 0 },
  { OPT_FLAG, 0, "latest", 0, "take the newest run (the default)", offsetof(struct params, latest), 0, 0, 0 },
  { OPT_FLAG, 0, "latest-good", 0, "take the newest run that holds a trace: of the newest the files may be empty, or not yet written",
    offsetof(struct params, latest_good), 0, 0, 0 },
  { OPT_STRING, 0, "run", "RUN",
    "take this run, or the newest run whose name begins so", offsetof(struct params, run), 0, 0, 0 },
  { OPT_STRING, 0, "step", "N", "take the run in a folder called step_N", offsetof(struct params, step), 0, 0, 0 },
  { OPT_STRING, 0, "host", "HOST",
    "take only this host; '*' and '?' match as in file names", offsetof(struct params, host), 0, 0, 0 },
  { OPT_NUMBER, 0, "rank", "N", "take only this rank", offsetof(struct params, rank), 0, 0, 0 },
  { OPT_FLAG, 'a', "all", 0, "take all runs", offsetof(struct params, all), 0, 0, 0 },
  { OPT_FLAG, 0, "split", 0,
    "write a file for each host instead of one timeline of all hosts", offsetof(struct params, split), 0, 0, 0 },
  { OPT_FLAG, 0, "raw", 0, "copy the files as they are, without reading them", offsetof(struct params, raw), 0, 0, 0 },
  ROW_FORMAT,
  ROW_FORCE,
  ROW_DRY_RUN,
  ROW_NO_LOSS,
  ROW_PRETTY,
  ROW_OVERLAPS,
  ROW_LEVEL,
  ROW_NO_PROVENANCE,
  ROW_NO_PASSTHROUGH,
  { OPT_SWITCH, 0, "derive", 0,
    "add the steps and lines that xprof makes of XPlane: Steps, XLA Modules, Framework Ops, ... (the default)",
    SHARED(derive), 0, 0, 0 },
  ROWS_REDACT,
  ROW_JSON,
  ROWS_READ,
  ROW_END
};

static const struct example examples[] = {
  { "tracekit extract logdir", "write the newest run to <run>.<host>.json.gz in the current folder" },
  { "tracekit extract logdir -o trace.pftrace", "write the newest run as Perfetto protobuf" },
  { "tracekit extract --all --split logdir -o out/", "write a file for each host of every run" },
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
  json_string(j, "output", f->output);
  json_string(j, "run", f->run);
  json_string(j, "from", f->from);
  json_uint(j, "inputs", f->n_inputs);
  json_uint(j, "left_out", f->n_failed);
  if (!p->raw) {
    json_uint(j, "written_records", f->written.records);
    json_uint(j, "written_events", f->written.events);
    if (f->written.derived) json_uint(j, "derived_events", f->written.derived);
    if (p->shared.redact.asked) redact_json(j, &f->redacted);
    json_uint(j, "written_flow_points", f->written.flow_points);
    json_uint(j, "raw_bytes", f->written.raw_bytes);
    write_losses_json(j, &f->written);
  }
  json_uint(j, "bytes", f->written.bytes);
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
  };
  o.save.same = true;
  o.source.run = p->run;
  o.source.step = p->step;
  o.source.host = p->host;
  o.source.rank = p->rank.given ? &p->rank.value : NULL;
  o.source.all_runs = p->all;
  o.source.latest_good = p->latest_good;
  return o;
}

/* NULL, or what cannot be asked of files that are copied as they are. */
static const char *raw_excludes(const struct shared *s) {
  if (s->format) return "--raw copies files as they are: -f cannot be with it";
  if (s->no_loss) return "--raw copies files as they are: nothing is lost, and --no-loss says nothing";
  if (s->pretty || s->overlaps || s->level) return "--raw copies files as they are: --pretty, --overlaps and --level cannot be with it";
  if (s->derive > 0) return "--raw copies files as they are: --derive cannot be with it";
  return NULL;
}

static int cmd_extract(const void *params, const struct operands *in) {
  static const char *const here[] = { "." };
  const struct params *p = params;
  struct progress progress;
  struct tk_err err = { 0 };
  struct tk_extract_report report = { 0 };
  struct tk_extract_options options = options_of(p, &progress);
  int status = STATUS_DONE;
  bool ok;
  struct redacting r;
  if ((p->latest || p->latest_good) && p->all) return run_usage("extract", "--latest and --all exclude each other");
  if (p->raw) {
    const char *why = raw_excludes(&p->shared);
    if (why) return run_usage("extract", why);
  }
  if (p->raw && p->shared.redact.asked) return run_usage("extract", "--raw copies files as they are: --redact cannot be with it");
  if (!redact_begin(&p->shared, "extract", in, &r, &status)) return status;
  if (p->shared.redact.asked) options.redact = &r.options;
  progress_start(&progress, "extracting", NULL, p->shared.quiet ? -1 : p->shared.progress);
  ok = tk_extract(in->n ? in->v : here, in->n ? in->n : 1, &options, &report, &err);
  progress_end(&progress);
  run_notes(&p->shared, NULL, report.notes);
  if (!ok) status = run_fail(&err);
  print_report(p, &report, run_report_to(&p->shared, p->shared.output ? p->shared.output : ""));
  if (ok) status = status_of(&report);
  tk_extract_report_free(&report);
  return redact_end(&r, p->shared.output, status);
}

const struct command command_extract = {
  .name = "extract",
  .summary = "take a trace that viewers open out of a run directory or archive",
  .operands = "[SOURCE...]",
  .description =
    "Takes the newest run out of a run directory of JAX, TensorFlow or PyTorch, out of any other folder or out of an "
    "archive, and writes it as one trace that ui.perfetto.dev and other viewers open. Runs are found at any depth; without "
    "SOURCE the current folder is searched.\n\n"
    "Profilers may write several files of one session. The best of each host is read: <host>.xplane.pb before "
    "<host>.trace.json.gz, which holds at most the first million events, before perfetto_trace.json.gz. Several hosts or "
    "ranks of a run are merged into one timeline, unless --split is given.\n\n"
    "With -f xplane a folder gets each run as xprof and TensorBoard look for it: "
    "LOGDIR/plugins/profile/RUN/HOST.xplane.pb.\n\n"
    "xprof shows more than an XPlane holds: which step an event is in (args group_id and step_name), and lines of devices that it "
    "makes of what ops say (Steps, XLA Modules, XLA Ops, Framework Name Scope, Framework Ops, Source code, Host Offload Ops). These "
    "are added, and counted apart, unless --no-derive is given. Each bears the arg tracekit.derived, and is written to no XPlane.\n\n"
    "Without -o the output is called <run>.<host>.json.gz and stands in the current folder. An existing file is replaced "
    "only with --force; one that holds the same already stays, which is no error. Of a file that is cut or damaged, the "
    "events that can be read are saved, and a message says how "
    "many. A host of which no event can be read is left out, which a message says and which makes the exit status 3.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = ANY_NUMBER,
  .run = cmd_extract,
};
