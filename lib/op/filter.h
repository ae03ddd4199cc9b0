/* filter.h - extracts the events that a filter selects; the result is a valid graph. */
#ifndef OP_FILTER_H
#define OP_FILTER_H

#include "match.h"
#include "window.h"

struct filter_plan {
  const struct tk_filter_options *opt;
  const struct track_origin *origins; /* by track: its rank and host, or NULL */
  const struct window *cut;           /* time window to apply in addition to the one in the options, or NULL */
  const uint32_t *part_of;            /* by track: number of its part; NULL = keep all tracks */
  uint32_t part;                      /* number of the part to keep */
  const struct match *match;          /* a match without tests for the same trace, with steps already linked to launches; NULL = not
                                       * prepared */
};

/* Filters `t` into `to`, which is either t itself or becomes a view of t (graph/subset.h). Returns false with err on failure. */
bool op_filter(struct tk_trace *t, struct tk_trace *to, const struct filter_plan *plan, struct tk_filter_report *report,
               struct tk_err *err);

#endif
