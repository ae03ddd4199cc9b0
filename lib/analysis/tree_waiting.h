/* tree_waiting.h - spans around threads that work while another thread waits for them. */
#ifndef ANALYSIS_TREE_WAITING_H
#define ANALYSIS_TREE_WAITING_H

#include "tree_nodes.h"

/* Puts what PyTorch's autograd threads launch outside of all selected spans into the span in which another thread of the process, which
 * called backward(), waits for them. Returns false if memory runs out. */
bool tree_waiting_hang(struct tree *tree);

#endif
