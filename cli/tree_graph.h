/* tree_graph.h - prints a call tree as a flame graph. A node is as wide as its self time plus its children, so nothing
 * overlaps. */
#ifndef CLI_TREE_GRAPH_H
#define CLI_TREE_GRAPH_H

#include "tracekit.h"

/* Print the shown nodes to standard output and leave out the others. Returns false with a message if out of memory. */
bool tree_graph_folded(const struct tk_tree_report *r, const bool *shown);
bool tree_graph_speedscope(const struct tk_tree_report *r, const bool *shown, const char *name);
bool tree_graph_svg(const struct tk_tree_report *r, const bool *shown);

#endif
