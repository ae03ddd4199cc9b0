/* kernel_classes.h - kinds of computation of kernels, by their names: matmul, attention, norm, ... */
#ifndef OP_KERNEL_CLASSES_H
#define OP_KERNEL_CLASSES_H

#include <stddef.h>

enum kernel_class {
  CLASS_NONE, /* not computed yet, or no device work */
  CLASS_OTHER, CLASS_ATTENTION, CLASS_MATMUL, CLASS_CONV, CLASS_NORM, CLASS_SOFTMAX, CLASS_ELEMENTWISE, CLASS_REDUCTION, CLASS_COPY,
  CLASS_COLLECTIVE, CLASS_OPTIMIZER, CLASS_EMBEDDING, CLASS_SORT, CLASS_TRITON, KERNEL_CLASSES
};

/* Returns the word for a class: "matmul", "attention", ...; NULL for CLASS_NONE. */
const char *kernel_classes_word(enum kernel_class class);
/* Returns the class of a kernel by its name; CLASS_OTHER if no row matches. */
enum kernel_class kernel_classes_of(const char *name, size_t n);

#endif
