/* tree_device.h - device work of the nodes of a tree. Work belongs to the node of the innermost span around its launch, and to all
 * nodes above. */
#ifndef ANALYSIS_TREE_DEVICE_H
#define ANALYSIS_TREE_DEVICE_H

#include "tree_nodes.h"

/* Adds work to the nodes of the spans around its launch. Also measures all other work, unless the tree shows layers. Returns false if
 * memory runs out. */
bool tree_device_add(struct tree *tree);
/* True if the work belongs to no node. If only events in steps count, the launch must also be in a step (the work itself, if its launch
 * is unknown). */
bool tree_device_rests(const struct tree *tree, tk_id work);
/* Computes the device time of each node, once the nodes are in order. Returns false if memory runs out. */
bool tree_device_sum(struct tree *tree);

#endif
