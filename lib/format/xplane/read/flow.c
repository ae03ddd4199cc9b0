/* flow.c - creates flow points from stats that link events.
 *
 *     flow             XFlow: bits 0-1 direction (1 in, 2 out, 3 both), 2-57 id, 58-63 category
 *     _pt, _p          producer: type and id of the context that begins here
 *     _ct, _c          consumer: type and id of the context that ends here
 *     correlation_id   links the launch on the host to the kernel on the device
 *
 * Each combination of kind, type and id gets a small flow id, because JSON's bind_id has no scope. The stats are also kept as args, so
 * that nothing is lost. */
#include <string.h>

#include "flow.h"
#include "graph/args.h"
#include "reader.h"

enum { KEYS = 7 };
static const char *const NAMES[KEYS] = {"flow", "_p", "_pt", "_c", "_ct", "correlation_id", XPLANE_LINK_KEY};
enum { FLOW, PRODUCER, PRODUCER_TYPE, CONSUMER, CONSUMER_TYPE, CORRELATION, LINK };

/* Names of tsl::profiler::ContextType, as xprof uses them for flows. */
static const char *const CATEGORIES[] = {
    "generic",        "legacy",        "tf_exec",           "tfrt_exec",        "batch_sched", "PjRt",
    "as_batch_sched", "tfrt_rt",       "tpu_embed",         "gpu_launch",       "batcher",     "tpu_stream",
    "tpu_launch",     "pathways_exec", "pjrt_library_call", "threadpool_event", "jax_serving", "sparsecore_offload"};
enum { N_CATEGORIES = sizeof CATEGORIES / sizeof CATEGORIES[0], GPU_LAUNCH = 9 };

struct linker {
  struct xplane_reader *r;
  struct map ids;
  struct map scopes; /* process -> number of its host, because ids of contexts are only valid within a host */
  uint32_t n_ids;
  uint64_t scope;
  tk_id keys[KEYS];
  tk_id classes[N_CATEGORIES]; /* classes of flows created so far; 0 = none */
};

/* Values of those args that link an event to others. */
struct links {
  bool has[KEYS];
  uint64_t value[KEYS];
};

static void find_links(const struct linker *l, uint32_t args, struct links *s) {
  struct tk_args it = tk_args_of(l->r->t, args);
  struct tk_arg arg;
  *s = (struct links){0};
  while (tk_args_next(&it, &arg)) {
    if (arg.type != TK_ARG_INT && arg.type != TK_ARG_UINT) continue;
    for (unsigned i = 0; i < KEYS; i++) {
      if (arg.key != l->keys[i]) continue;
      s->has[i] = true;
      s->value[i] = arg.u;
    }
  }
}

static tk_id flow_class_of(struct linker *l, uint64_t category) {
  struct tk_trace *t = l->r->t;
  tk_id *cls = &l->classes[category < N_CATEGORIES ? category : 0];
  if (!*cls) *cls = trace_class(t, l->keys[FLOW], trace_text(t, CATEGORIES[cls - l->classes]));
  return *cls;
}

/* Adds a flow point. `kind`: context, flow stat or correlation, whose ids are separate. */
static void add_point(struct linker *l, tk_id event, enum tk_flow_role role, unsigned kind, uint64_t category, uint64_t id) {
  uint64_t kind_key = hash_pair((uint64_t)kind << 62 | category, l->scope); /* hashed, because consecutive ids are added to it */
  uint32_t *slot = map_put(&l->ids, kind_key + id, 0);
  struct tk_flow_point *f;
  if (!slot) return;
  if (!*slot) *slot = ++l->n_ids;
  f = trace_add_flow_point(l->r->t);
  f->role = (uint8_t)role;
  f->cls = flow_class_of(l, category);
  f->id = *slot;
  f->bound = true;
  f->at = event;
}

/* Returns the args without the arg that only links the event to others. */
static uint32_t without_link(const struct linker *l, uint32_t args) {
  struct tk_args it = tk_args_of(l->r->t, args);
  struct tk_arg arg;
  args_begin(l->r->t);
  while (tk_args_next(&it, &arg))
    if (arg.key != l->keys[LINK]) args_copy(l->r->t, &arg);
  return args_end(l->r->t);
}

static void link_event(struct linker *l, tk_id event, bool device) {
  static const enum tk_flow_role roles[] = {TK_FLOW_IN, TK_FLOW_IN, TK_FLOW_OUT, TK_FLOW_INOUT};
  struct links s;
  find_links(l, l->r->t->events[event].args, &s);
  if (s.has[LINK]) {
    const uint32_t args = without_link(l, l->r->t->events[event].args);
    l->r->t->events[event].args = args;
    s = (struct links){.has[FLOW] = true, .value[FLOW] = s.value[LINK]};
  }
  if (s.has[FLOW] && s.value[FLOW] & 3) {
    add_point(l, event, roles[s.value[FLOW] & 3], 0, s.value[FLOW] >> 58, s.value[FLOW] >> 2 & (((uint64_t)1 << 56) - 1));
    return; /* xprof derives the stat "flow" from the context stats */
  }
  if (s.has[CONSUMER]) add_point(l, event, TK_FLOW_IN, 1, s.value[CONSUMER_TYPE], s.value[CONSUMER]);
  if (s.has[PRODUCER]) add_point(l, event, TK_FLOW_OUT, 1, s.value[PRODUCER_TYPE], s.value[PRODUCER]);
  if (s.has[CORRELATION] && s.value[CORRELATION])
    add_point(l, event, device ? TK_FLOW_IN : TK_FLOW_OUT, 2, GPU_LAUNCH, s.value[CORRELATION]);
}

/* Numbers the hosts. A file contains several if files were joined by cat or tracekit merged them. */
static void find_scopes(struct linker *l) {
  uint32_t n;
  const struct xplane_plane *planes = xplane_planes(l->r, &n);
  int64_t host;
  for (uint32_t i = 0; i < n; i++) {
    if (!planes[i].process) continue;
    if (!xplane_plane_int(l->r->t, &planes[i], XPLANE_PRIVATE_HOST, &host)) host = 0;
    map_put(&l->scopes, planes[i].process, (uint32_t)((uint64_t)planes[i].segment << 16 | (host & 0xffff)));
  }
}

void xplane_link(struct xplane_reader *r) {
  struct tk_trace *t = r->t;
  struct linker l = {.r = r};
  uint32_t n;
  const struct xplane_line *lines = xplane_lines(r, &n);
  map_init(&l.ids, &t->store->mem);
  map_init(&l.scopes, &t->store->mem);
  find_scopes(&l);
  for (unsigned i = 0; i < KEYS; i++) l.keys[i] = trace_text(t, NAMES[i]);
  for (uint32_t i = 0; i < n; i++) {
    const char *plane = tk_string(t, t->tracks[lines[i].process].name, NULL);
    bool device = strncmp(plane, "/device:", 8) == 0;
    if (!lines[i].links || lines[i].kind == XLINE_COUNTERS) continue;
    const uint32_t *scope = map_get(&l.scopes, lines[i].process);
    l.scope = scope ? *scope : 0;
    for (tk_id e = lines[i].first; e < lines[i].first + lines[i].count; e++)
      if (t->events[e].args) link_event(&l, e, device);
  }
  map_free(&l.ids);
  map_free(&l.scopes);
}
