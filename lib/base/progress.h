/* progress.h - reports progress to the caller. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include "tracekit.h"

static inline void progress_phase(const struct tk_progress *p, struct tk_phase phase) {
  if (p->phase) p->phase(p->arg, &phase);
}

#endif
