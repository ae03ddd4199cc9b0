/* op_inputs.h - inputs of an operator as PyTorch's profiler records them: args "Input Dims", "Input type" and "Concrete
 * Inputs". */
#ifndef ANALYSIS_OP_INPUTS_H
#define ANALYSIS_OP_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device_peaks.h"

enum { OP_INPUTS = 20, OP_RANK = 8 };

/* An input. Dimensions are integers below 2^53, which a double represents exactly. */
struct op_tensor {
  bool is;               /* true for a tensor: an input with a tensor type or, if no types are recorded, with dimensions; false for
                          * scalars, lists and missing inputs */
  unsigned rank;
  double dims[OP_RANK];
  unsigned size;         /* bytes of an element; 0 = unknown */
  enum peak_type type;   /* type of arithmetic on its elements */
};

struct op_inputs {
  unsigned n;
  bool has_types;
  struct op_tensor in[OP_INPUTS];
  const char *concrete[OP_INPUTS]; /* printed values of inputs that are not tensors: "[1, 1]", "True"; points into the text */
  size_t concrete_len[OP_INPUTS];
};

/* Texts of the three args; empty = missing. */
struct op_texts {
  const char *dims, *types, *concrete;
  size_t n_dims, n_types, n_concrete;
};

/* Reads the inputs. Returns false if dimensions are missing or invalid, if types are invalid, or if there are more inputs or
 * dimensions than fit. The texts end with a NUL and must live as long as the inputs. */
bool op_inputs_read(struct op_inputs *in, const struct op_texts *texts);

/* Returns the number of elements. */
double op_inputs_elements(const struct op_tensor *t);

/* Parse the printed value of input `at`. All return false if the value is missing or has another form. op_inputs_list also accepts a
 * single number for a list of n equal numbers. */
bool op_inputs_truth(const struct op_inputs *in, unsigned at, bool *v);
bool op_inputs_number(const struct op_inputs *in, unsigned at, double *v);
bool op_inputs_list(const struct op_inputs *in, unsigned at, unsigned n, double *v);
/* True if the input has no value because it is an optional argument that was not given. */
bool op_inputs_is_none(const struct op_inputs *in, unsigned at);

#endif
