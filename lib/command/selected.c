/* selected.c - implements tk_selected: marks the events that a selection contains. */
#include <string.h>

#include "analysis/measure.h"
#include "op/match.h"
#include "base/err.h"
#include "base/options.h"
#include "source/identity.h"

static bool mark(const struct tk_trace *t, struct match *m, const struct scope *scope, uint8_t *selected, struct tk_err *err) {
  enum { CHECK = 1 << 14 };
  selected[0] = 0;
  for (tk_id i = 1; i <= t->n_events; i++) {
    selected[i] = scope_holds(scope, &t->events[i]) && match_event(m, i);
    if (i % CHECK == 0 && !match_check(m, err)) return false;
  }
  return match_check(m, err);
}

bool tk_selected(struct tk_trace *t, const struct tk_selection *select, uint8_t *selected, struct tk_err *err) {
  struct mem mem = {0};
  struct match match = {0};
  struct scope scope = SCOPE_ALL;
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (!trace_is_sealed(t, err) || !RESERVED(select, err)) return false;
  struct track_origin *origins = identity_of_tracks(t, &mem);
  const bool ok = origins ? match_init(&match, t, select->where, origins, &mem, err) &&
                                window_select(&scope, t, &match.steps, select, err) &&
                                match_follow_launches(&match, &scope, NULL) && mark(t, &match, &scope, selected, err)
                          : err_set(err, TK_ELIMIT, "out of memory");
  match_free(&match);
  identity_free_tracks(origins, &mem);
  return ok;
}
