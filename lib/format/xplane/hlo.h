/* hlo.h - finds the collectives of programs whose HLO is in an XSpace.
 *
 *     plane "/host:metadata" -> event metadata "jit_step(5)" -> stat "Hlo Proto" -> module -> computations -> instructions
 *
 * The stats of a GPU kernel contain its op and its program; only the HLO shows which devices take part in the op. The original
 * bytes of these planes are in the graph. They are parsed only on request, because programs are large. */
#ifndef FORMAT_XPLANE_HLO_H
#define FORMAT_XPLANE_HLO_H

#include "graph/trace.h"

/* Field numbers that the cursor uses, from proto/hlo.proto (a test compares them). */
enum { HLO_MODULE = 1 };
enum { HLO_MODULE_NAME = 1, HLO_MODULE_COMPUTATIONS = 3 };
enum { HLO_COMPUTATION_INSTRUCTIONS = 2, HLO_COMPUTATION_ID = 5 };
enum { HLO_INSTRUCTION_NAME = 1, HLO_INSTRUCTION_OPCODE = 2 };

struct hlo_text {
  const uint8_t *p; /* points into the trace's raw text; not NUL-terminated */
  size_t n;
};

struct hlo_collective {
  struct hlo_text module, op; /* such as "jit_step" and "all-reduce.3" */
  uint64_t program;           /* the number in "jit_step(5)" */
  const char *opcode;         /* such as "all-reduce", also for its -start op and for a wrapper */
  const char *groups;         /* in the syntax of HLO text: "{{0,1},{2,3}}", "[2,2]<=[4]", "{}"; NULL = the form is unknown */
  bool global;                /* true if the groups contain ids other than replica ids */
};

struct hlo_collectives {
  struct hlo_collective *v;
  uint32_t n, cap;
};

/* Finds the collectives, in file order; in a damaged program, only the collectives before the damage. Finds none in a trace
 * that was not read from an XPlane. The text of groups is in the arena; all other text lives as long as the trace. Returns
 * false when memory runs out. */
bool xplane_hlo(struct hlo_collectives *h, const struct tk_trace *t, struct arena *arena);
void xplane_hlo_free(struct hlo_collectives *h, struct mem *mem);

#endif
