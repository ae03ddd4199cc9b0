/* progress.h - a line on stderr that is rewritten while work goes on, or lines of JSON for a script. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "tracekit.h"

enum progress_choice { PROGRESS_NEVER = -1, PROGRESS_ON_TERMINAL, PROGRESS_ALWAYS, PROGRESS_JSON };

struct progress {
  char what[16], name[256]; /* "reading", "rank0.json" */
  size_t i, n;              /* the i-th of n */
  uint64_t started_ms, phase_ms, shown_ms, done, total;
  bool events; /* that are counted, not bytes */
  bool on, json;
  bool visible;
};

/* "filtering", of what (NULL: not told); bytes are counted, until another phase or the caller says otherwise. */
void progress_start(struct progress *p, const char *what, const char *name, int choice);
void progress_end(struct progress *p);
/* For tk_progress, with a struct progress as its arg: false after an interrupt. */
bool progress_tick(void *progress, uint64_t done, uint64_t total);
void progress_phase(void *progress, const struct tk_phase *phase);

#endif
