/* redact.h - a trace that can leave the house: what it tells of times, and little else. */
#ifndef OP_REDACT_H
#define OP_REDACT_H

#include "graph/origin.h"
#include "pseudonym.h"
#include "tracekit.h"

struct redact_plan {
  const struct tk_redact_options *opt;
  const struct track_origin *origins; /* rank and host by track */
  const char *host;                   /* of the trace; "" = unknown */
};

bool op_redact(struct tk_trace *t, const struct redact_plan *plan, struct tk_redact_report *report, struct tk_err *err);

#endif
