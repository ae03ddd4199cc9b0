/* redact.h - makes a trace safe to share: keeps timing, and little else. */
#ifndef OP_REDACT_H
#define OP_REDACT_H

#include "graph/origin.h"
#include "pseudonym.h"
#include "tracekit.h"

struct redact_plan {
  const struct tk_redact_options *opt;
  const struct track_origin *origins; /* rank and host of each track */
  const char *host;                   /* host of the trace; "" = unknown */
};

bool op_redact(struct tk_trace *t, const struct redact_plan *plan, struct tk_redact_report *report, struct tk_err *err);

/* Appends to `b` the redacted form of a text that is written outside the trace: a "name" changes as the options say, any other
 * kind ("host", "input", "group") becomes a hash, as it does inside the trace. False if memory runs out. */
bool redact_outside(const struct tk_redact_options *opt, const char *kind, const char *text, struct buf *b);

/* Copies the name of a run, which becomes part of a path, to `to`: redacted unless it is a time stamp or `opt` is NULL. */
void redact_run(const struct tk_redact_options *opt, const char *run, char *to, size_t size);

#endif
