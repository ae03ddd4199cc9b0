/* tree_device.h - device work of the nodes of a tree: work belongs to the span around its launch, and to all spans around it. */
#ifndef ANALYSIS_TREE_DEVICE_H
#define ANALYSIS_TREE_DEVICE_H

#include "tree_nodes.h"

/* Adds the work that was launched within the spans. If the tree does not show layers, also measures all other work. Returns
 * false if memory runs out. */
bool tree_device_add(struct tree *tree);
/* True if the work belongs to no node. If only steps count, its launch, or the work itself if the launch is unknown, must
 * also be in a step. */
bool tree_device_rests(const struct tree *tree, tk_id work);
/* Computes the device time of each node, once the nodes are in order. Returns false if memory runs out. */
bool tree_device_sum(struct tree *tree);

#endif
