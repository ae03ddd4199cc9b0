/* regions.c - see regions.h. */
#include "regions.h"

#include <string.h>

#include "launched.h"
#include "modules.h"
#include "pending.h"
#include "graph/within.h"

bool regions_is_module(const struct tk_trace *t, tk_id cls) {
  size_t n;
  return modules_name(tk_string(t, t->classes[cls].name, NULL), &n) != NULL;
}

/* True if the event is an operator or a call of a module. Excludes device tracks, whose annotations are only copies of the host's. */
static bool is_region(const struct kinds *k, enum region region, const struct tk_event *e) {
  if (e->kind != TK_EVENT_SPAN || (region == REGION_MODULE && !regions_is_module(k->t, e->cls))) return false;
  const unsigned kind = kinds_of(k, e);
  return !(kind & KIND_DEVICE) && (region == REGION_MODULE || kind & KIND_OP);
}

static bool regions_of_track(const struct kinds *kinds, enum region region, struct within *within, tk_id track, tk_id *of) {
  const struct tk_trace *t = kinds->t;
  const struct tk_track *k = &t->tracks[track];
  const bool nests = k->kind == TK_TRACK_THREAD;
  within_begin(within);
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct within_span around = nests ? within_find(within, &t->events[i]) : (struct within_span){0};
    const bool own = is_region(kinds, region, &t->events[i]);
    of[i] = own ? i : around.node;
    if (nests && !pending_add(within, kinds, i, around, own ? i : 0)) return false;
  }
  return true;
}

tk_id *regions_around(const struct kinds *kinds, enum region region, struct mem *mem) {
  const struct tk_trace *t = kinds->t;
  tk_id *of = mem_array(mem, (uint64_t)t->n_events + 1, sizeof *of);
  struct within within;
  bool ok = of && within_init(&within, mem);
  if (!ok) return NULL;
  of[0] = 0;
  for (tk_id k = 1; ok && k <= t->n_tracks; k++) ok = regions_of_track(kinds, region, &within, k, of);
  within_free(&within);
  return of;
}

/* Callback for work whose launching call is in no region: the work gets the region of the host event at the start of a flow.
 * Needed for torch_npu, which records calls of CANN on separate tracks, and draws flows from operators to kernels. */
static void take_flow(void *arg, tk_id host, tk_id work) {
  tk_id *of = arg;
  if (!of[work]) of[work] = of[host];
}

static bool any_left(const struct kinds *kinds, const struct links *links, const tk_id *of) {
  for (tk_id i = 1; i <= kinds->t->n_events; i++)
    if (links->launch[i] && !of[i]) return true;
  return false;
}

tk_id *regions_find(const struct kinds *kinds, const struct links *links, enum region region, struct mem *mem) {
  tk_id *of = regions_around(kinds, region, mem);
  for (tk_id i = 1; of && i <= kinds->t->n_events; i++) {
    const tk_id launch = links->launch[i], capture = links_capture(links, i);
    if (launch) of[i] = capture && of[capture] ? of[capture] : of[launch];
  }
  if (!of || !any_left(kinds, links, of) || launched_each_flow(kinds, mem, take_flow, of)) return of;
  mem_free(mem, of);
  return NULL;
}
