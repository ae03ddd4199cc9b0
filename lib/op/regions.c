/* regions.c - see regions.h. */
#include "regions.h"

#include <string.h>

#include "base/text.h"

/* PyTorch names calls of modules so: torch/csrc/autograd/profiler_python.cpp. */
static bool is_module(const struct tk_trace *t, tk_id cls) {
  return text_begins(tk_string(t, t->classes[cls].name, NULL), "nn.Module: ");
}

static bool is_region(const struct kinds *k, enum region region, const struct tk_event *e) {
  if (e->kind != TK_SPAN) return false;
  return region == REGION_MODULE ? is_module(k->t, e->cls) : (kinds_of(k, e) & (KIND_OP | KIND_DEVICE)) == KIND_OP;
}

tk_id *regions_around(const struct kinds *kinds, enum region region, struct mem *mem) {
  const struct tk_trace *t = kinds->t;
  tk_id *of = mem_array(mem, (uint64_t)t->n_events + 1, sizeof *of);
  tk_id *above = mem_array(mem, (uint64_t)UINT16_MAX + 2, sizeof *above);
  if (of && above) above[0] = of[0] = 0;
  for (tk_id i = 1; of && above && i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    of[i] = is_region(kinds, region, e) ? i : above[e->depth];
    if (trace_nests(t, i)) above[e->depth + 1] = of[i];
  }
  if (!above) mem_free(mem, of);
  mem_free(mem, above);
  return above ? of : NULL;
}

tk_id *regions_find(const struct kinds *kinds, const struct links *links, enum region region, struct mem *mem) {
  tk_id *of = regions_around(kinds, region, mem);
  for (tk_id i = 1; of && i <= kinds->t->n_events; i++) {
    const tk_id launch = links->launch[i], capture = links_capture(links, i);
    if (launch) of[i] = capture && of[capture] ? of[capture] : of[launch];
  }
  return of;
}
