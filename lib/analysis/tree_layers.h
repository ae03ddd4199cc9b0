/* tree_layers.h - device time by layer. Paths of the tree are scopes in the args of XLA's work; if there are none, nested modules; if
 * there are none, annotations. */
#ifndef ANALYSIS_TREE_LAYERS_H
#define ANALYSIS_TREE_LAYERS_H

#include "tree_nodes.h"

/* Returns the kind of layers in a trace with this work: scopes; if there are none, modules; if there are none, annotations (even if the
 * trace has none). Sets *path to the key of the arg that contains the scopes. */
enum tree_layers tree_layers_of(const struct tk_trace *t, const struct works *works, tk_id *path);
/* Chooses the kind of layers for this trace. Returns false if memory runs out. */
bool tree_layers_choose(struct tree *tree, const struct works *works);
/* True if the span is a layer. */
bool tree_layers_holds(const struct tree *tree, const struct tk_event *e);
/* Assigns operators of PyTorch's backward pass to a row "(backward)" below the layer of their forward pass, if the trace links both.
 * Returns false if memory runs out. */
bool tree_layers_hang_backward(struct tree *tree);
/* If layers are scopes, adds all device work to its layers; otherwise, only adds work outside of all layers to a row of its own. Also
 * measures the time in which any work ran. Returns false if memory runs out. */
bool tree_layers_add(struct tree *tree, const struct works *works);
/* Counts the steps that apply to the work and begin in the selected range. A step that several devices mark is counted once. Returns
 * false if memory runs out. */
bool tree_layers_count_steps(struct tree *tree, const struct works *works);

#endif
