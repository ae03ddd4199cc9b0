/* tree_graph.h - a tree of paths as flame graphs know it.  Widths are self times and those below, so that nothing overlaps. */
#ifndef CLI_TREE_GRAPH_H
#define CLI_TREE_GRAPH_H

#include "tracekit.h"

/* All print the shown nodes on standard output; what is not shown is left out.  False: there was no memory, which is said. */
bool graph_folded(const struct tk_tree_report *r, const bool *shown);
bool graph_speedscope(const struct tk_tree_report *r, const bool *shown, const char *name);
bool graph_svg(const struct tk_tree_report *r, const bool *shown);

#endif
