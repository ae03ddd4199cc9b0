/* filter.c - implements tk_filter: passes the rank and host of each track to the operation. */
#include "op/filter.h"

#include "base/err.h"
#include "base/options.h"
#include "source/identity.h"

bool tk_filter(struct tk_trace *t, const struct tk_filter_options *opt, struct tk_filter_report *report, struct tk_err *err) {
  struct mem mem = {0};
  struct tk_filter_report unused = {0};
  struct tk_filter_options options;
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (!trace_is_sealed(t, err) || !TAKE_OPTIONS(&options, opt, err)) return false;
  struct track_origin *origins = identity_of_tracks(t, &mem);
  struct filter_plan plan = {.opt = &options, .origins = origins};
  bool ok = origins ? op_filter(t, t, &plan, report ? report : &unused, err) : err_set(err, TK_ELIMIT, "out of memory");
  identity_free_tracks(origins, &mem);
  return ok;
}
