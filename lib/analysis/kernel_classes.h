/* kernel_classes.h - kinds of computation of kernels, by their names: matmul, attention, norm, ... */
#ifndef ANALYSIS_KERNEL_CLASSES_H
#define ANALYSIS_KERNEL_CLASSES_H

#include <stddef.h>

/* Returns the class of a kernel by its name; "other" if no row knows the name. */
const char *kernel_classes_of(const char *name, size_t n);

#endif
