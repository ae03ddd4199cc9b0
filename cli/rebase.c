/* rebase.c - tracekit rebase: the same events at other times. */
#include "commands.h"
#include "tty.h"
#include "write.h"

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
  { OPT_FLAG, 0, "to-zero", 0, "print the first event at 0; the earliest of several inputs", FIELD(to_zero), 0, 0, 0 },
  { OPT_STRING, 0, "to", "TIME", "print the first event at this time: microseconds, or a number with a unit", FIELD(to), 0, 0, 0 },
  { OPT_STRING, 0, "at", "NAME", "print the first event of this name (or glob) at 0", FIELD(at), 0, 0, 0 },
  { OPT_INT, 0, "nth", "N", "of --at: not the first but the Nth", FIELD(nth), 0, 1, 2000000000 },
  { OPT_TIME, 0, "shift", "TIME", "move all events by this much, such as 1.5ms or -20us", FIELD(shift), 0, 0, 0 },
  { OPT_FLAG, 0, "absolute", 0, "print times since the epoch instead of since a base time", FIELD(absolute), 0, 0, 0 },
  { OPT_STRING, 0, "scale", "FACTOR", "stretch all times: 0.99998, or -20ppm for a fast clock", FIELD(scale), 0, 0, 0 },
  ROWS_WRITE,
  ROW_JSON,
  ROWS_READ,
  ROW_END,
};

static const struct example examples[] = {
  { "tracekit rebase trace.json --to-zero -o zero.json", "start at 0" },
  { "tracekit rebase trace.json --shift -1.5ms -o shifted.json.gz", "the clock was 1.5 ms fast" },
  { "tracekit rebase trace.json --at '*' --nth 3 -o third.json", "the third event is at 0" },
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

/* The first event of each is looked at before any is written: one input in memory at a time. */
static int common_base(const struct params *p, const struct operands *in, struct tk_rebase_options *o) {
  struct shared quiet = p->shared;
  int status = STATUS_DONE;
  enum tk_clock clock = TK_CLOCK_UNKNOWN;
  quiet.quiet = 1;
  for (size_t i = 0; i < in->n; i++) {
    struct tk_trace *t = run_load(&quiet, in->v[i], &status);
    struct tk_summary s;
    if (!t) return status;
    tk_summarise(t, &s);
    int64_t first = t->origin_ns + (s.start >= 0 ? s.start / 1000 : -((999 - s.start) / 1000));
    if (i == 0) clock = t->clock;
    else if (clock != t->clock) tty_say("%s: its clock cannot be compared with that of the first input", in->v[i]);
    if (i == 0 || first < o->base_ns) o->base_ns = first;
    tk_free(t);
  }
  o->to_zero = false;
  o->has_base = true;
  return status;
}

static int rebase_each(const struct params *p, const struct operands *in, const char *folder, const struct tk_rebase_options *o) {
  int status = STATUS_DONE;
  for (size_t i = 0; i < in->n && status == STATUS_DONE; i++) {
    const char *slash = strrchr(in->v[i], '/'), *name = slash ? slash + 1 : in->v[i];
    size_t n = strlen(folder) + strlen(name) + 2;
    char *output = malloc(n);
    if (!output) return tty_say("out of memory"), STATUS_INPUT;
    snprintf(output, n, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    status = rebase_one(p, in->v[i], output, o);
    free(output);
  }
  return status;
}

static bool same_names(const struct operands *in) {
  for (size_t i = 0; i < in->n; i++) {
    const char *a = strrchr(in->v[i], '/');
    for (size_t j = i + 1; j < in->n; j++) {
      const char *b = strrchr(in->v[j], '/');
      if (!strcmp(a ? a + 1 : in->v[i], b ? b + 1 : in->v[j])) return true;
    }
  }
  return false;
}

static int several(const struct params *p, const struct operands *in) {
  struct tk_rebase_options options = asked(p);
  struct stat st;
  const char *folder = p->shared.output;
  int status = STATUS_DONE;
  if (!folder || stat(folder, &st) || !S_ISDIR(st.st_mode)) return run_usage("rebase", "several inputs: -o names an existing folder");
  if (same_names(in)) return run_usage("rebase", "two inputs have the same name: they would be one output");
  if (p->to_zero) status = common_base(p, in, &options);
  return status == STATUS_DONE ? rebase_each(p, in, folder, &options) : status;
}

static int run(const void *params, const struct operands *in) {
  const struct params *p = params;
  struct tk_rebase_options options = asked(p);
  int status;
  if (in->n > 1) return several(p, in);
  const char *input = run_input("rebase", in, &status);
  const char *output = input ? run_output(&p->shared, "rebase", in, &status) : NULL;
  return output ? rebase_one(p, input, output, &options) : status;
}

const struct command command_rebase = {
  .name = "rebase",
  .summary = "move a trace in time: to zero, to an event, by a shift, to another scale",
  .operands = "[INPUT...]",
  .description =
    "Changes the times of all events alike, exact to the picosecond, and writes the trace as convert would. A trace that states its "
    "base time keeps the absolute time of every event: only the base moves. Otherwise, and with --shift and --scale, the events "
    "move. A time beyond the range of 64-bit picoseconds is an error.\n\n"
    "Of several inputs --to-zero takes the earliest event of all; they are written under their own names into the folder -o.",
  .opts = opts,
  .examples = examples,
  .params_size = sizeof(struct params),
  .max_operands = ANY_NUMBER,
  .run = run,
};
