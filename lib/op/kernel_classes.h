/* kernel_classes.h - kinds of computation of kernels, by their names: matmul, attention, norm, ... */
#ifndef OP_KERNEL_CLASSES_H
#define OP_KERNEL_CLASSES_H

#include "graph/kind.h"

/* Returns the class of a kernel by its name; "other" if no row knows the name. */
const char *kernel_classes_of(const char *name, size_t n);
/* Returns the class of device work, which may also be "collective" or "copy"; NULL for all other events. `known`: a cache of
 * the results by class of events; NULL = not computed yet. */
const char *kernel_classes_of_event(const struct kinds *k, const struct tk_event *e, const char **known);

#endif
