/* program.h - a compiled program among the event metadata of a plane.
 *
 *     plane "/host:metadata" -> event metadata "jit_step(5)" -> stats "Hlo Proto" (bytes), program_id
 *
 * Events say which program they are of by stats program_id or hlo_module, or bear the name of its metadata (line "XLA
 * Modules"). */
#ifndef FORMAT_XPLANE_PROGRAM_H
#define FORMAT_XPLANE_PROGRAM_H

#include "graph/trace.h"
#include "wire.h"

struct xplane_program {
  uint64_t id;                    /* the number in "jit_step(5)", else the stat program_id, else the metadata's key */
  struct xplane_bytes name;       /* "jit_step(5)" */
  struct xplane_bytes module;     /* "jit_step" */
  struct pb hlo;                  /* HloProto */
};

/* False for an entry of the map of event metadata that is no program. */
bool xplane_program_of(struct xplane_program *p, const struct xplane_names *names, const struct pb_field *entry);

/* Programs, and what else is bytes or of a field that no schema knows (a member of the row). */
uint64_t xplane_n_passthrough(const struct tk_trace *t);

#endif
