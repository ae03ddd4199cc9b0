/* captured.c - see captured.h.
 *
 * A replayed kernel has the correlation of the call that launched the whole graph, so its launch does not reveal which operator created
 * it. Kineto adds the args "graph id" and "graph node id" to the kernel (CUPTI: graphNodeId; ROCm: pytorch/kineto#1567). The upper half
 * of the node id is the graph; the lower half is the position of the node in the order of capture. If the trace contains the capture,
 * the captured calls are in this order, between cudaStreamBeginCapture and cudaStreamEndCapture, and launched no work. A graph matches
 * a capture if both have the same sequence of kernels, copies and fills. If several captures match, the choice is unambiguous in two
 * cases: there are as many graphs as captures with this sequence (both are then in the same order), or all these captures have the same
 * operators.
 *
 * Nsight Systems records the creation of each node on the thread that captured it and, for a node of an instantiated graph, the node
 * from which it was copied (CUDA_GRAPH_NODE_EVENTS). If the trace has these records, they are used instead. */
#include "captured.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "graph/args.h"
#include "regions.h"

enum role { NO_ROLE, BEGINS, ENDS, KERNEL, COPY, FILL };

/* Calls that begin or end a capture, and calls that can be captured, recognised by a part of their names: cudaLaunchKernelExC,
 * cuLaunchKernel, hipModuleLaunchKernel, hipMemcpyAsync, ... */
static const struct {
  const char *part;
  uint8_t role;
} CALLS[] = {{"StreamBeginCapture", BEGINS}, {"StreamEndCapture", ENDS}, {"LaunchKernel", KERNEL}, {"LaunchCooperativeKernel", KERNEL},
             {"Memcpy", COPY}, {"Memset", FILL}};

/* A call in a capture, or a node of a graph. */
struct item {
  int64_t group;   /* for a call: index of the capture; for a node: id of the graph */
  int64_t place;   /* for a call: its time; for a node: its id */
  tk_id event;
  uint8_t role;
};

struct capture {
  int64_t rank;
  tk_time start, end;
};

struct items {
  struct item *v;
  uint32_t n, cap;
};

/* The items of one capture or graph, which are consecutive in the array. */
struct run {
  uint64_t sequence; /* hash of the roles (kernel, copy, fill) in order */
  uint32_t first, n; /* the items of this run: index of the first item, and number of items */
};

struct capturing {
  const struct kinds *kinds;
  const struct tk_trace *t;
  const struct track_origin *origins;
  struct mem *mem;
  uint8_t *roles; /* by class: role of its calls */
  struct capture *captures;
  uint32_t n_captures, cap_captures;
  struct items calls, nodes;
};

static int64_t rank_of(const struct capturing *c, const struct tk_event *e) { return c->origins ? c->origins[e->track].rank : -1; }

static bool find_roles(struct capturing *c) {
  bool any = false;
  c->roles = mem_alloc(c->mem, (uint64_t)c->t->n_classes + 1);
  for (tk_id i = 0; c->roles && i <= c->t->n_classes; i++) {
    const char *name = tk_string(c->t, c->t->classes[i].name, NULL);
    c->roles[i] = NO_ROLE;
    for (size_t k = 0; i && c->kinds->of_class[i] & KIND_RUNTIME && !c->roles[i] && k < sizeof CALLS / sizeof *CALLS; k++)
      if (strstr(name, CALLS[k].part)) c->roles[i] = CALLS[k].role;
    any = any || c->roles[i] == BEGINS;
  }
  return any;
}

static bool find_captures(struct capturing *c) {
  const struct tk_trace *t = c->t;
  tk_id begin = 0;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    const uint8_t role = e->kind == TK_EVENT_SPAN ? c->roles[e->cls] : NO_ROLE;
    if (role == BEGINS) begin = i;
    if (role != ENDS || !begin || t->events[begin].track != e->track) continue;
    if (!mem_grow(c->mem, (void **)&c->captures, &c->cap_captures, (uint64_t)c->n_captures + 1, sizeof *c->captures)) return false;
    c->captures[c->n_captures++] = (struct capture){rank_of(c, e), t->events[begin].ts, e->ts};
    begin = 0;
  }
  return true;
}

static int captures_in_order(const void *p, const void *q) {
  const struct capture *a = p, *b = q;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  return (a->start > b->start) - (a->start < b->start);
}

/* Returns the index of the capture that was in progress when the event began; -1 if there was none. */
static int64_t capture_at(const struct capturing *c, const struct tk_event *e) {
  const struct capture key = {rank_of(c, e), e->ts, 0};
  uint32_t lo = 0, hi = c->n_captures;
  while (lo < hi) {
    const uint32_t mid = lo + (hi - lo) / 2;
    if (captures_in_order(&c->captures[mid], &key) <= 0) lo = mid + 1;
    else hi = mid;
  }
  return lo && c->captures[lo - 1].rank == key.rank && e->ts < c->captures[lo - 1].end ? (int64_t)lo - 1 : -1;
}

static bool add_item(struct capturing *c, struct items *to, struct item item) {
  if (!mem_grow(c->mem, (void **)&to->v, &to->cap, (uint64_t)to->n + 1, sizeof *to->v)) return false;
  to->v[to->n++] = item;
  return true;
}

static int items_in_order(const void *p, const void *q) {
  const struct item *a = p, *b = q;
  if (a->group != b->group) return a->group < b->group ? -1 : 1;
  if (a->place != b->place) return a->place < b->place ? -1 : 1;
  return (a->event > b->event) - (a->event < b->event);
}

/* Collects the calls that were captured: outermost calls during a capture that launched no work. */
static bool find_calls(struct capturing *c, const tk_id *launch) {
  const struct tk_trace *t = c->t;
  uint8_t *worked = mem_zeros(c->mem, (uint64_t)t->n_events + 1, 1);
  if (!worked) return false;
  for (tk_id i = 1; i <= t->n_events; i++) worked[launch[i]] = 1;
  tk_id outer = 0;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind != TK_EVENT_SPAN || c->roles[e->cls] < KERNEL || worked[i]) continue;
    if (outer && t->events[outer].track == e->track && e->ts < t->events[outer].ts + t->events[outer].dur) continue;
    outer = i;
    const int64_t capture = capture_at(c, e);
    if (capture >= 0 && !add_item(c, &c->calls, (struct item){capture, e->ts, i, c->roles[e->cls]})) break;
  }
  mem_free(c->mem, worked);
  if (c->calls.n) qsort(c->calls.v, c->calls.n, sizeof *c->calls.v, items_in_order);
  return !c->mem->failed;
}

/* Collects the work that replayed graphs launched. Ranks may use equal graph ids, so the rank is part of the group. */
static bool find_nodes(struct capturing *c) {
  static const char GRAPH[] = "graph id", NODE[] = "graph node id";
  const struct tk_trace *t = c->t;
  const tk_id graph = trace_text_id(t, GRAPH);
  const tk_id node = trace_text_id(t, NODE);
  for (tk_id i = 1; node && i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    const unsigned kind = kinds_of(c->kinds, e);
    struct tk_arg arg;
    if (!(kind & KIND_DEVICE) || !(kind & (KIND_KERNEL | KIND_MEMCPY | KIND_MEMSET))) continue;
    if (!args_of_event(t, e, node, &arg) || (arg.type != TK_ARG_INT && arg.type != TK_ARG_UINT) || arg.i <= 0) continue;
    const int64_t place = arg.i;
    const bool stated = args_of_event(t, e, graph, &arg) && (arg.type == TK_ARG_INT || arg.type == TK_ARG_UINT);
    const uint64_t of = (uint64_t)(stated ? arg.i : place >> 32) & 0xffffffff;
    const int64_t group = (int64_t)((uint64_t)(rank_of(c, e) + 1) << 32 | of);
    const uint8_t role = kind & KIND_MEMCPY ? COPY : kind & KIND_MEMSET ? FILL : KERNEL;
    if (!add_item(c, &c->nodes, (struct item){group, place, i, role})) return false;
  }
  if (c->nodes.n) qsort(c->nodes.v, c->nodes.n, sizeof *c->nodes.v, items_in_order);
  return true;
}

/* Divides items into runs, one per capture or graph. A node that was replayed several times counts once. Returns the runs,
 * which the caller frees. */
static struct run *divide(struct capturing *c, const struct items *items, uint32_t *n) {
  struct run *runs = mem_array(c->mem, (uint64_t)items->n + 1, sizeof *runs);
  *n = 0;
  for (uint32_t i = 0; runs && i < items->n; i++) {
    const struct item *v = &items->v[i], *before = i ? v - 1 : NULL;
    const bool begins = !before || before->group != v->group;
    if (begins) runs[(*n)++] = (struct run){14695981039346656037u, i, 0};
    struct run *run = &runs[*n - 1];
    run->n++;
    if (begins || before->place != v->place) run->sequence = (run->sequence ^ v->role) * 1099511628211u;
  }
  return runs;
}

static int64_t run_rank(const struct capturing *c, const struct run *run, bool is_graph) {
  const struct item *v = is_graph ? &c->nodes.v[run->first] : &c->calls.v[run->first];
  return is_graph ? (v->group >> 32) - 1 : c->captures[v->group].rank;
}

static bool is_alike(const struct capturing *c, const struct run *run, bool is_graph, const struct run *graph) {
  return run->sequence == graph->sequence && run_rank(c, run, is_graph) == run_rank(c, graph, true);
}

static bool same_ops(const struct capturing *c, const struct run *a, const struct run *b, const tk_id *ops) {
  for (uint32_t i = 0; i < a->n && i < b->n; i++) {
    const tk_id x = ops[c->calls.v[a->first + i].event], y = ops[c->calls.v[b->first + i].event];
    if (!x != !y || (x && c->t->events[x].cls != c->t->events[y].cls)) return false;
  }
  return a->n == b->n;
}

struct joining {
  const struct run *graphs, *captures;
  uint32_t n_graphs, n_captures;
  const tk_id *ops; /* by event: the innermost operator around it */
};

/* Returns the capture from which the graph was made; NULL if no capture matches, or if the choice is ambiguous. */
static const struct run *capture_of(const struct capturing *c, const struct joining *j, const struct run *graph) {
  const struct run *first = NULL, *same = NULL;
  uint32_t n = 0, n_graphs = 0, ordinal = 0;
  bool equal = true;
  for (uint32_t i = 0; i < j->n_graphs; i++) {
    if (!is_alike(c, &j->graphs[i], true, graph)) continue;
    if (&j->graphs[i] == graph) ordinal = n_graphs;
    n_graphs++;
  }
  for (uint32_t i = 0; i < j->n_captures; i++) {
    const struct run *run = &j->captures[i];
    if (!is_alike(c, run, false, graph)) continue;
    if (!first) first = run;
    if (n++ == ordinal) same = run;
    equal = equal && same_ops(c, first, run, j->ops);
  }
  return n == n_graphs ? same : n > n_graphs && equal ? first : NULL;
}

/* Assigns the k-th call of the capture to the k-th node of the graph. */
static void join_graph(const struct capturing *c, const struct run *graph, const struct run *run, tk_id *capture) {
  uint32_t k = 0;
  for (uint32_t i = 0; i < graph->n && k < run->n; i++) {
    const struct item *v = &c->nodes.v[graph->first + i];
    if (i && v[-1].place != v->place && ++k == run->n) return;
    capture[v->event] = c->calls.v[run->first + k].event;
  }
}

static bool join_all(struct capturing *c, tk_id **capture) {
  const size_t n = (size_t)c->t->n_events + 1;
  struct joining j = {0};
  tk_id *ops = regions_around(c->kinds, REGION_OP, c->mem);
  struct run *graphs = divide(c, &c->nodes, &j.n_graphs), *captures = divide(c, &c->calls, &j.n_captures);
  *capture = mem_zeros(c->mem, n, sizeof **capture);
  j.graphs = graphs;
  j.captures = captures;
  j.ops = ops;
  for (uint32_t i = 0; !c->mem->failed && i < j.n_graphs; i++) {
    const struct run *run = capture_of(c, &j, &graphs[i]);
    if (run) join_graph(c, &graphs[i], run, *capture);
  }
  mem_free(c->mem, ops);
  mem_free(c->mem, graphs);
  mem_free(c->mem, captures);
  return !c->mem->failed;
}

/* ---- nodes whose creation was recorded ---- */

enum { COPIES_MOST = 16 }; /* maximum number of copies to follow back; nodes are copied when a graph is cloned or instantiated */

struct created {
  const struct tk_trace *t;
  struct map of_node; /* process and node id -> host event that created the node */
  tk_id node, original;
};

static bool number_of(const struct tk_trace *t, const struct tk_event *e, tk_id key, int64_t *number) {
  struct tk_arg arg;
  if (!key || !args_of_event(t, e, key, &arg) || (arg.type != TK_ARG_INT && arg.type != TK_ARG_UINT)) return false;
  *number = arg.i;
  return arg.i > 0;
}

static uint64_t node_key(const struct tk_trace *t, tk_id track, int64_t node) {
  return hash_mix(t->tracks[track].parent, (uint64_t)node);
}

static bool find_created(struct created *c, const struct kinds *kinds) {
  int64_t node;
  for (tk_id i = 1; i <= c->t->n_events; i++) {
    const struct tk_event *e = &c->t->events[i];
    if (kinds_of(kinds, e) & KIND_DEVICE || !number_of(c->t, e, c->node, &node)) continue;
    uint32_t *at = map_put(&c->of_node, node_key(c->t, e->track, node), i);
    if (!at) return false;
  }
  return true;
}

/* Returns the event that created the node from which this node was copied, directly or through other copies; 0 if it was not
 * recorded. */
static tk_id creation_of(struct created *c, tk_id track, int64_t node) {
  for (int i = 0; i < COPIES_MOST; i++) {
    const uint32_t *at = map_get(&c->of_node, node_key(c->t, track, node));
    int64_t original;
    if (!at) return 0;
    if (!number_of(c->t, &c->t->events[*at], c->original, &original)) return *at;
    node = original;
  }
  return 0;
}

/* For each kernel, copy and fill replayed from a CUDA graph, finds the event that created its node. Node ids are unique only within
 * the process that launched the graph. */
static bool join_created(const struct kinds *kinds, const tk_id *launch, struct mem *mem, tk_id **capture) {
  static const char NODE[] = "graph node id", ORIGINAL[] = "original graph node id";
  const struct tk_trace *t = kinds->t;
  struct created c = {.t = t, .node = trace_text_id(t, NODE), .original = trace_text_id(t, ORIGINAL)};
  const size_t n = (size_t)t->n_events + 1;
  int64_t node;
  if (!c.node || !c.original) return true;
  map_init(&c.of_node, mem);
  *capture = mem_zeros(mem, n, sizeof **capture);
  const bool ok = *capture && find_created(&c, kinds);
  for (tk_id i = 1; ok && i <= t->n_events; i++)
    if (launch[i] && number_of(t, &t->events[i], c.node, &node)) (*capture)[i] = creation_of(&c, t->events[launch[i]].track, node);
  map_free(&c.of_node);
  return ok;
}

bool captured_find(const struct kinds *kinds, const struct track_origin *origins, const tk_id *launch, struct mem *mem,
                   tk_id **capture) {
  struct capturing c = {.kinds = kinds, .t = kinds->t, .origins = origins, .mem = mem};
  *capture = NULL;
  bool ok = join_created(kinds, launch, mem, capture);
  if (ok && !*capture && find_roles(&c)) {
    ok = find_captures(&c);
    if (ok && c.n_captures) qsort(c.captures, c.n_captures, sizeof *c.captures, captures_in_order);
    ok = ok && (!c.n_captures || (find_calls(&c, launch) && find_nodes(&c)));
    if (ok && c.calls.n && c.nodes.n) ok = join_all(&c, capture);
  }
  mem_free(mem, c.roles);
  mem_free(mem, c.captures);
  mem_free(mem, c.calls.v);
  mem_free(mem, c.nodes.v);
  return ok && !mem->failed;
}

/* ---- calls ---- */

/* Open captures of one thread, which may capture several streams at once. */
struct open_captures {
  tk_id track, first; /* track: the thread; first: the call that began the outermost capture */
  uint32_t depth;
  tk_time mark_end;   /* end of the last call that began or ended a capture; nested calls are ignored */
};

/* Marks all spans of the track from the call that began the capture to the call that ended it. */
static void mark_captured(const struct tk_trace *t, tk_id first, tk_id last, bool *captured) {
  for (tk_id i = first; i <= last; i++) captured[i] = t->events[i].kind == TK_EVENT_SPAN;
}

/* Updates the open captures for a call that begins or ends a capture. Returns the first event of a capture that ends with the call;
 * otherwise 0. */
static tk_id pass_mark(const struct capturing *c, struct open_captures *o, tk_id id, uint8_t role) {
  const struct tk_event *e = &c->t->events[id];
  if (e->track != o->track) *o = (struct open_captures){.track = e->track, .mark_end = INT64_MIN};
  if (e->ts < o->mark_end) return 0; /* this call is a driver call inside the runtime call */
  o->mark_end = e->ts + e->dur;
  if (role == BEGINS && o->depth++ == 0) o->first = id;
  return role == ENDS && o->depth > 0 && --o->depth == 0 ? o->first : 0;
}

bool captured_calls(const struct kinds *kinds, struct mem *mem, bool **captured) {
  struct capturing c = {.kinds = kinds, .t = kinds->t, .mem = mem};
  struct open_captures o = {0};
  *captured = find_roles(&c) ? mem_zeros(mem, (uint64_t)c.t->n_events + 1, sizeof **captured) : NULL;
  for (tk_id i = 1; *captured && i <= c.t->n_events; i++) {
    const struct tk_event *e = &c.t->events[i];
    const uint8_t role = e->kind == TK_EVENT_SPAN ? c.roles[e->cls] : NO_ROLE;
    const tk_id first = role == BEGINS || role == ENDS ? pass_mark(&c, &o, i, role) : 0;
    if (first) mark_captured(c.t, first, i, *captured);
  }
  mem_free(mem, c.roles);
  return !mem->failed;
}

/* ---- ranges ---- */

/* Names of spans in which PyTorch records a graph (torch/_inductor/cudagraph_trees.py). */
static const char RECORDING[] = "CUDAGraphNode.record";

static bool add_range(struct captured_ranges *to, struct captured_range range, struct mem *mem) {
  if (!mem_grow(mem, (void **)&to->v, &to->cap, (uint64_t)to->n + 1, sizeof *to->v)) return false;
  to->v[to->n++] = range;
  return true;
}

/* Stores for each class whether its spans record a graph. Returns true if any does. */
static bool find_recording(const struct tk_trace *t, bool *records) {
  bool any = false;
  for (tk_id i = 1; i <= t->n_classes; i++) {
    records[i] = text_begins(tk_string(t, t->classes[i].name, NULL), RECORDING);
    any = any || records[i];
  }
  return any;
}

static int ranges_in_order(const void *p, const void *q) {
  const struct captured_range *a = p, *b = q;
  if (a->track != b->track) return a->track < b->track ? -1 : 1;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  return (a->end < b->end) - (a->end > b->end);
}

bool captured_ranges_find(const struct kinds *kinds, struct mem *mem, struct captured_ranges *ranges) {
  struct capturing c = {.kinds = kinds, .t = kinds->t, .mem = mem};
  struct open_captures o = {0};
  bool *records = mem_zeros(mem, (uint64_t)c.t->n_classes + 1, sizeof *records);
  const bool recordings = records && find_recording(c.t, records);
  const bool any = records && (find_roles(&c) || recordings);
  *ranges = (struct captured_ranges){NULL, 0, 0};
  for (tk_id i = 1; any && c.roles && i <= c.t->n_events; i++) {
    const struct tk_event *e = &c.t->events[i];
    const uint8_t role = e->kind == TK_EVENT_SPAN ? c.roles[e->cls] : NO_ROLE;
    if (role == BEGINS || role == ENDS) {
      const tk_id first = pass_mark(&c, &o, i, role);
      if (first && !add_range(ranges, (struct captured_range){e->track, c.t->events[first].ts, e->ts + e->dur}, mem)) break;
    } else if (e->kind == TK_EVENT_SPAN && records[e->cls] && !(e->flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK))) {
      if (!add_range(ranges, (struct captured_range){e->track, e->ts, e->ts + e->dur}, mem)) break;
    }
  }
  if (ranges->n) qsort(ranges->v, ranges->n, sizeof *ranges->v, ranges_in_order);
  mem_free(mem, records);
  mem_free(mem, c.roles);
  return !mem->failed;
}
