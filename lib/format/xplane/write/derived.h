/* derived.h - finds output of tk_derive, which is not written to an XSpace: xprof derives it itself, and would show it
 * twice. */
#ifndef FORMAT_XPLANE_WRITE_DERIVED_H
#define FORMAT_XPLANE_WRITE_DERIVED_H

#include "writer.h"

/* Finds the parts of a graph that tk_derive made; xprof derives them itself. */
void xplane_find_derived(struct xplane_graph *g, struct mem *mem);

/* Returns the names of args that tk_derive added to the event, "" = none. */
const char *xplane_derived_args(const struct xplane_graph *g, const struct tk_event *ev);

/* True if the arg is one of them, or the mark itself. */
bool xplane_is_derived_arg(const struct xplane_graph *g, const char *args, tk_id key);

#endif
