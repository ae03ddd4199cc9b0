/* diff.c - implements tk_diff, tk_compare and tk_diff_traces. The first two load the traces of all runs one after the other. Passes the
 * rank of each track to the analysis. */
#include "analysis/runs.h"
#include "analysis/diff.h"

#include <stdio.h>

#include "base/err.h"
#include "base/options.h"
#include "base/os.h"
#include "graph/diagnostics.h"
#include "graph/trace.h"
#include "source/identity.h"

/* Computes the figures that `tracekit report` prints for the trace, and adds them to the run. */
static bool add_figures(struct tk_trace *t, const struct tk_diff_options *opt, struct tk_compare_run *run, struct tk_err *err) {
  const struct tk_report_options options = {.size = sizeof options, .load = opt->load, .select = opt->select, .brief = true};
  struct tk_report *figures = NULL;
  const bool ok = tk_report_trace(t, &options, &figures, err);
  if (ok) runs_figures(run, figures);
  tk_report_free(figures);
  return ok;
}

static bool add_trace(struct tk_trace *t, int side, const struct tk_diff_options *opt, struct tk_diff_report *r, struct tk_err *err) {
  struct mem mem = {0};
  struct track_origin *origins = identity_of_tracks(t, &mem);
  diagnostics_add_notes(r->notes, t, t->source);
  const bool ok = origins ? diff_add(r, t, origins, side, err) : err_set(err, TK_ELIMIT, "out of memory");
  identity_free_tracks(origins, &mem);
  return ok && add_figures(t, opt, &r->runs[side], err);
}

/* State of a comparison that can leave out unreadable inputs. */
struct reading {
  const struct tk_diff_options *opt;
  struct tk_diagnostics *notes;
  size_t n_inputs;       /* number of inputs of the comparison; at least two must remain */
  struct tk_err first;   /* why the first input was left out */
  struct tk_err *err;
};

/* Loads an input. Returns NULL if it cannot be read. Then *stop is true if the comparison must fail, and false if it continues without
 * the input, with a note. */
static struct tk_trace *load_input(struct reading *r, struct tk_sources *s, size_t i, bool *stop) {
  struct tk_trace *t = tk_sources_load(s, i, &r->opt->load, r->err);
  *stop = !t && (!r->opt->keep_going || r->err->code == TK_EINTERRUPTED);
  if (*stop && r->n_inputs > 2 && r->err->code != TK_EINTERRUPTED) r->err->option = TK_OPTION_KEEP_GOING;
  if (t || *stop) return t;
  diagnostics_say_left_out(r->notes, s->inputs[i].name, r->err->msg);
  if (!r->first.code) r->first = *r->err;
  err_clear(r->err);
  return NULL;
}

/* Fails because fewer than two runs of the comparison could be read. */
static bool too_few(const struct reading *r) {
  return err_set(r->err, r->first.code ? r->first.code : TK_EFORMAT, "fewer than two runs can be read: %s", r->first.msg);
}

static bool add_input(struct reading *reading, struct tk_sources *s, size_t i, int side, struct tk_diff_report *r) {
  bool stop;
  struct tk_trace *t = load_input(reading, s, i, &stop);
  const bool ok = t ? add_trace(t, side, reading->opt, r, reading->err) : !stop;
  tk_free(t);
  return ok;
}

/* Checks the options and copies them to *own. */
static bool take_options(struct tk_diff_options *own, const struct tk_diff_options *opt, struct tk_err *err) {
  if (!TAKE_OPTIONS(own, opt, err) || !RESERVED(&own->select, err)) return false;
  own->load.max_memory = os_memory_limit(own->load.max_memory);
  if (own->by == TK_TOP_ARG && !own->arg) return err_set(err, TK_EUSAGE, "grouping by an arg needs its key, such as arg.KEY");
  if (own->by_launch && (own->by_path || own->by != TK_TOP_NAME))
    return err_set(err, TK_EUSAGE, "kernels can be matched by launch only if rows are grouped by name");
  if (own->by == TK_TOP_KIND) return err_set(err, TK_EUSAGE, "grouping by kind is not supported: an event can have several kinds");
  return true;
}

/* Checks and copies the options (take_options), then creates the report. */
static bool open_report(struct tk_diff_options *own, const struct tk_diff_options *opt, struct tk_diff_report **report,
                        struct tk_err *err) {
  return NEW_REPORT(report, err) && take_options(own, opt, err) && diff_open(*report, own, err);
}

bool tk_diff(struct tk_sources *before, struct tk_sources *after, const struct tk_diff_options *opt, struct tk_diff_report **report,
             struct tk_err *err) {
  struct tk_sources *const sides[] = {before, after};
  struct tk_diff_options own;
  struct tk_err ours;
  if (!err) err = &ours;
  err_clear(err);
  bool ok = open_report(&own, opt, report, err);
  struct reading r = {.opt = &own, .notes = ok ? (*report)->notes : NULL, .n_inputs = before->n + after->n, .err = err};
  for (int side = 0; ok && side < 2; side++)
    for (size_t i = 0; ok && i < sides[side]->n; i++) ok = add_input(&r, sides[side], i, side, *report);
  if (ok && own.keep_going && !((*report)->inputs[0] && (*report)->inputs[1])) ok = too_few(&r);
  return ok && diff_close(*report, err);
}

bool tk_diff_traces(struct tk_trace *before, struct tk_trace *after, const struct tk_diff_options *opt, struct tk_diff_report **report,
                    struct tk_err *err) {
  struct tk_diff_options own;
  struct tk_err ours;
  if (!err) err = &ours;
  err_clear(err);
  return open_report(&own, opt, report, err) && trace_is_sealed(before, err) && trace_is_sealed(after, err) &&
         add_trace(before, 0, &own, *report, err) && add_trace(after, 1, &own, *report, err) && diff_close(*report, err);
}

/* ---- several runs ---- */

static bool add_to_run(struct reading *reading, struct tk_sources *s, size_t i, size_t run, struct tk_compare_report *r) {
  bool stop;
  struct tk_trace *t = load_input(reading, s, i, &stop);
  struct tk_err *err = reading->err;
  struct mem mem = {0};
  if (!t) return !stop;
  struct track_origin *origins = identity_of_tracks(t, &mem);
  diagnostics_add_notes(r->notes, t, t->source);
  const bool ok = origins ? runs_add(r, t, origins, run, err) : err_set(err, TK_ELIMIT, "out of memory");
  identity_free_tracks(origins, &mem);
  const bool done = ok && add_figures(t, reading->opt, &r->runs[run], err);
  tk_free(t);
  return done;
}

bool tk_compare(struct tk_sources *const *runs, const char *const *names, size_t n, const struct tk_diff_options *opt,
                struct tk_compare_report **report, struct tk_err *err) {
  struct tk_diff_options own;
  struct tk_err ours;
  if (!err) err = &ours;
  err_clear(err);
  if (!NEW_REPORT(report, err) || !take_options(&own, opt, err)) return false;
  if (n == 0) return err_set(err, TK_EUSAGE, "no run given");
  if (n > UINT32_MAX / 2) return err_set(err, TK_EUSAGE, "too many runs");
  bool ok = runs_open(*report, &own, names, n, err);
  struct reading r = {.opt = &own, .notes = (*report)->notes, .err = err};
  for (size_t run = 0; run < n; run++) r.n_inputs += runs[run]->n;
  for (size_t run = 0; ok && run < n; run++)
    for (size_t i = 0; ok && i < runs[run]->n; i++) ok = add_to_run(&r, runs[run], i, run, *report);
  if (ok && own.keep_going) runs_remove_unread(*report);
  if (ok && own.keep_going && (*report)->n_runs < (n < 2 ? n : 2)) ok = too_few(&r);
  return ok && runs_close(*report, err);
}
