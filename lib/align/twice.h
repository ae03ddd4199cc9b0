/* twice.h - finds events that two recordings of one rank both contain, and compares the clocks of the recordings by them.
 *
 *     kernels, copies    keys: correlation id and name, otherwise name and order
 *     annotations        only if kernels do not suffice: NVTX ranges, record_function; keys: name and ordinal
 *
 * Events with equal keys are compared one by one (solve/same.h). Without keys, the solver that aligns hosts is used: an event in both
 * recordings has equal ends on a common clock, as the kernels of a collective have, so each recording is a host, and the answer
 * includes "nothing is shared". */
#ifndef ALIGN_TWICE_H
#define ALIGN_TWICE_H

#include "align/solve/solve.h"
#include "graph/trace.h"

/* Ids of an event in the first and in the second recording. */
struct twice_pair {
  tk_id a, b;
};

struct twice {
  struct mem *mem;
  struct twice_pair *pairs; /* device work first, then calls */
  uint32_t n, n_work, cap;  /* n: number of pairs; n_work: number of pairs of device work */
  uint32_t work[2];         /* number of device operations of each recording that ended while the other one was recording */
  bool richer_b;            /* true if the second recording describes these events better: its calls are nested deeper, or events have
                             * more args */
  const char *tied_by;      /* kind of events by which the clocks were compared; NULL = the clocks could not be compared */
  struct align_map map;     /* offset of the second clock from the first; valid if tied_by is set */
  uint32_t anchors;         /* number of events that support the map */
  double error_ns;          /* 95% bound of the error of the map */
};

/* Compares two sealed traces. The caller sets only w->mem. `walled`: the timestamps of both traces are relative to the same epoch.
 * Returns false with err on failure. */
bool twice_find(struct twice *w, const struct tk_trace *a, const struct tk_trace *b, bool walled, struct tk_err *err);
void twice_free(struct twice *w);

#endif
