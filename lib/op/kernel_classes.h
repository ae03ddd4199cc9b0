/* kernel_classes.h - kinds of computation of kernels, by their names: matmul, attention, norm, ... */
#ifndef OP_KERNEL_CLASSES_H
#define OP_KERNEL_CLASSES_H

#include "graph/kind.h"

/* Returns the class of a kernel by its name; "other" if no row knows the name. */
const char *kernel_classes_of(const char *name, size_t n);
/* Returns the class of a piece of device work, also "collective" and "copy"; NULL for all other events. `known`: by class of events,
 * the classes that were returned before; NULL where there is none yet. */
const char *kernel_classes_of_event(const struct kinds *k, const struct tk_event *e, const char **known);

#endif
