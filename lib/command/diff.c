/* diff.c - implements tk_diff, which loads the traces of both sides one after the other, and tk_diff_traces; passes the rank of
 * each track to the analysis. */
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

/* Checks the options, copies them to *own and opens the report. */
static bool open_report(struct tk_diff_options *own, const struct tk_diff_options *opt, struct tk_diff_report *report,
                        struct tk_err *err) {
  *report = (struct tk_diff_report){.n_rows = 0};
  if (!TAKE_OPTIONS(own, opt, err) || !RESERVED(&own->select, err)) return false;
  own->load.max_memory = os_memory_limit(own->load.max_memory);
  if (own->by == TK_TOP_ARG && !own->arg) return err_set(err, TK_EUSAGE, "missing key of the arg; use arg.KEY");
  if (own->by == TK_TOP_KIND) return err_set(err, TK_EUSAGE, "grouping by kind is not supported: an event can have several kinds");
  return diff_open(report, own, err);
}

bool tk_diff(struct tk_sources *before, struct tk_sources *after, const struct tk_diff_options *opt, struct tk_diff_report *report,
             struct tk_err *err) {
  struct tk_sources *const sides[] = {before, after};
  struct tk_diff_options own;
  struct tk_err ours;
  if (!err) err = &ours;
  err_clear(err);
  bool ok = open_report(&own, opt, report, err);
  for (int side = 0; ok && side < 2; side++)
    for (size_t i = 0; ok && i < sides[side]->n; i++) ok = add_input(sides[side], i, side, &own, report, err);
  return ok && diff_close(report, err);
}

bool tk_diff_traces(struct tk_trace *before, struct tk_trace *after, const struct tk_diff_options *opt, struct tk_diff_report *report,
                    struct tk_err *err) {
  struct tk_diff_options own;
  struct tk_err ours;
  if (!err) err = &ours;
  err_clear(err);
  return open_report(&own, opt, report, err) && trace_is_sealed(before, err) && trace_is_sealed(after, err) &&
         add_trace(before, 0, report, err) && add_trace(after, 1, report, err) && diff_close(report, err);
}
