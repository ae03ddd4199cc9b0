/* rebase.c - tracekit rebase: shifts the events of a trace in time. */
#include "commands.h"
#include "print/tty.h"
#include "shared/write.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct params {
  struct shared shared;
  const char *to, *at, *scale;
  int64_t shift;
  int nth;
  bool to_zero, absolute;
};

#define FIELD(field) offsetof(struct params, field)

static const struct opt opts[] = {
  { OPT_FLAG, 0, "to-zero", 0,
    "put the first event at 0; with several inputs, the earliest event of all", FIELD(to_zero), 0, 0, 0 },
  { OPT_STRING, 0, "to", "TIME",
    "put the first event at this time: microseconds, or a number with a unit", FIELD(to), 0, 0, 0 },
  { OPT_STRING, 0, "at", "NAME", "put the first event with this name (or glob) at 0", FIELD(at), 0, 0, 0 },
  { OPT_INT, 0, "nth", "N", "with --at: put the Nth event at 0 instead of the first", FIELD(nth), 0, 1, 2000000000 },
  { OPT_TIME, 0, "shift", "TIME", "shift all events by this time, such as 1.5ms or -20us", FIELD(shift), 0, 0, 0 },
  { OPT_FLAG, 0, "absolute", 0, "write times since the Unix epoch instead of since a base time", FIELD(absolute), 0, 0, 0 },
  { OPT_STRING, 0, "scale", "FACTOR",
    "multiply all times since the first event by this factor: 0.99998, or -20ppm for a fast clock", FIELD(scale), 0, 0, 0 },
  ROWS_WRITE,
  ROW_JSON,
  ROW_KEEP_GOING,
  ROWS_READ,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit rebase trace.json --to-zero -o zero.json", "put the first event at 0" },
  { "tracekit rebase trace.json --shift -1.5ms -o shifted.json.gz", "compensate for a clock that was 1.5 ms fast" },
  { "tracekit rebase trace.json --at '*' --nth 3 -o third.json", "put the third event at 0" },
  { 0, 0 },
};

static struct tk_rebase_options asked(const struct params *p) {
  return (struct tk_rebase_options){ .to_zero = p->to_zero,
                                     .to = p->to,
                                     .at = p->at,
                                     .nth = (uint32_t)p->nth,
                                     .absolute = p->absolute,
                                     .scale = p->scale,
                                     .shift = p->shift };
}

static int rebase_one(const struct params *p, const char *input, const char *output, const struct tk_rebase_options *options) {
  struct tk_err err = { 0 };
  int status;
  struct tk_trace *t = run_load(&p->shared, input, &status);
  if (!t) return status;
  tk_id last = t->n_notes;
  bool ok = tk_rebase(t, options, &err);
  run_notes_after(&p->shared, input, t, last);
  if (ok) status = write_trace(&p->shared, "rebase", t, output, NULL);
  else status = run_fail(&err);
  tk_free(t);
  return status;
}

/* ---- several inputs: one base, a folder of outputs ---- */

/* Returns false with a message if trace i has a different clock than the first input, so that their times cannot be compared. */
static bool same_clock(const struct tk_trace *t, enum tk_clock clock, size_t i, int *status) {
  if (i == 0 || t->clock == clock) return true;
  tty_say("%s: has a different clock than the first input, so the inputs have no common first event", t->source);
  *status = STATUS_INPUT;
  return false;
}

/* Reads all inputs, one in memory at a time, to find their earliest event, which becomes the base of all outputs. */
static int common_base(const struct params *p, const struct operands *in, struct tk_rebase_options *o) {
  struct shared quiet = p->shared;
  int status = STATUS_DONE;
  enum tk_clock clock = TK_CLOCK_UNKNOWN;
  quiet.quiet = 1;
  for (size_t i = 0; i < in->n && status == STATUS_DONE; i++) {
    struct tk_trace *t = run_load(&quiet, in->v[i], &status);
    struct tk_summary s;
    if (!t) return status;
    if (!tk_summarise(t, &s, NULL)) {
      tk_free(t);
      return run_no_memory();
    }
    int64_t first = t->origin_ns + (s.start >= 0 ? s.start / 1000 : -((999 - s.start) / 1000));
    if (same_clock(t, clock, i, &status)) clock = t->clock;
    if (i == 0 || first < o->base_ns) o->base_ns = first;
    tk_free(t);
  }
  o->to_zero = false;
  o->has_base = true;
  return status;
}

/* Returns the last component of a path, or the name of an archive member. Removes trailing slashes from `path`. */
static const char *leaf_of(char *path) {
  size_t n = strlen(path);
  while (n > 1 && path[n - 1] == '/') path[--n] = 0;
  char *slash = strrchr(path, '/'), *leaf = slash && slash[1] ? slash + 1 : path, *colon = strrchr(leaf, ':');
  return colon ? colon + 1 : leaf;
}

/* Returns the path of an output: "out/rank3.json.gz" for "a/rank3.json.gz", for "logs.zip:rank3.json.gz" and, if the format is
 * JSON, for "a/rank3.pftrace.gz". If `format` is NULL, the name of the input determines the format. NULL if out of memory. */
static char *name_output(const char *folder, const char *input, const char *format) {
  char *path = strdup(input), *output = NULL;
  if (!path) return NULL;
  const char *leaf = leaf_of(path), *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
  struct tk_path own = tk_path_of(leaf), asked = tk_format_of(format ? format : "");
  bool same = own.format && (!format || own.format == asked.format);
  const char *ending = same ? leaf + own.stem : asked.format->ending, *packing = *own.packing ? own.packing : asked.packing;
  int n_ending = same ? (int)(own.end - own.stem) : (int)strlen(ending);
  size_t size = strlen(folder) + strlen(leaf) + strlen(ending) + sizeof "/.zst";
  if ((output = malloc(size)))
    snprintf(output, size, "%s%s%.*s%.*s%s", folder, slash, (int)own.stem, leaf, n_ending, ending, packing);
  free(path);
  return output;
}

/* Returns the reason why rebase cannot process this input together with others; NULL if it can. */
static const char *why_not(const struct params *p, const char *input) {
  struct stat st;
  if (run_is_stdout(input)) return "standard input has no file name for its output; give an input file";
  if (p->to_zero && stat(input, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
    return "can be read only once, but --to-zero with several inputs reads twice; give a file";
  return p->shared.format || tk_path_of(input).format ? NULL : "unknown extension; give a format with -f (see -f help)";
}

static bool is_among(char *const *names, size_t n, const char *name) {
  for (size_t i = 0; i < n; i++)
    if (!strcmp(names[i], name)) return true;
  return false;
}

/* Names the outputs, and checks all inputs and outputs before any input is read. */
static int plan(const struct params *p, const struct operands *in, const char *folder, char **outputs) {
  struct shared one = p->shared;
  int status = STATUS_DONE;
  for (size_t i = 0; i < in->n; i++) {
    const char *why = why_not(p, in->v[i]);
    if (why) {
      tty_say("rebase: %s: %s", in->v[i], why);
      return STATUS_USAGE;
    }
    outputs[i] = name_output(folder, in->v[i], p->shared.format);
    if (!outputs[i]) return run_no_memory();
    if (is_among(outputs, i, outputs[i]))
      return run_usage("rebase", "two inputs have the same name, so they would share an output file");
  }
  for (size_t i = 0; i < in->n; i++) {
    one.output = outputs[i];
    if (!run_trace_output(&one, "rebase", in, &status)) return status;
  }
  return STATUS_DONE;
}

static int rebase_each(const struct params *p, const struct operands *in, char **outputs) {
  struct tk_rebase_options options = asked(p);
  int status = p->to_zero ? common_base(p, in, &options) : STATUS_DONE;
  size_t done = 0;
  for (; done < in->n && status == STATUS_DONE; done += status == STATUS_DONE)
    status = rebase_one(p, in->v[done], outputs[done], &options);
  for (size_t i = 0; i < done && status != STATUS_DONE && !p->shared.dry_run; i++)
    tty_say("%s: was written before the error", outputs[i]);
  return status;
}

static int several(const struct params *p, const struct operands *in) {
  struct stat st;
  const char *folder = p->shared.output;
  if (!folder && in->n == 2 && stat(in->v[1], &st) && tk_path_of(in->v[1]).format)
    return run_usage("rebase", "the second file does not exist; to write to it, put -o before its name");
  if (!folder || stat(folder, &st) || !S_ISDIR(st.st_mode))
    return run_usage("rebase", "with several inputs, -o must name an existing folder");
  char **outputs = calloc(in->n, sizeof *outputs);
  if (!outputs) return run_no_memory();
  int status = plan(p, in, folder, outputs);
  if (status == STATUS_DONE) status = rebase_each(p, in, outputs);
  for (size_t i = 0; i < in->n; i++) free(outputs[i]);
  free(outputs);
  return status;
}

static bool asks_anything(const struct params *p) {
  return p->to_zero || p->to || p->at || p->absolute || p->scale || p->shift || p->nth;
}

static int cmd_rebase(const void *params, const struct operands *in) {
  const struct params *p = params;
  struct tk_rebase_options options = asked(p);
  struct tk_err err = { 0 };
  int status;
  if (!asks_anything(p)) return run_usage("rebase", "no shift given: use --to-zero, --to, --at, --shift, --scale or --absolute");
  if (!tk_rebase_check(&options, &err)) return run_fail(&err);
  if (in->n > 1) return several(p, in);
  const char *input = run_input("rebase", in, &status);
  const char *output = input ? run_trace_output(&p->shared, "rebase", in, &status) : NULL;
  return output ? rebase_one(p, input, output, &options) : status;
}

const struct command command_rebase = {
  .name = "rebase",
  .group = GROUP_COMBINE,
  .summary = "shift a trace in time: to zero, to an event, by an offset or by a scale",
  .operands = "[INPUT...]",
  .description =
    "Shifts all events of a trace in time, exact to the picosecond, and writes the trace as convert does. If the trace records "
    "its time base (the absolute time of its zero), only the base changes, and every event keeps its absolute time. In other "
    "traces, and with --shift and --scale, the events move. A time beyond the range of 64-bit picoseconds (106 days from the "
    "start) is an error.\n"
    "\n"
    "With several inputs, --to-zero uses the earliest event of all. The outputs have the names of the inputs, in the folder "
    "given by -o, with the extension of -f if that is given. Inputs with different clocks have no common earliest event, which "
    "is an error.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = ANY_NUMBER,
  .run = cmd_rebase,
};
