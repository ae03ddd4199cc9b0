/* redact.c - tk_redact: tells the operation which hosts the trace is of. */
#include "op/redact.h"

#include "base/err.h"
#include "base/options.h"
#include "source/identity.h"

bool tk_redact(struct tk_trace *t, const struct tk_redact_options *opt, struct tk_redact_report *report, struct tk_err *err) {
  struct mem mem = {0};
  struct tk_redact_report unused = {0};
  struct tk_redact_options options;
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (!trace_is_sealed(t, err) || !TAKE_OPTIONS(&options, opt, err)) return false;
  struct identity id = identity_of(t);
  struct track_origin *origins = identity_of_tracks(t, &mem);
  struct redact_plan plan = {.opt = &options, .origins = origins, .host = id.host};
  bool ok = origins ? op_redact(t, &plan, report ? report : &unused, err) : err_set(err, TK_ELIMIT, "out of memory");
  identity_free_tracks(origins, &mem);
  return ok;
}
