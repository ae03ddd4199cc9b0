/* derived.h - finds data that tk_derive added. It is not written to an XSpace, because xprof derives it itself and would show
 * it twice. */
#ifndef FORMAT_XPLANE_WRITE_DERIVED_H
#define FORMAT_XPLANE_WRITE_DERIVED_H

#include "writer.h"

/* Finds those parts of a graph that tk_derive added. */
void xplane_find_derived(struct xplane_graph *g, struct mem *mem);

/* Returns the names of the args that tk_derive added to the event; "" = none. */
const char *xplane_derived_args(const struct xplane_graph *g, const struct tk_event *ev);

/* True if `args`, a result of xplane_derived_args, contains the name of the arg, or if the arg is the mark itself. */
bool xplane_is_derived_arg(const struct xplane_graph *g, const char *args, tk_id key);

#endif
