/* tree_layers.h - device time by layer: the paths of a tree are the scopes that XLA states for its work, or else nested modules, or
 * else annotations. */
#ifndef ANALYSIS_TREE_LAYERS_H
#define ANALYSIS_TREE_LAYERS_H

#include "tree_nodes.h"

/* Returns the kind of layers in a trace with this work: scopes or, without scopes, modules or, without modules, annotations,
 * even if the trace has none. *path: key of the arg that contains the scopes. */
enum tree_layers tree_layers_of(const struct tk_trace *t, const struct works *works, tk_id *path);
/* Decides what counts as a layer in this trace. Returns false if memory runs out. */
bool tree_layers_choose(struct tree *tree, const struct works *works);
/* True if the span is a layer. */
bool tree_layers_holds(const struct tree *tree, const struct tk_event *e);
/* Gives the operators of PyTorch's backward pass a row "(backward)" below the layer of their forward pass, where the trace links
 * both. Returns false if memory runs out. */
bool tree_layers_hang_backward(struct tree *tree);
/* Adds the work of devices to its scopes if these are the layers; otherwise adds the work outside of all layers. Also
 * measures the time in which any work ran. Returns false if memory runs out. */
bool tree_layers_add(struct tree *tree, const struct works *works);
/* Counts the steps that divide the work and begin in the selected range; a step that several devices mark counts once. Returns false
 * if memory runs out. */
bool tree_layers_count_steps(struct tree *tree, const struct works *works);

#endif
