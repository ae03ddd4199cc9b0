/* timed_names.c - removes durations from names.
 *
 * Paddle appends the duration of each span to its name: "matmul dygraph[12.411 us]" (paddle/fluid/platform/profiler/
 * chrometracing_logger.cc). Then hardly any two spans would have the same name, and the last number of "ProfileStep#2[1.054 ms]" is not
 * the number of the step. Nothing is lost, because the span also stores its duration. */
#include "timed_names.h"

#include <string.h>

#include "base/text.h"
#include "graph/trace.h"

/* Returns the length of the name without a duration such as "[12.411 us]" at its end. */
static size_t untimed(const char *name, size_t n) {
  static const char *const UNITS[] = {" ns]", " us]", " ms]", " s]"};
  const char *open = strrchr(name, '[');
  if (!open || open == name) return n;
  const char *p = open + 1;
  const size_t digits = strspn(p, "0123456789.");
  for (size_t i = 0; digits && i < sizeof UNITS / sizeof *UNITS; i++)
    if (strcmp(p + digits, UNITS[i]) == 0) return (size_t)(open - name);
  return n;
}

/* Returns the class with the name of class i without a duration; 0 when memory runs out. */
static tk_id untimed_class(struct tk_trace *t, tk_id i) {
  const struct tk_class c = t->classes[i];
  size_t n;
  const char *name = tk_string(t, c.name, &n);
  const size_t kept = untimed(name, n);
  if (c.args || c.unit || kept == n) return i;
  const tk_id own = trace_string(t, name, kept);
  return own ? trace_class(t, own, c.cat) : 0;
}

void chrome_untime_names(struct tk_trace *t) {
  if (!trace_meta(t, "span_index") && !trace_meta(t, "span_indx")) return; /* only Paddle writes these, the second in older versions */
  struct mem *mem = &t->store->mem;
  const tk_id n = t->n_classes;
  uint64_t changed = 0;
  tk_id *to = mem_array(mem, (uint64_t)n + 1, sizeof *to);
  for (tk_id i = 0; to && i <= n; i++) to[i] = i ? untimed_class(t, i) : 0;
  for (tk_id i = 1; to && i <= t->n_events; i++) {
    struct tk_event *e = &t->events[i];
    if (e->kind != TK_EVENT_SPAN) continue;
    changed += to[e->cls] != e->cls;
    e->cls = to[e->cls];
  }
  mem_free(mem, to);
  if (changed) trace_notes(t, TK_NOTE_FACT, UINT64_MAX, "durations at the end of event names: removed, because spans record "
                                                        "their duration", changed);
}
