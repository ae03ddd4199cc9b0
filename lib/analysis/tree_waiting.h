/* tree_waiting.h - spans around threads that work while another thread waits for them. */
#ifndef ANALYSIS_TREE_WAITING_H
#define ANALYSIS_TREE_WAITING_H

#include "tree_nodes.h"

/* Takes the work that PyTorch's autograd threads launch outside of all selected spans, and puts it into the span in which another
 * thread of the process waits for them, because that thread called backward(). Returns false if memory runs out. */
bool tree_waiting_hang(struct tree *tree);

#endif
