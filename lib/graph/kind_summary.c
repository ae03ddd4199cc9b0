/* kind_summary.c - see kind_summary.h.
 *
 * clang -ftime-trace ends with a thread for each name, whose only span starts at 0 and lasts as long as all spans of this name
 * together: "Total Frontend" with the args "count" and "avg ms" (LLVM's TimeProfiler::write). Counted as time, these spans would
 * double all sums. */
#include "kind_summary.h"

#include "args.h"
#include "base/text.h"

/* True for the span of a total. LLVM names it "Total Frontend" or "Total: Frontend". */
static bool is_total(const struct tk_trace *t, const struct tk_event *e, tk_id count, tk_id mean) {
  struct tk_arg arg;
  if (e->kind != TK_EVENT_SPAN || !text_begins(tk_string(t, t->classes[e->cls].name, NULL), "Total")) return false;
  return args_of_event(t, e, count, &arg) && args_of_event(t, e, mean, &arg);
}

void kind_summary_tracks(struct kinds *k) {
  const struct tk_trace *t = k->t;
  const tk_id count = trace_text_id(t, "count"), mean = trace_text_id(t, "avg ms");
  for (tk_id i = 1; count && mean && i <= t->n_tracks; i++) {
    const struct tk_track *track = &t->tracks[i];
    if (track->kind != TK_TRACK_THREAD || track->count != 1) continue;
    if (is_total(t, &t->events[track->first], count, mean)) k->of_track[i] |= KIND_REPEAT;
  }
}
