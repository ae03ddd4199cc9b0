/* tree_waiting.h - assigns work of autograd threads to the spans in which another thread waits for these threads. */
#ifndef ANALYSIS_TREE_WAITING_H
#define ANALYSIS_TREE_WAITING_H

#include "tree_nodes.h"

/* Assigns work that PyTorch's autograd threads launch outside of all selected spans to the selected span that another thread of the
 * process has open, because that thread called backward() and waits for them. Returns false if memory runs out. */
bool tree_waiting_hang(struct tree *tree);

#endif
