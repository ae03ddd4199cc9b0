/* progress.h - a progress line on stderr, rewritten while the work runs, or lines of JSON for a script. */
#ifndef CLI_SHARED_PROGRESS_H
#define CLI_SHARED_PROGRESS_H

#include "tracekit.h"

enum progress_choice { PROGRESS_NEVER = -1, PROGRESS_ON_TERMINAL, PROGRESS_ALWAYS, PROGRESS_JSON };

struct progress {
  char what[16], name[256]; /* phase, such as "reading", and file, such as "rank0.json" */
  size_t i, n;              /* number of the current input, and of all inputs */
  uint64_t started_ms, phase_ms, shown_ms, done, total;
  bool events; /* `done` and `total` count events, not bytes */
  bool on, json;
  bool visible;
};

/* Starts the first phase, such as "filtering", of the file `name` (NULL: none). Amounts are bytes, until a phase or the caller
 * sets p->events. choice: an enum progress_choice. */
void progress_start(struct progress *p, const char *what, const char *name, int choice);
void progress_end(struct progress *p);
/* Callbacks for struct tk_progress; their arg is a struct progress. progress_tick() returns false after an interrupt. */
bool progress_tick(void *progress, uint64_t done, uint64_t total);
void progress_phase(void *progress, const struct tk_phase *phase);

#endif
