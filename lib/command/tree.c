/* tree.c - implements tk_tree: passes the rank and host of each track to the analysis. */
#include "analysis/tree.h"

#include "base/err.h"
#include "base/options.h"
#include "source/identity.h"

bool tk_tree(struct tk_trace *t, const struct tk_tree_options *opt, struct tk_tree_report **report, struct tk_err *err) {
  struct tk_tree_options options;
  struct mem mem = {0};
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (!NEW_REPORT(report, err) || !trace_is_sealed(t, err)) return false;
  if (!TAKE_OPTIONS(&options, opt, err) || !RESERVED(&options.select, err)) return false;
  opt = &options;
  if (opt->has_by && opt->by == TK_TOP_ARG && !opt->arg) return err_set(err, TK_EUSAGE, "grouping by an arg needs its key, "
                                                                                        "such as arg.KEY");
  if (opt->has_by && opt->by == TK_TOP_KIND) return err_set(err, TK_EUSAGE, "grouping by kind is not supported: an event can "
                                                                            "have several kinds");
  if (opt->layers && (opt->per || opt->path || opt->per_step))
    return err_set(err, TK_EUSAGE, "layers cannot be combined with per, path or per_step");
  struct track_origin *origins = identity_of_tracks(t, &mem);
  bool ok = origins ? tree_of(t, opt, origins, *report, err) : err_set(err, TK_ELIMIT, "out of memory");
  identity_free_tracks(origins, &mem);
  return ok;
}
