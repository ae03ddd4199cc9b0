/* torch_range.h - reads the names of ranges by which PyTorch marks its operators for other profilers.
 *
 *     aten::mm, seq = 12, op_id = 34, sizes = [[4, 8], [8, 2]], input_op_ids = [(31,0), (33,0)]
 *
 * torch.autograd.profiler.emit_nvtx writes them as NVTX or roctx ranges (getNvtxStr in torch/csrc/profiler/util.cpp); each part after
 * the name may be missing. Such a range is converted to the operator event that Kineto would record: category "cpu_op", the name alone,
 * and the rest as args. */
#ifndef FORMAT_TORCH_RANGE_H
#define FORMAT_TORCH_RANGE_H

#include "graph/trace.h"

struct torch_range {
  tk_id text;           /* the whole name */
  int64_t seq, op;      /* -1 = not stated */
  struct { uint32_t at, n; } sizes, inputs; /* parts of the text; n is 0 if not stated */
};

/* Returns the class of an operator if the text has the form above, otherwise a class with the unchanged text and category. Sets
 * *r to the parts of the text, for torch_range_args. */
tk_id torch_range_class(struct tk_trace *t, tk_id text, tk_id category, struct torch_range *r);

/* Adds the parts of the text after the operator's name as args. Called between args_begin and args_end. */
void torch_range_args(struct tk_trace *t, const struct torch_range *r);

#endif
