/* filter.h - the part of a graph that a filter asks for, still a valid graph. */
#ifndef OP_FILTER_H
#define OP_FILTER_H

#include "match.h"
#include "window.h"

struct filter_plan {
  const struct tk_filter_options *opt;
  const struct track_origin *origins; /* rank and host by track, or NULL */
  const struct window *cut;           /* beside the options' own, or NULL */
  const uint32_t *part_of;            /* by track: the part that it is of; NULL = all are kept */
  uint32_t part;                      /* ... and the one that is wanted */
};

/* Filters `t` into `to` (t itself, or a view of it: graph/subset.h). */
bool op_filter(struct tk_trace *t, struct tk_trace *to, const struct filter_plan *plan, struct tk_filter_report *report,
               struct tk_err *err);

#endif
