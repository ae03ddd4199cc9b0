/* tree.h - sums up time by path of names. */
#ifndef ANALYSIS_TREE_H
#define ANALYSIS_TREE_H

#include "graph/origin.h"
#include "graph/trace.h"
#include "work.h"

/* Results of an earlier analysis of the trace, which are reused. works: work with launches; needed only for layers. mem: memory for the
 * analysis; its limit also applies to the result. */
struct tree_found {
  const struct match *match;
  const struct scope *scope;
  const struct works *works;
  struct mem *mem;
};

/* Both fill `report`, which the caller frees with tk_tree_report_free even on failure. tree_of_found uses the selection and
 * the work in `found` instead of finding them. */
bool tree_of(struct tk_trace *t, const struct tk_tree_options *opt, const struct track_origin *origins, struct tk_tree_report *report,
             struct tk_err *err);
bool tree_of_found(struct tk_trace *t, const struct tk_tree_options *opt, const struct tree_found *found, struct tk_tree_report *report,
                   struct tk_err *err);

#endif
