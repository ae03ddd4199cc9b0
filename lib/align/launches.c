/* launches.c - kernels and the calls that launched them (launches.h).
 *
 * A kernel and its launch have one correlation id.  The launch stands, on its thread, within the op and the annotation that it was made
 * for: they know what old versions did not write on the kernel, and in which step it was launched, whenever it ran. */
#include "launches.h"

#include <string.h>

#include "base/text.h"
#include "graph/kind.h"

enum { FARTHEST = 4096 }; /* events back from a call to what it is in */

static bool correlation_of(const struct launches *l, const struct tk_event *e, int64_t *id) {
  enum { RANK_AT = 40 };
  struct tk_arg arg;
  if (!tk_args_find(l->t, e->args, "correlation", &arg) || (arg.type != TK_ARG_INT && arg.type != TK_ARG_UINT)) return false;
  if (arg.i <= 0) return false;
  *id = arg.i ^ (l->origins ? (int64_t)((uint64_t)(l->origins[e->track].rank + 1) << RANK_AT) : 0);
  return true;
}

bool launches_find(struct launches *l, const struct tk_trace *t, const struct track_origin *origins, const uint64_t *wanted,
                   struct mem *mem) {
  struct kinds kinds = {0};
  bool ok = kinds_init(&kinds, t, mem);
  int64_t id;
  l->t = t;
  l->origins = origins;
  map_init(&l->calls, mem);
  for (tk_id i = 1; ok && i <= t->n_events; i++)
    if (wanted[t->events[i].cls] && correlation_of(l, &t->events[i], &id)) ok = map_put(&l->calls, (uint64_t)id, 0) != NULL;
  for (tk_id i = 1; ok && l->calls.n && i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (!(kinds.of_class[e->cls] & KIND_RUNTIME) || e->kind != TK_SPAN || !correlation_of(l, e, &id)) continue;
    uint32_t *at = map_get(&l->calls, (uint64_t)id);
    if (at) *at = i;
  }
  kinds_free(&kinds);
  return ok;
}

void launches_free(struct launches *l) {
  if (l->t) map_free(&l->calls);
  *l = (struct launches){0};
}

/* Of so many kernels, which is enough: clocks that are apart are so for all. */
bool launches_check(const struct tk_trace *t, const struct track_origin *origins, struct mem *mem, struct launch_check *out) {
  enum { MOST = 4096 };
  struct launches l = {.t = t, .origins = origins};
  struct kinds kinds = {0};
  bool ok = kinds_init(&kinds, t, mem);
  int64_t id;
  *out = (struct launch_check){0};
  map_init(&l.calls, mem);
  for (tk_id i = 1; ok && i <= t->n_events && l.calls.n < MOST; i++) {
    const struct tk_event *e = &t->events[i];
    bool kernel = kinds.of_class[e->cls] & KIND_KERNEL && e->kind == TK_SPAN && !(e->flags & (TK_LOST_CLOCK | TK_CLIPPED));
    if (kernel && correlation_of(&l, e, &id)) ok = map_put(&l.calls, (uint64_t)id, i) != NULL;
  }
  for (tk_id i = 1; ok && l.calls.n && i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (!(kinds.of_class[e->cls] & KIND_RUNTIME) || e->kind != TK_SPAN || e->flags & (TK_LOST_CLOCK | TK_CLIPPED)) continue;
    const uint32_t *at = correlation_of(&l, e, &id) ? map_get(&l.calls, (uint64_t)id) : NULL;
    if (!at) continue;
    tk_time early = e->ts - t->events[*at].ts;
    out->kernels++;
    out->early += early > 0;
    if (early > out->most) out->most = early;
  }
  map_free(&l.calls);
  kinds_free(&kinds);
  return ok;
}

tk_id launches_call(const struct launches *l, const struct tk_event *kernel) {
  int64_t id;
  const uint32_t *at = l->t && correlation_of(l, kernel, &id) ? map_get(&l->calls, (uint64_t)id) : NULL;
  return at ? *at : 0;
}

/* Events of a track stand in the order in which they nest. */
tk_id launches_collective(const struct launches *l, tk_id call) {
  const struct tk_event *v = l->t->events;
  uint32_t depth = v[call].depth, steps = 0;
  for (tk_id i = call; i-- > 1 && depth > 0 && v[i].track == v[call].track && steps++ < FARTHEST;) {
    if (v[i].depth >= depth) continue;
    depth = v[i].depth;
    const char *name = tk_string(l->t, l->t->classes[v[i].cls].name, NULL);
    if (strcmp(name, "record_param_comms") == 0 || text_begins(name, "nccl:")) return i;
  }
  return 0;
}
