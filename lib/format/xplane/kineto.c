/* kineto.c - finds hosts, devices, steps and launches of a PyTorch profiler trace (kineto.h). */
#include "kineto.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"

static const unsigned ON_HOST = KIND_OP | KIND_RUNTIME;

/* ---- args ---- */

bool kineto_arg(const struct kineto *k, tk_id event, tk_id key, struct tk_arg *arg) {
  struct tk_args it = tk_args_of(k->t, k->t->events[event].args);
  while (key && tk_args_next(&it, arg))
    if (arg->key == key) return true;
  return false;
}

/* Returns an id arg as a number. Ids of 64 bits or more are kept as interned text. */
static bool id_of(const struct kineto *k, tk_id event, tk_id key, uint64_t *id) {
  struct tk_arg arg;
  if (!kineto_arg(k, event, key, &arg)) return false;
  if (arg.type == TK_ARG_NUMBER || arg.type == TK_ARG_STR) {
    *id = ((uint64_t)arg.s << 32) * 0x9e3779b97f4a7c15u;
    return true;
  }
  if (arg.type != TK_ARG_INT && arg.type != TK_ARG_UINT) return false;
  if (arg.type == TK_ARG_INT && arg.i < 0) return false;
  *id = arg.u;
  return true;
}

int64_t kineto_int(const struct kineto *k, tk_id event, tk_id key) {
  struct tk_arg arg;
  return kineto_arg(k, event, key, &arg) && arg.type == TK_ARG_INT ? arg.i : -1;
}

/* ---- recognition ---- */

/* True if the trace has categories that only Kineto uses, for devices or for ops. */
static bool is_kineto(const struct kinds *kinds) {
  static const char *const OPS[] = {"cpu_op", "Operator", NULL};
  const struct tk_trace *t = kinds->t;
  for (tk_id i = 1; i <= t->n_classes; i++) {
    const char *cat = tk_string(t, t->classes[i].cat, NULL);
    if (kinds->of_class[i] & KIND_DEVICE || strcmp(cat, OPS[0]) == 0 || strcmp(cat, OPS[1]) == 0) return true;
  }
  return false;
}

bool kineto_is_memory(const struct kineto *k, const struct tk_event *e) {
  return k->keys.address && strcmp(tk_string(k->t, k->t->classes[e->cls].name, NULL), "[memory]") == 0;
}

static bool is_device(const struct kineto *k, const struct tk_event *e) { return (k->kinds.of_class[e->cls] & KIND_DEVICE) != 0; }

static void find_keys(struct kineto *k) {
  const struct {
    tk_id *key;
    const char *name, *other;
  } KEYS[] = {{&k->keys.correlation, "correlation", NULL},
              {&k->keys.external, "External id", "external id"},
              {&k->keys.device, "device", NULL},
              {&k->keys.grid, "grid", NULL},
              {&k->keys.block, "block", NULL},
              {&k->keys.regs, "registers per thread", NULL},
              {&k->keys.shared, "shared memory", NULL},
              {&k->keys.occupancy, "est. achieved occupancy %", NULL},
              {&k->keys.bytes, "bytes", NULL},
              {&k->keys.size, "Bytes", NULL},
              {&k->keys.address, "Addr", NULL},
              {&k->keys.device_type, "Device Type", NULL},
              {&k->keys.device_id, "Device Id", NULL},
              {&k->keys.allocated, "Total Allocated", NULL},
              {&k->keys.reserved, "Total Reserved", NULL}};
  for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
    *KEYS[i].key = trace_text_id(k->t, KEYS[i].name);
    if (!*KEYS[i].key && KEYS[i].other) *KEYS[i].key = trace_text_id(k->t, KEYS[i].other);
  }
}

/* ---- roles of processes ---- */

static void find_roles(struct kineto *k, bool (*wanted)(const void *arg, tk_id process), const void *arg) {
  const struct tk_trace *t = k->t;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    uint8_t *role = &k->roles[kineto_process(t, e->track)];
    if (e->flags & TK_FLAG_LOST_CLOCK || *role == KINETO_DEVICE) continue;
    if (is_device(k, e)) *role = KINETO_DEVICE;
    else if (k->kinds.of_class[e->cls] & ON_HOST) *role = KINETO_HOST;
  }
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].kind != TK_TRACK_PROCESS || t->tracks[i].hidden || !wanted(arg, i)) k->roles[i] = KINETO_OTHER;
}

/* Finds the host process. Kineto records one Python process; if there are several, the trace is a merge of ranks, and this
 * returns false. */
static bool find_host(struct kineto *k) {
  for (tk_id i = 1; i <= k->t->n_tracks; i++) {
    if (k->roles[i] != KINETO_HOST) continue;
    if (k->host) return false;
    k->host = i;
  }
  return true;
}

/* ---- steps ---- */

static bool is_step(const struct kineto *k, const struct tk_event *e) {
  return e->kind == TK_EVENT_SPAN && !(e->flags & TK_FLAG_LOST_CLOCK) && k->kinds.of_class[e->cls] & KIND_STEP;
}

static uint32_t count_steps(const struct kineto *k, const struct tk_track *track) {
  uint32_t n = 0;
  for (tk_id i = track->first; i < track->first + track->count; i++) n += is_step(k, &k->t->events[i]);
  return n;
}

/* Adds the steps of a track. A step inside another one is skipped, because some versions mark each step by two spans. */
static bool add_steps(struct kineto *k, const struct tk_track *track) {
  for (tk_id i = track->first; i < track->first + track->count; i++) {
    const struct tk_event *e = &k->t->events[i];
    if (!is_step(k, e) || (k->n_steps && e->ts < k->steps[k->n_steps - 1].end)) continue;
    if (!mem_grow(k->mem, (void **)&k->steps, &k->cap_steps, (uint64_t)k->n_steps + 1, sizeof *k->steps)) return false;
    k->steps[k->n_steps] = (struct kineto_step){e->ts, e->ts + e->dur, i, k->n_steps};
    k->n_steps++;
  }
  return true;
}

static bool kineto_number_of(const struct kineto *k, const struct kineto_step *step, int64_t *number) {
  const char *name = tk_string(k->t, k->t->classes[k->t->events[step->event].cls].name, NULL), *at = strchr(name, '#');
  const uint8_t *end;
  if (!at) return false;
  const struct num n = num_scan((const uint8_t *)at + 1, &end);
  if (n.kind != NUM_INT || *end || n.mant < 0 || n.mant > INT32_MAX) return false;
  *number = n.mant;
  return true;
}

static void number_steps(struct kineto *k) {
  int64_t last = -1, number;
  for (uint32_t i = 0; i < k->n_steps; i++, last = number)
    if (!kineto_number_of(k, &k->steps[i], &number) || number <= last) return;
  for (uint32_t i = 0; i < k->n_steps; i++) kineto_number_of(k, &k->steps[i], &k->steps[i].group);
}

/* Uses the steps of the thread that has the most steps. */
static bool find_steps(struct kineto *k) {
  const struct tk_trace *t = k->t;
  uint32_t most = 0;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *track = &t->tracks[i];
    if (track->kind != TK_TRACK_THREAD || k->roles[track->parent] == KINETO_DEVICE) continue; /* any process that is not a
                                                                                                 device may have the thread */
    const uint32_t n = count_steps(k, track);
    if (n > most) most = n, k->steps_on = i;
  }
  if (k->steps_on && !add_steps(k, &t->tracks[k->steps_on])) return false;
  number_steps(k);
  return true;
}

const struct kineto_step *kineto_step_of(const struct kineto *k, tk_id event) {
  const tk_id call = kineto_launch_of(k, event).call;
  const tk_time ts = k->t->events[call ? call : event].ts;
  uint32_t lo = 0;
  for (uint32_t hi = k->n_steps; lo < hi;) {
    const uint32_t mid = lo + (hi - lo) / 2;
    if (k->steps[mid].start <= ts) lo = mid + 1;
    else hi = mid;
  }
  return lo && ts < k->steps[lo - 1].end ? &k->steps[lo - 1] : NULL;
}

/* ---- launches ---- */

/* Maps to indices in `launches`: calls by correlation id, ops by their own ids. */
struct launch_maps {
  struct map calls, externals;
};

static bool add_launch(struct kineto *k, struct map *by_id, tk_id event, tk_id key, struct kineto_launch launch) {
  uint64_t id;
  if (!id_of(k, event, key, &id)) return true;
  uint32_t *slot = map_put(by_id, id, 0);
  if (!slot) return false;
  if (*slot) return true; /* the first call with this id is used */
  if (!mem_grow(k->mem, (void **)&k->launches, &k->cap_launches, (uint64_t)k->n_launches + 2, sizeof *k->launches)) return false;
  k->launches[++k->n_launches] = launch;
  *slot = k->n_launches;
  return true;
}

/* Finds the calls and ops of a thread. Its events are in preorder, so the parent of an event is the last event before it with a
 * smaller depth. */
static bool survey_thread(struct kineto *k, struct launch_maps *maps, const struct tk_track *track, tk_id *ops) {
  const struct tk_trace *t = k->t;
  for (tk_id i = track->first; i < track->first + track->count; i++) {
    const struct tk_event *e = &t->events[i];
    const tk_id above = e->depth ? ops[e->depth - 1] : 0;
    const unsigned kind = k->kinds.of_class[e->cls];
    ops[e->depth] = kind & KIND_OP ? e->cls : above;
    const struct kineto_launch call = {i, above}, op = {0, e->cls};
    if (kind & KIND_RUNTIME && !add_launch(k, &maps->calls, i, k->keys.correlation, call)) return false;
    if (kind & KIND_OP && !add_launch(k, &maps->externals, i, k->keys.external, op)) return false;
  }
  return true;
}

static void find_launch(struct kineto *k, const struct launch_maps *maps, tk_id event) {
  uint64_t id;
  const uint32_t *call = id_of(k, event, k->keys.correlation, &id) ? map_get(&maps->calls, id) : NULL;
  const uint32_t *op = id_of(k, event, k->keys.external, &id) ? map_get(&maps->externals, id) : NULL;
  k->launch_of[event] = call ? *call : op ? *op : 0;
  /* If no op encloses the call, the launched event may still state its op. */
  if (call && op && !k->launches[*call].op) k->launches[*call].op = k->launches[*op].op;
}

static bool find_launches(struct kineto *k) {
  const struct tk_trace *t = k->t;
  struct launch_maps maps;
  bool ok = mem_grow(k->mem, (void **)&k->launches, &k->cap_launches, 1, sizeof *k->launches);
  tk_id *ops = mem_array(k->mem, UINT16_MAX + 1, sizeof *ops);
  map_init(&maps.calls, k->mem);
  map_init(&maps.externals, k->mem);
  if (ok) k->launches[0] = (struct kineto_launch){0, 0};
  for (tk_id i = 1; ok && ops && i <= t->n_tracks; i++)
    if (t->tracks[i].kind == TK_TRACK_THREAD && t->tracks[i].parent == k->host) ok = survey_thread(k, &maps, &t->tracks[i], ops);
  for (tk_id i = 1; ok && ops && i <= t->n_events; i++)
    if (is_device(k, &t->events[i]) && k->roles[kineto_process(t, t->events[i].track)] == KINETO_DEVICE) find_launch(k, &maps, i);
  map_free(&maps.calls);
  map_free(&maps.externals);
  mem_free(k->mem, ops);
  return ok && ops;
}

/* ---- allocators ---- */

static int by_event(const void *a, const void *b) {
  const struct kineto_peak *x = a, *y = b;
  return x->event < y->event ? -1 : x->event > y->event;
}

static int kineto_by_time(const void *a, const void *b, void *arg) {
  const struct kineto_peak *x = a, *y = b;
  const struct tk_event *events = ((const struct kineto *)arg)->t->events;
  if (events[x->event].ts != events[y->event].ts) return events[x->event].ts < events[y->event].ts ? -1 : 1;
  return by_event(a, b);
}

/* Computes the peaks. Samples of an allocator may be on several threads. */
static bool find_peaks(struct kineto *k) {
  for (tk_id i = 1; i <= k->t->n_events; i++) {
    if (!kineto_is_memory(k, &k->t->events[i])) continue;
    if (!mem_grow(k->mem, (void **)&k->peaks, &k->cap_peaks, (uint64_t)k->n_peaks + 1, sizeof *k->peaks)) return false;
    k->peaks[k->n_peaks++] = (struct kineto_peak){i, kineto_int(k, i, k->keys.allocated)};
  }
  struct map most; /* allocator -> 1 + index of its highest peak so far */
  map_init(&most, k->mem);
  os_sort(k->peaks, k->n_peaks, sizeof *k->peaks, kineto_by_time, k);
  for (uint32_t i = 0; i < k->n_peaks; i++) {
    const tk_id event = k->peaks[i].event;
    const uint64_t pool = (uint64_t)kineto_int(k, event, k->keys.device_type) << 32 ^ (uint64_t)kineto_int(k, event, k->keys.device_id);
    uint32_t *at = map_put(&most, pool, i + 1);
    if (!at) break;
    if (k->peaks[i].bytes >= k->peaks[*at - 1].bytes) *at = i + 1;
    else k->peaks[i].bytes = k->peaks[*at - 1].bytes;
  }
  map_free(&most);
  if (k->n_peaks) qsort(k->peaks, k->n_peaks, sizeof *k->peaks, by_event);
  return !k->mem->failed;
}

int64_t kineto_peak_of(const struct kineto *k, tk_id event) {
  const struct kineto_peak wanted = {.event = event};
  const struct kineto_peak *p = k->n_peaks ? bsearch(&wanted, k->peaks, k->n_peaks, sizeof *k->peaks, by_event) : NULL;
  return p ? p->bytes : -1;
}

/* ---- everything ---- */

static bool make_tables(struct kineto *k) {
  const size_t tracks = (size_t)k->t->n_tracks + 1, events = (size_t)k->t->n_events + 1;
  k->roles = mem_zeros(k->mem, tracks, sizeof *k->roles);
  k->launch_of = mem_zeros(k->mem, events, sizeof *k->launch_of);
  if (!k->roles || !k->launch_of) return false;
  return true;
}

struct kineto *kineto_new(const struct tk_trace *t, bool (*wanted)(const void *arg, tk_id process), const void *arg, struct mem *mem) {
  struct kineto *k = mem_alloc(mem, sizeof *k);
  if (!k) return NULL;
  *k = (struct kineto){.mem = mem, .t = t};
  if (kinds_init(&k->kinds, t, mem) && is_kineto(&k->kinds) && make_tables(k)) {
    find_keys(k);
    find_roles(k, wanted, arg);
    if (find_host(k) && find_steps(k) && find_launches(k) && find_peaks(k)) return k;
  }
  kineto_free(k);
  return NULL;
}

void kineto_free(struct kineto *k) {
  if (!k) return;
  struct mem *mem = k->mem;
  kinds_free(&k->kinds);
  mem_free(mem, k->roles);
  mem_free(mem, k->launch_of);
  mem_free(mem, k->peaks);
  mem_free(mem, k->steps);
  mem_free(mem, k->launches);
  mem_free(mem, k);
}
