/* flops.h - floating-point operations and memory traffic of operators, by the shapes and types of their inputs.
 *
 * docs/analysis.md defines the formulas. They count what the operator asks for: a multiplication and an addition are two
 * operations, each input is read once, and each output is written once. */
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
/* True if the model counts operations. The other models, of elementwise operators, know only the memory traffic. */
bool flops_is_counted(const struct flops_model *m);
/* Stores what the model knows in *f. Returns false if it knows nothing about these inputs. */
bool flops_of(const struct flops_model *m, const struct op_inputs *in, struct flops *f);

#endif
