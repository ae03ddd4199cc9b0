/* work_classes.h - the class of each piece of device work: matmul, attention, norm, ...
 *
 * The name of a kernel decides, unless it is a general one: cuDNN and MIOpen run convolutions by kernels that are named like matrix
 * products, and an optimizer's step may consist of elementwise kernels. The operators around the launch decide then, and the
 * instruction and the operator that XLA states in the args of a kernel. */
#ifndef OP_WORK_CLASSES_H
#define OP_WORK_CLASSES_H

#include "graph/kind.h"
#include "graph/origin.h"
#include "kernel_classes.h"

struct work_classes {
  struct mem *mem;
  const struct kinds *kinds;
  uint8_t *of_class; /* by class of the trace: enum kernel_class by the name; CLASS_NONE = not computed yet */
  uint16_t *around;  /* by event: set of the classes that operators around its launch or its args imply; NULL = none implies any */
};

/* Finds the operators around all launches. `origins` by track may be NULL; `launch`: by event, its launch, or NULL = not found yet.
 * Returns false if memory runs out; the caller calls work_classes_free even then. */
bool work_classes_init(struct work_classes *w, const struct kinds *kinds, const struct track_origin *origins, const tk_id *launch,
                       struct mem *mem);
void work_classes_free(struct work_classes *w);

/* Returns the class of device work, which may also be CLASS_COLLECTIVE or CLASS_COPY; CLASS_NONE for all other events. */
enum kernel_class work_classes_of(const struct work_classes *w, tk_id event);
/* Returns the class of a kernel, whatever kind of work it is. */
enum kernel_class work_classes_of_kernel(const struct work_classes *w, tk_id event);

#endif
