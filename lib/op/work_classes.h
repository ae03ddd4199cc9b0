/* work_classes.h - the class of each piece of device work: matmul, attention, norm, ...
 *
 * The class of a kernel follows from its name, unless the name is too general: cuDNN and MIOpen run convolutions with kernels that are
 * named like matrix products, and an optimizer step can consist of elementwise kernels. In these cases, the class follows from the
 * operators around the launch, and from the instruction and operator that XLA stores in the args of the kernel. */
#ifndef OP_WORK_CLASSES_H
#define OP_WORK_CLASSES_H

#include "graph/kind.h"
#include "graph/origin.h"
#include "kernel_classes.h"

struct work_classes {
  struct mem *mem;
  const struct kinds *kinds;
  uint8_t *of_class; /* by class of the trace: enum kernel_class by the name; CLASS_NONE = not computed yet */
  uint16_t *around;  /* by event: set of the classes implied by its args and by operators around its launch; NULL = all sets are
                      * empty */
};

/* Finds the operators around all launches. `origins`: by track; may be NULL. `launch`: by event, its launch; NULL = to be found here.
 * Returns false if memory runs out; the caller calls work_classes_free even then. */
bool work_classes_init(struct work_classes *w, const struct kinds *kinds, const struct track_origin *origins, const tk_id *launch,
                       struct mem *mem);
void work_classes_free(struct work_classes *w);

/* Returns the class of device work, which may also be CLASS_COLLECTIVE or CLASS_COPY; CLASS_NONE for all other events. */
enum kernel_class work_classes_of(const struct work_classes *w, tk_id event);
/* Returns the class of an event as if it were a kernel, without checking that it is one. */
enum kernel_class work_classes_of_kernel(const struct work_classes *w, tk_id event);

#endif
