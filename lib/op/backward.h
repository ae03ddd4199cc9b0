/* backward.h - links the operators of PyTorch's backward pass to the operators of the forward pass that they differentiate. */
#ifndef OP_BACKWARD_H
#define OP_BACKWARD_H

#include "graph/kind.h"

/* Returns an array by event, which the caller frees: the operator of the forward pass; 0 = none, or unknown. Returns NULL if
 * memory runs out. */
tk_id *backward_find(const struct kinds *kinds, struct mem *mem);

#endif
