/* flops.h - floating-point operations and memory traffic of operators, by the shapes and types of their inputs.
 *
 * docs/analysis.md defines the formulas. They describe an ideal execution of the operator: each input is read once, and each output is
 * written once. A multiplication and an addition are two operations. */
#ifndef ANALYSIS_FLOPS_H
#define ANALYSIS_FLOPS_H

#include "op_inputs.h"

struct flops {
  double flops, bytes;
  bool has_flops, has_bytes; /* false = unknown */
  enum peak_type type;       /* type of the arithmetic */
};

/* Model of an operator; its members are private. */
struct flops_model;

/* Returns the model of an operator by its name, such as "aten::mm"; NULL if there is none. */
const struct flops_model *flops_find(const char *name);
/* True if the model counts operations. Models of elementwise operators only compute the memory traffic. */
bool flops_is_counted(const struct flops_model *m);
/* Stores the operations and memory traffic for these inputs in *f, as far as the model can compute them. Returns false if it can
 * compute neither. */
bool flops_of(const struct flops_model *m, const struct op_inputs *in, struct flops *f);

#endif
