/* hlo.h - the collectives of the programs whose HLO stands in an XSpace.
 *
 *     plane "/host:metadata" -> event metadata "jit_step(5)" -> stat "Hlo Proto" -> module -> computations -> instructions
 *
 * A kernel on a GPU says which op of which program it belongs to; which devices take part in that op is said here alone.  The
 * planes are in the graph as they were on the wire, and are looked at only when somebody asks: programs are large. */
#ifndef FORMAT_XPLANE_HLO_H
#define FORMAT_XPLANE_HLO_H

#include "graph/trace.h"

/* Field numbers of what the cursor passes through, those of proto/hlo.proto (a test holds the two against each other). */
enum { HLO_MODULE = 1 };
enum { HLO_MODULE_NAME = 1, HLO_MODULE_COMPUTATIONS = 3 };
enum { HLO_COMPUTATION_INSTRUCTIONS = 2, HLO_COMPUTATION_ID = 5 };
enum { HLO_INSTRUCTION_NAME = 1, HLO_INSTRUCTION_OPCODE = 2 };

struct hlo_text {
  const uint8_t *p; /* in the trace's raw text; no NUL behind it */
  size_t n;
};

struct hlo_collective {
  struct hlo_text module, op; /* "jit_step", "all-reduce.3" */
  uint64_t program;           /* the number in "jit_step(5)" */
  const char *opcode;         /* "all-reduce", also of its -start and of what wraps it */
  const char *groups;         /* as in HLO's text: "{{0,1},{2,3}}", "[2,2]<=[4]", "{}"; NULL = not in a form that is known */
  bool global;                /* their ids are not those of replicas */
};

struct hlo_collectives {
  struct hlo_collective *v;
  uint32_t n, cap;
};

/* In the order of the file; a damaged program gives what stands before the damage.  Nothing for a trace that was no XPlane.
 * The text of groups lives in the arena, the rest as long as the trace.  False when memory runs out. */
bool xplane_hlo(struct hlo_collectives *h, const struct tk_trace *t, struct arena *arena);
void xplane_hlo_free(struct hlo_collectives *h, struct mem *mem);

#endif
