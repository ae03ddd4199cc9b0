/* diff.c - implements tk_diff and tk_compare, which load the traces of all runs one after the other, and tk_diff_traces; passes the
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

static bool add_trace(struct tk_trace *t, int side, struct tk_diff_report *r, struct tk_err *err) {
  struct mem mem = {0};
  struct track_origin *origins = identity_of_tracks(t, &mem);
  diagnostics_add_notes(r->notes, t, t->source);
  const bool ok = origins ? diff_add(r, t, origins, side, err) : err_set(err, TK_ELIMIT, "out of memory");
  identity_free_tracks(origins, &mem);
  return ok;
}

static bool add_input(struct tk_sources *s, size_t i, int side, const struct tk_diff_options *opt, struct tk_diff_report *r,
                      struct tk_err *err) {
  struct tk_trace *t = tk_sources_load(s, i, &opt->load, err);
  const bool ok = t && add_trace(t, side, r, err);
  tk_free(t);
  return ok;
}

/* Checks the options and copies them to *own. */
static bool take_options(struct tk_diff_options *own, const struct tk_diff_options *opt, struct tk_err *err) {
  if (!TAKE_OPTIONS(own, opt, err) || !RESERVED(&own->select, err)) return false;
  own->load.max_memory = os_memory_limit(own->load.max_memory);
  if (own->by == TK_TOP_ARG && !own->arg) return err_set(err, TK_EUSAGE, "missing key of the arg; use arg.KEY");
  if (own->by_launch && (own->by_path || own->by != TK_TOP_NAME))
    return err_set(err, TK_EUSAGE, "matching by launch needs rows by name");
  if (own->by == TK_TOP_KIND) return err_set(err, TK_EUSAGE, "grouping by kind is not supported: an event can have several kinds");
  return true;
}

/* Does the same and makes the report. */
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
  for (int side = 0; ok && side < 2; side++)
    for (size_t i = 0; ok && i < sides[side]->n; i++) ok = add_input(sides[side], i, side, &own, *report, err);
  return ok && diff_close(*report, err);
}

bool tk_diff_traces(struct tk_trace *before, struct tk_trace *after, const struct tk_diff_options *opt, struct tk_diff_report **report,
                    struct tk_err *err) {
  struct tk_diff_options own;
  struct tk_err ours;
  if (!err) err = &ours;
  err_clear(err);
  return open_report(&own, opt, report, err) && trace_is_sealed(before, err) && trace_is_sealed(after, err) &&
         add_trace(before, 0, *report, err) && add_trace(after, 1, *report, err) && diff_close(*report, err);
}

/* ---- several runs ---- */

/* Adds the figures of the trace that `tracekit report` would print. */
static bool add_figures(struct tk_trace *t, size_t run, const struct tk_diff_options *opt, struct tk_compare_report *r,
                        struct tk_err *err) {
  const struct tk_report_options options = {.size = sizeof options, .load = opt->load, .select = opt->select};
  struct tk_report *figures = NULL;
  const bool ok = tk_report_trace(t, &options, &figures, err);
  if (ok) runs_figures(r, run, figures);
  tk_report_free(figures);
  return ok;
}

static bool add_to_run(struct tk_sources *s, size_t i, size_t run, const struct tk_diff_options *opt, struct tk_compare_report *r,
                       struct tk_err *err) {
  struct tk_trace *t = tk_sources_load(s, i, &opt->load, err);
  if (!t) return false;
  struct mem mem = {0};
  struct track_origin *origins = identity_of_tracks(t, &mem);
  diagnostics_add_notes(r->notes, t, t->source);
  const bool ok = origins ? runs_add(r, t, origins, run, err) : err_set(err, TK_ELIMIT, "out of memory");
  identity_free_tracks(origins, &mem);
  const bool done = ok && add_figures(t, run, opt, r, err);
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
  if (n == 0 || n > UINT32_MAX / 2) return err_set(err, TK_EUSAGE, "a comparison needs at least one run");
  bool ok = runs_open(*report, &own, names, n, err);
  for (size_t run = 0; ok && run < n; run++)
    for (size_t i = 0; ok && i < runs[run]->n; i++) ok = add_to_run(runs[run], i, run, &own, *report, err);
  return ok && runs_close(*report, err);
}
