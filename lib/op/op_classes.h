/* op_classes.h - kinds of computation of operators, by their names (work_classes.h). */
#ifndef OP_OP_CLASSES_H
#define OP_OP_CLASSES_H

#include <stdint.h>

#include "kernel_classes.h"

/* Returns the class that an operator or annotation implies for the kernels that it launches; CLASS_NONE if it implies none. */
enum kernel_class op_classes_of(const char *name);
/* Returns the class of a kernel. `named`: class by its name; `around`: set of the classes that the operators around its launch imply,
 * 1 << enum kernel_class each. */
enum kernel_class op_classes_decide(enum kernel_class named, uint16_t around);

#endif
