/* top.c - implements tk_top: passes the rank and host of each track to the analysis. */
#include "analysis/top.h"

#include "base/err.h"
#include "base/options.h"
#include "op/expr.h"
#include "source/identity.h"

/* Returns the data (enum tk_without) that a grouping does not need. */
static uint8_t without_of(enum tk_top_by by) {
  switch (by) {
  case TK_TOP_STREAM:
  case TK_TOP_DEVICE: /* args of spans can show which tracks are devices */
  case TK_TOP_ARG: return TK_WITHOUT_FLOWS;
  case TK_TOP_STEP:
  case TK_TOP_PHASE:
  case TK_TOP_OP:
  case TK_TOP_MODULE:
  case TK_TOP_CLASS: return 0; /* these groupings search for launches, so they need all data */
  default: return TK_WITHOUT_FLOWS | TK_WITHOUT_ARGS;
  }
}

uint8_t tk_top_without(const struct tk_top_options *opt) {
  struct tk_top_options own;
  struct tk_err ignored = {0};
  struct mem mem = {0};
  uint32_t n_tests = 0;
  if (!TAKE_OPTIONS(&own, opt, &ignored)) return 0;
  uint8_t without = without_of(own.by);
  if (own.cols && *own.cols) without &= TK_WITHOUT_FLOWS;
  if (own.select.steps || own.select.step_range) return 0; /* launches decide to which step work belongs */
  for (const char *const *where = own.select.where; where && *where; where++) {
    struct expr *e = expr_parse(*where, &n_tests, &mem, &ignored);
    without &= e ? expr_without(e) : 0;
    expr_free(e);
  }
  return without;
}

bool tk_top(struct tk_trace *t, const struct tk_top_options *opt, struct tk_top_report **report, struct tk_err *err) {
  struct tk_top_options options;
  struct mem mem = {0};
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (!NEW_REPORT(report, err) || !trace_is_sealed(t, err)) return false;
  if (!TAKE_OPTIONS(&options, opt, err) || !RESERVED(&options.select, err)) return false;
  opt = &options;
  if (opt->by == TK_TOP_ARG && !opt->arg) return err_set(err, TK_EUSAGE, "grouping by an arg needs its key, such as arg.KEY");
  struct track_origin *origins = identity_of_tracks(t, &mem);
  bool ok = origins ? top_of(t, opt, origins, *report, err) : err_set(err, TK_ELIMIT, "out of memory");
  identity_free_tracks(origins, &mem);
  return ok;
}
