/* launches.c - finds the calls that launched kernels (launches.h).
 *
 * A kernel and its launch share a correlation id. On its thread, the launch is inside the op and the annotation that caused it.
 * The op contains args that old versions do not store on the kernel, and the annotation shows the step. */
#include "launches.h"

#include <string.h>

#include "collect.h"
#include "base/text.h"
#include "graph/accelerator.h"
#include "graph/kind.h"

enum { FARTHEST = 4096 }; /* maximum number of events before a call to search for the op around the call */

/* Stores in l->keys those keys of args that link launches to kernels (accelerator_links) and occur in the trace. Called once,
 * because most events have none of them. */
static void find_keys(struct launches *l) {
  l->n_keys = 0;
  for (const char *const *key = accelerator_links; *key; key++) {
    const tk_id id = trace_text_id(l->t, *key);
    if (id) l->keys[l->n_keys++] = id;
  }
}

static bool link_of(const struct launches *l, const struct tk_event *e, struct tk_arg *arg) {
  struct tk_args it = tk_args_of(l->t, e->args);
  for (uint32_t i = 0; it.shape && i < l->n_keys; i++) {
    uint32_t at = 0;
    while (at < it.shape->n && it.shape->fields[at].key != l->keys[i]) at++;
    if (at == it.shape->n) continue;
    do tk_args_next(&it, arg);
    while (arg->key != l->keys[i]);
    return true;
  }
  return false;
}

static bool correlation_of(const struct launches *l, const struct tk_event *e, int64_t *id) {
  enum { RANK_AT = 40 };
  struct tk_arg arg;
  if (!link_of(l, e, &arg) || (arg.type != TK_ARG_INT && arg.type != TK_ARG_UINT)) return false;
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
  find_keys(l);
  map_init(&l->calls, mem);
  for (tk_id i = 1; ok && i <= t->n_events; i++)
    if (wanted[t->events[i].cls] && correlation_of(l, &t->events[i], &id)) ok = map_put(&l->calls, (uint64_t)id, 0) != NULL;
  for (tk_id i = 1; ok && l->calls.n && i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (!(kinds.of_class[e->cls] & KIND_RUNTIME) || e->kind != TK_EVENT_SPAN || !correlation_of(l, e, &id)) continue;
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

/* ---- the clocks of a GPU and its CPU ---- */

enum { MOST_CHECKED = 4096 }; /* maximum number of kernels, copies and waits to check; a sample is enough, because a clock offset
                               * affects all of them */

/* Properties of a call or a copy that follow from its name, computed once per class because there are few names. */
enum { CALL_DEVICE_WAIT = 1, CALL_STREAM_WAIT = 2, CALL_COPY_WAIT = 4, CALL_LEAVES_WORK = 8, COPY_BACK = 16 };

struct checker {
  struct launches l;
  struct kinds kinds;
  uint8_t *said;
  struct launch_check *out;
  double *waits;   /* ps: time by which each wait ends before the awaited work ends */
  tk_id last_track;
  tk_id last;      /* last device work that this thread queued; 0 = none */
};

static bool is_clear(const struct tk_event *e) {
  return e->kind == TK_EVENT_SPAN && !(e->flags & (TK_FLAG_LOST_CLOCK | TK_FLAG_CLIPPED | TK_FLAG_UNFINISHED));
}

static uint8_t said_by(const char *name) {
  unsigned said = 0;
  if (strstr(name, "DeviceSynchronize")) said |= CALL_DEVICE_WAIT;
  if (strstr(name, "StreamSynchronize")) said |= CALL_STREAM_WAIT;
  if (strcmp(name, "cudaMemcpy") == 0 || strcmp(name, "hipMemcpy") == 0) said |= CALL_COPY_WAIT;
  if (strstr(name, "Memcpy") || strstr(name, "Launch")) said |= CALL_LEAVES_WORK;
  if (strstr(name, "DtoH") || strstr(name, "DeviceToHost")) said |= COPY_BACK;
  return (uint8_t)said;
}

static bool read_names(struct checker *c, struct mem *mem) {
  const struct tk_trace *t = c->l.t;
  c->said = mem_array(mem, (uint64_t)t->n_classes + 1, sizeof *c->said);
  for (tk_id i = 0; c->said && i <= t->n_classes; i++) c->said[i] = said_by(tk_string(t, t->classes[i].name, NULL));
  return c->said != NULL;
}

/* True for a copy to the host, for whose completion the caller waits. For a copy to the device, the caller only waits until the
 * data is staged. */
static bool is_copy_back(const struct checker *c, const struct tk_event *e) {
  return c->kinds.of_class[e->cls] & KIND_MEMCPY && c->said[e->cls] & COPY_BACK;
}

static bool list_device(struct checker *c) {
  uint32_t kernels = 0, copies = 0;
  int64_t id;
  for (tk_id i = 1; i <= c->l.t->n_events; i++) {
    const struct tk_event *e = &c->l.t->events[i];
    unsigned kind = c->kinds.of_class[e->cls];
    if (!(kind & (KIND_KERNEL | KIND_MEMCPY)) || !is_clear(e)) continue;
    if (kind & KIND_KERNEL ? kernels == MOST_CHECKED : copies == MOST_CHECKED || !is_copy_back(c, e)) continue;
    if (!correlation_of(&c->l, e, &id)) continue;
    if (!map_put(&c->l.calls, (uint64_t)id, i)) return false;
    kernels += (kind & KIND_KERNEL) != 0;
    copies += (kind & KIND_KERNEL) == 0;
  }
  return true;
}

static void check_launch(struct checker *c, const struct tk_event *call, const struct tk_event *kernel) {
  tk_time early = call->ts - kernel->ts;
  if (!c->out->kernels++ || -early < c->out->soonest) c->out->soonest = -early;
  c->out->early += early > 0;
  if (early > c->out->most) c->out->most = early;
}

/* Returns the work for which the call waits; 0 = unknown. A device synchronisation waits for the last work that its thread queued; so
 * does a stream synchronisation if that work is a copy to the host. A synchronous copy waits for itself (`own`). */
static tk_id waited_for(const struct checker *c, const struct tk_event *call, tk_id own) {
  const unsigned said = c->said[call->cls];
  if (said & CALL_DEVICE_WAIT) return c->last;
  if (own && said & CALL_COPY_WAIT) return own;
  return said & CALL_STREAM_WAIT && c->last && is_copy_back(c, &c->l.t->events[c->last]) ? c->last : 0;
}

/* Compares the start of a call with the start of the kernel that it launched, and the end of a call with the end of the GPU work for
 * which it waits. Must be called for all calls of a thread in a row, in the order of time. */
static void check_call(struct checker *c, const struct tk_event *call) {
  const struct tk_event *v = c->l.t->events;
  int64_t id;
  const uint32_t *at = correlation_of(&c->l, call, &id) ? map_get(&c->l.calls, (uint64_t)id) : NULL;
  if (call->track != c->last_track) c->last = 0;
  c->last_track = call->track;
  if (at && c->kinds.of_class[v[*at].cls] & KIND_KERNEL) check_launch(c, call, &v[*at]);
  tk_id awaited = waited_for(c, call, at ? *at : 0);
  if (awaited && c->out->waits < MOST_CHECKED) {
    double late = (double)(v[awaited].ts + v[awaited].dur - call->ts - call->dur);
    c->waits[c->out->waits++] = late;
    c->out->late += late > 0;
  }
  if (at) c->last = *at;
  else if (awaited || c->said[call->cls] & CALL_LEAVES_WORK) c->last = 0;
}

bool launches_check(const struct tk_trace *t, const struct track_origin *origins, struct mem *mem, struct launch_check *out) {
  struct checker c = {.l = {.t = t, .origins = origins}, .out = out, .waits = mem_array(mem, MOST_CHECKED, sizeof *c.waits)};
  bool ok = kinds_init(&c.kinds, t, mem) && c.waits && read_names(&c, mem);
  *out = (struct launch_check){0};
  map_init(&c.l.calls, mem);
  find_keys(&c.l);
  ok = ok && list_device(&c);
  for (tk_id i = 1; ok && c.l.calls.n && i <= t->n_events; i++)
    if (c.kinds.of_class[t->events[i].cls] & KIND_RUNTIME && is_clear(&t->events[i])) check_call(&c, &t->events[i]);
  if (ok && out->waits) out->middle = (tk_time)curve_median(c.waits, out->waits);
  mem_free(mem, c.waits);
  mem_free(mem, c.said);
  map_free(&c.l.calls);
  kinds_free(&c.kinds);
  return ok;
}

tk_id launches_call(const struct launches *l, const struct tk_event *kernel) {
  int64_t id;
  const uint32_t *at = l->t && correlation_of(l, kernel, &id) ? map_get(&l->calls, (uint64_t)id) : NULL;
  return at ? *at : 0;
}

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
