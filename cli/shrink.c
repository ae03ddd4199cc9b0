/* shrink.c - tracekit shrink: reduces a trace to a given size. */
#include "commands.h"
#include "redact.h"
#include "print/json.h"
#include "shared/decimal.h"
#include "shared/run.h"
#include "print/tty.h"
#include "shared/write.h"

#include <stdlib.h>
#include <string.h>

struct params {
  struct shared shared;
  uint64_t to;
  const char *events, *percent, *keep, *drop, *ladder;
  bool lossless, hard;
};

#define FIELD(field) offsetof(struct params, field)

/* Used only for shell completion: --ladder takes a list of these words, separated by commas. */
static const struct opt_word ladder_words[] = {
  { "args", 0, "args" },   { "python", 0, "Python stack frames" },          { "samples", 0, "stack samples" },
  { "spans", 0, "short spans" }, { "coalesce", 0, "adjacent spans of one name" }, { "counters", 0, "counter samples" },
  { 0, 0, 0 },
};

static const struct opt opts[] = {
  { OPT_SIZE, 0, "to", "SIZE", "write a file of at most this size, such as 100MB (10^6 bytes) or 64KiB (2^10)", FIELD(to), 0, 0, 0 },
  { OPT_STRING, 0, "events", "N", "write at most this many events: 500000, or 2M (powers of 1000)", FIELD(events), 0, 0, 0 },
  { OPT_STRING, 0, "percent", "N",
    "limit the size to this percentage of the output of convert", FIELD(percent), 0, 0, 0 },
  { OPT_FLAG, 0, "lossless", 0, "keep all events and write the smallest possible file", FIELD(lossless), 0, 0, 0 },
  { OPT_STRING, 0, "keep", "EXPR", "never remove events for which this expression is true (see filter)", FIELD(keep), 0, 0, 0 },
  { OPT_STRING, 0, "drop", "EXPR", "remove events for which this expression is true first", FIELD(drop), 0, 0, 0 },
  { OPT_STRING, 0, "ladder", "RUNGS",
    "steps to apply, in this order (default: args,python,samples,coalesce,spans,counters)", FIELD(ladder), ladder_words, 0, 0 },
  { OPT_FLAG, 0, "hard", 0, "as a last step, also remove kernels, collectives, steps and annotations", FIELD(hard), 0, 0, 0 },
  ROWS_WRITE,
  ROWS_REDACT,
  ROW_JSON,
  ROW_KEEP_GOING,
  ROWS_READ,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit shrink trace.json --to 20KB -o small.json.gz", "write at most 20 KB" },
  { "tracekit shrink trace.json --percent 50 --dry-run -f json", "show what half the size would cost, without writing it" },
  { "tracekit shrink trace.json --lossless -o packed.json.gz", "write the smallest file that keeps all events" },
  { "tracekit shrink trace.json --events 100 --keep 'name ~ \"*sorted*\"' -o few.json",
    "keep 100 events, preferring some by name" },
  { 0, 0 },
};

static const char *const WHAT[TK_SHRINK_RUNGS] = { "unwanted events", "args by cost", "Python frames, deepest first",
                                                   "stack samples, evenly", "adjacent spans merged", "shortest spans",
                                                   "counter samples", "kernels, collectives, steps" };

/* Prints the last line: the output's size, its size without shrinking, and the size of the input's own file (-1 = unknown). */
static void print_sizes(FILE *to, const struct shared *s, const struct tk_shrink_report *r, const char *output, int64_t file) {
  char a[64], b[64], size[32];
  fputs(s->dry_run ? "would write " : "wrote ", to);
  tty_string(to, run_is_stdout(output) ? "to standard output" : output);
  tk_print_size(r->saved.bytes, size);
  fprintf(to, ": %s of %s, %s", tty_count(r->saved.events, a), tty_counted(r->events_before, "event", b), size);
  if (r->level) fprintf(to, " at compression level %d", r->level);
  tk_print_size(r->before, size);
  if (r->before != r->events_before) fprintf(to, "; %s without shrinking", size);
  if (file >= 0) tk_print_size((uint64_t)file, size), fprintf(to, "; input: %s", size);
  fputc('\n', to);
}

static void print_shrink_text(FILE *to, const struct tk_shrink_report *r) {
  char a[64], b[64], size[32], seconds[32];
  tk_print_size(r->passthrough, size);
  if (r->whole_ns)
    fprintf(to, "%-9s the first %s of %s s, with their packets\n", "time", tty_fraction((double)r->kept_ns * 1e-9, 6, a),
            tty_fraction((double)r->whole_ns * 1e-9, 6, b));
  if (r->passthrough) fprintf(to, "%-9s %-29s %s\n", "blocks", "not shown by other formats", size);
  for (int i = 0; i < TK_SHRINK_RUNGS; i++) {
    const struct tk_shrink_rung *g = &r->rungs[i];
    if (!g->events && !g->args) continue;
    fprintf(to, "%-9s %-29s", g->name, WHAT[i]);
    if (g->events) fprintf(to, " %s, %s s", tty_counted(g->events, "event", a), tty_fraction(g->seconds, 6, seconds));
    if (g->args) fprintf(to, " of %s", tty_counted(g->args, "event", a));
    if (g->bytes) tk_print_size(g->bytes, size), fprintf(to, " -> %s", size);
    fputc('\n', to);
  }
}

/* The input: its trace, the size of its own file (-1 = none), and the counts of the redaction. */
struct shrinking {
  struct tk_trace *t;
  int64_t file;
  const struct tk_redact_report *redacted;
};

static void put_rung(struct json *j, const struct tk_shrink_rung *g) {
  json_open(j, NULL, '{');
  json_string(j, "rung", g->name);
  json_uint(j, "events", g->events);
  json_uint(j, "args", g->args);
  if (g->bytes) json_uint(j, "bytes", g->bytes);
  json_close(j, '}');
}

static void print_shrink_json(FILE *to, const struct shared *s, const struct shrinking *in, const struct tk_shrink_report *r,
                              const char *output) {
  struct json j = { .to = to };
  json_open(&j, NULL, '{');
  json_string(&j, "input", in->t->source);
  json_string(&j, "output", output);
  json_bool(&j, "dry_run", s->dry_run);
  if (in->file >= 0) json_uint(&j, "input_bytes", (uint64_t)in->file);
  else json_null(&j, "input_bytes");
  json_uint(&j, "before", r->before);
  json_uint(&j, "target", r->target);
  json_uint(&j, "events_before", r->events_before);
  json_uint(&j, "written_events", r->saved.events);
  json_uint(&j, "written_flow_points", r->saved.flow_points);
  if (s->redact.asked) redact_json(&j, in->redacted);
  write_losses_json(&j, &r->saved);
  json_uint(&j, "bytes", r->saved.bytes);
  if (r->estimate) json_uint(&j, "estimate", r->estimate);
  if (r->passthrough) json_uint(&j, "passthrough", r->passthrough);
  if (r->whole_ns) json_uint(&j, "kept_ns", r->kept_ns), json_uint(&j, "whole_ns", r->whole_ns);
  json_uint(&j, "coalesced", r->coalesced);
  json_uint(&j, "broken_flows", r->broken_flows);
  json_open(&j, "rungs", '[');
  for (int i = 0; i < TK_SHRINK_RUNGS; i++)
    if (r->rungs[i].events || r->rungs[i].args) put_rung(&j, &r->rungs[i]);
  json_close(&j, ']');
  json_close(&j, '}');
}

/* Parses a count: "500000", "2M", "1.5k". Prefixes are powers of 1000, as in the sizes "2MB" and "1.5kB". */
static bool read_count(const char *text, uint64_t *n) {
  char size[64];
  size_t digits = strspn(text, "0123456789.");
  bool scaled = text[digits] && strchr("kKMGT", text[digits]) && !text[digits + 1];
  if (digits > 40 || (text[digits] && !scaled)) return false;
  snprintf(size, sizeof size, "%s%s", text, scaled ? "B" : "");
  return tk_parse_size(size, n) && *n > 0;
}

/* Reads the options into `o`. Returns an error message; NULL if the options are valid. */
static const char *read_options(const struct params *p, struct tk_shrink_options *o) {
  int targets = (p->to != 0) + (p->events != NULL) + (p->percent != NULL) + p->lossless;
  const char *end;
  o->bytes = p->to;
  o->lossless = p->lossless;
  o->hard = p->hard;
  o->keep = p->keep;
  o->drop = p->drop;
  o->ladder = p->ladder;
  if (p->events && !read_count(p->events, &o->events)) return "--events: invalid number of events; expected a number such as "
                                                              "500000 or 2M";
  if (p->percent) o->percent = decimal_read(p->percent, &end), end += *end == '%';
  if (p->percent && (*end || !(o->percent > 0 && o->percent <= 100))) return "--percent: invalid number; expected a number "
                                                                             "above 0, up to 100";
  return targets == 1 ? NULL : targets ? "--to, --events, --percent and --lossless cannot be "
                                         "combined" : "no target given: use --to SIZE, --events N, --percent N or --lossless";
}

/* False, with err, if --keep or --drop is not a valid expression. */
static bool check_exprs(const struct params *p, struct tk_err *err) {
  const char *exprs[] = { p->keep ? p->keep : p->drop, p->keep ? p->drop : NULL, NULL };
  return tk_filter_check(&(struct tk_filter_options){ .where = exprs }, err);
}

static int shrink(const struct params *p, const struct shrinking *in, const char *output, struct tk_shrink_options *options) {
  const struct shared *s = &p->shared;
  struct progress progress;
  struct tk_shrink_report report;
  struct tk_err err = { 0 };
  FILE *to = run_report_to(s, output);
  options->save = run_save_options(s, "tracekit shrink", &progress);
  progress_start(&progress, "writing", output, s->quiet ? -1 : s->progress);
  bool ok = tk_shrink(in->t, output, options, &report, &err);
  progress_end(&progress);
  if (!ok) return run_fail(&err);
  write_losses_of(s, in->t, output, &report.saved);
  if (s->redact.asked && !s->json && !s->quiet) redact_text(to, in->redacted, (enum tk_redact_names)s->redact.names.value);
  if (s->json) print_shrink_json(to, s, in, &report, output);
  else if (!s->quiet) print_shrink_text(to, &report), print_sizes(to, s, &report, output, in->file);
  return STATUS_DONE;
}

static int cmd_shrink(const void *params, const struct operands *in) {
  const struct params *p = params;
  struct tk_shrink_options options = { 0 };
  struct tk_err err = { 0 };
  int status;
  const char *wrong = read_options(p, &options);
  if (wrong) return run_usage("shrink", wrong);
  if (!check_exprs(p, &err)) return run_fail(&err);
  const char *input = run_input("shrink", in, &status);
  const char *output = input ? run_trace_output(&p->shared, "shrink", in, &status) : NULL;
  struct redacting r;
  if (!output || !redact_begin(&p->shared, "shrink", in, &r, &status)) return status;
  struct shrinking from = { .t = run_load(&p->shared, input, &status), .redacted = &r.report };
  bool ok = !from.t || run_file_size(input, &from.file, &err);
  ok = ok && (!from.t || !p->shared.redact.asked || tk_redact(from.t, &r.options, &r.report, &err));
  if (!ok) status = run_fail(&err);
  else if (from.t) status = shrink(p, &from, output, &options);
  tk_free(from.t);
  return redact_end(&r, output, status);
}

const struct command command_shrink = {
  .name = "shrink",
  .group = GROUP_CUT,
  .summary = "shrink a trace to a size; the output records removed events",
  .operands = "[INPUT]",
  .description =
    "Writes a trace so that the file is just within a size limit. The first steps remove no events: another format, better "
    "compression, and dropping data that only the input format understands (see --no-passthrough). If a Perfetto trace "
    "consists mostly of system packets, such as ftrace events, the trace is cut at the latest time that fits; everything "
    "before that time is kept with all its packets. Otherwise the following steps are applied in order, each only as far as "
    "needed: remove args, the most expensive first (but never args that connect events); remove Python stack frames, the "
    "deepest first; merge adjacent spans with the same name and parent into one span, with the args count and total "
    "(microseconds); remove the shortest spans, and up to nine of ten counter samples; remove more counter samples. Kernels, "
    "copies, collectives, steps and annotations are kept unless --hard is given.\n"
    "\n"
    "A merged span lasts exactly as long as its parts together. Spans are merged only if the gaps between them add up to at most "
    "1/8 of that time. Calls of a device's runtime and the profiler's overhead are never merged.\n"
    "\n"
    "Removed events are counted by process, kind of track and name in a table in the metadata of the output "
    "(tracekit.shrink.dropped). The durations in this table and of the remaining spans add up to those of the original. Every "
    "command that reads the output prints a note that the trace was shrunk. If the limit cannot be met, the command fails and "
    "prints the smallest possible size.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = 1,
  .run = cmd_shrink,
};
