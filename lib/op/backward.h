/* backward.h - links each operator of PyTorch's backward pass to the operator of the forward pass whose gradient it computes. */
#ifndef OP_BACKWARD_H
#define OP_BACKWARD_H

#include "graph/kind.h"

/* Returns an array by event, which the caller frees: for an operator of the backward pass, its operator of the forward pass; 0 = none
 * or unknown. Returns NULL if memory runs out. */
tk_id *backward_find(const struct kinds *kinds, struct mem *mem);

#endif
