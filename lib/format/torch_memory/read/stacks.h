/* stacks.h - names allocations after the code that made them. */
#ifndef FORMAT_TORCH_MEMORY_READ_STACKS_H
#define FORMAT_TORCH_MEMORY_READ_STACKS_H

#include "snapshot.h"

struct stacks {
  const struct snapshot *s;
  struct map names, texts; /* number of a list -> string of the graph */
  struct buf text;
};
void stacks_init(struct stacks *x, const struct snapshot *s);
void stacks_free(struct stacks *x);

/* Returns "function (file.py:12)" for the innermost Python frame of a stack, or else "aten::mul_Tensor" or "AccumulateGrad" for the
 * innermost operator or node of autograd, as in a backward pass; 0 if the stack has none. An operator that only allocates is used only
 * if the stack has neither of the others. */
tk_id stacks_name(struct stacks *x, uint32_t stack);
/* Returns a JSON array of the Python frames, innermost first, or of all frames if there are no Python frames; 0 without frames. If
 * there are Python frames, C++ frames are left out, because every allocation has dozens of them and they are nearly the same each
 * time. */
tk_id stacks_text(struct stacks *x, uint32_t stack);

#endif
