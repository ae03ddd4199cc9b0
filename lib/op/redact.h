/* redact.h - makes a trace safe to share by removing nearly everything except timing. */
#ifndef OP_REDACT_H
#define OP_REDACT_H

#include "graph/origin.h"
#include "pseudonym.h"
#include "tracekit.h"

struct redact_plan {
  const struct tk_redact_options *opt;
  const struct track_origin *origins; /* by track: rank and host */
  const char *host;                   /* host of the trace; "" = unknown */
};

bool op_redact(struct tk_trace *t, const struct redact_plan *plan, struct tk_redact_report *report, struct tk_err *err);

/* Appends to `b` the redacted form of a string that is printed outside the trace, such as in a table. Strings of the kind "name"
 * are redacted according to the options; strings of other kinds ("host", "input", "group") become pseudonyms, as inside the
 * trace. Returns false if memory runs out. */
bool redact_outside(const struct tk_redact_options *opt, const char *kind, const char *text, struct buf *b);

/* Copies the name of a run to `to`, for use in a path. Redacts the name, unless it is a timestamp or `opt` is NULL. */
void redact_run(const struct tk_redact_options *opt, const char *run, char *to, size_t size);

#endif
