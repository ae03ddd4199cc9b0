/* program.h - finds compiled programs in the event metadata of a plane.
 *
 *     plane "/host:metadata" -> event metadata "jit_step(5)" -> stats "Hlo Proto" (bytes), program_id
 *
 * Events refer to their program by a stat program_id or hlo_module, or have the same name as its metadata (line "XLA Modules").
 */
#ifndef FORMAT_XPLANE_PROGRAM_H
#define FORMAT_XPLANE_PROGRAM_H

#include "graph/trace.h"
#include "wire.h"

struct xplane_program {
  uint64_t id;                    /* the number in a name such as "jit_step(5)", otherwise the stat program_id, otherwise the
                                   * key of the metadata */
  struct xplane_bytes name;       /* such as "jit_step(5)" */
  struct xplane_bytes module;     /* such as "jit_step" */
  struct pb hlo;                  /* HloProto */
};

/* Parses an entry of the event metadata map. Returns false if it is not a program. */
bool xplane_program_of(struct xplane_program *p, const struct xplane_names *names, const struct pb_field *entry);

/* Returns the number of programs, of other stats that are bytes, and of fields that no known schema has
 * (format->n_passthrough). */
uint64_t xplane_n_passthrough(const struct tk_trace *t);

#endif
