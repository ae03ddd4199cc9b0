/* report_graphs.c - counts CUDA graphs that were recorded as a whole, without their kernels (report.h). */
#include "report.h"

#include <stdio.h>
#include <string.h>

void report_count_graphs(struct reporter *p) {
  static const char GRAPH[] = "CUDA graph "; /* from Nsight Systems' CUPTI_ACTIVITY_KIND_GRAPH_TRACE (format/nsys/read/tables.c) */
  const struct tk_trace *t = p->t;
  for (uint32_t i = 0; i < p->works.n; i++) {
    const struct work *w = &p->works.v[i];
    const char *name = tk_string(t, t->classes[t->events[w->event].cls].name, NULL);
    p->impl->whole_graphs += w->first && strncmp(name, GRAPH, sizeof GRAPH - 1) == 0;
  }
}

void report_say_graphs(struct tk_report *r) {
  const unsigned long long n = r->impl->whole_graphs;
  char text[256];
  if (!n) return;
  snprintf(text, sizeof text, "%llu launch%s recorded as a whole, so %s kernels are unknown; nsys profile --cuda-graph-trace=node "
                              "records kernels (see docs/recording.md)", n, n > 1 ? "es of CUDA graphs were" : " of a CUDA graph was",
           n > 1 ? "their" : "its");
  report_unknown(r, report_text(r->impl, text));
}
