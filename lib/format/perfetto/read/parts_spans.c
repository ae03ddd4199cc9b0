/* parts_spans.c - joins the pieces of spans that cross the edges of parts (parts.h).
 *
 *     part 1    begin A  begin B             end B  end A |
 *     part 2                                              | begin A  begin B      end B  end A
 *
 * A cut clips the spans of track events, and marks them with the arg tracekit.clipped. On each track, the spans that are open at an
 * edge are in the same order in both parts, the outermost first. So their ends in the first part and their begins in the second one
 * are removed. A track whose pieces differ in number or name stays as it is. */
#include "parts_spans.h"

#include <string.h>

#include "base/keyed.h"
#include "graph/args.h"
#include "graph/keys.h"
#include "prune.h"
#include "prune_pass.h"

enum { AT_START = 1, AT_END = 2 }; /* bits of the edges at which a span is clipped */

/* Events at an edge, in the order of their tracks, then of the file. */
struct edge_events {
  struct keyed *v;
  uint32_t n, cap;
};

struct joining {
  struct perfetto *r;
  uint8_t *edges;  /* by event: AT_ bits of a begin event or a span */
  uint8_t *fate;   /* by event: PRUNE_ bits; PRUNE_KEEP = flow points refer to the event */
  uint8_t *joined; /* by event: the last piece of the span is another event; its args must change */
  tk_id *root;     /* by event: first piece of the span */
  struct edge_events ended, ends, begun; /* spans clipped at the end of a part; their ends; spans clipped at the next part's start */
};

static uint8_t edges_of(const struct tk_trace *t, const struct tk_event *e) {
  struct tk_arg arg;
  const bool may_be = (e->kind == TK_EVENT_BEGIN || e->kind == TK_EVENT_SPAN) && !(e->flags & TK_FLAG_ASYNC);
  if (!may_be || !args_of_event(t, e, KEY_CLIPPED, &arg) || arg.type != TK_ARG_STR) return 0;
  const char *text = tk_string(t, arg.s, NULL);
  if (strcmp(text, "both") == 0) return AT_START | AT_END;
  return strcmp(text, "end") == 0 ? AT_END : strcmp(text, "start") == 0 ? AT_START : 0;
}

static void add_to_edge(struct joining *j, struct edge_events *to, tk_id i) {
  struct mem *mem = &j->r->t->store->mem;
  if (mem_grow(mem, (void **)&to->v, &to->cap, (uint64_t)to->n + 1, sizeof *to->v))
    to->v[to->n++] = (struct keyed){j->r->t->events[i].track, i};
}

/* True if two times are equal except for rounding. */
static bool is_at(int64_t a, int64_t b) { return a >= num_sub(b, 1) && a <= num_add(b, 1); }

/* Collects the events of two parts at the edge between them. */
static void collect_edge(struct joining *j, const struct part_edge *first, const struct part_edge *second, tk_id end) {
  const struct tk_event *e = j->r->t->events;
  j->ended.n = j->ends.n = j->begun.n = 0;
  for (tk_id i = first->events + 1; i <= second->events; i++) {
    if (e[i].kind == TK_EVENT_END && !(e[i].flags & TK_FLAG_ASYNC) && is_at(e[i].ts, second->start)) add_to_edge(j, &j->ends, i);
    if (j->edges[i] & AT_END) add_to_edge(j, &j->ended, i);
  }
  for (tk_id i = second->events + 1; i <= end; i++)
    if (j->edges[i] & AT_START && is_at(e[i].ts, second->start)) add_to_edge(j, &j->begun, i);
}

static bool sort_edge(struct joining *j, struct edge_events *events) {
  struct mem *mem = &j->r->t->store->mem;
  struct keyed *spare = mem_array(mem, (uint64_t)events->n + 1, sizeof *spare);
  const struct keyed *sorted = spare && events->n ? keyed_sort(events->v, spare, events->n) : NULL;
  if (sorted && sorted != events->v) memcpy(events->v, sorted, events->n * sizeof *sorted);
  mem_free(mem, spare);
  return spare != NULL;
}

/* Part of a list that belongs to one track. */
struct run {
  const struct keyed *v;
  uint32_t n;
};

static struct run run_of(const struct edge_events *events, int64_t track) {
  uint32_t lo = 0, hi = events->n, n = 0;
  while (lo < hi) {
    const uint32_t mid = lo + (hi - lo) / 2;
    if (events->v[mid].key < track) lo = mid + 1;
    else hi = mid;
  }
  while (lo + n < events->n && events->v[lo + n].key == track) n++;
  return (struct run){events->v + lo, n};
}

/* True if the pieces of a track are the same spans, and nothing refers to the events that would be removed. */
static bool can_join(const struct joining *j, struct run ended, struct run ends, struct run begun) {
  const struct tk_event *e = j->r->t->events;
  uint32_t pairs = 0;
  if (ended.n != begun.n) return false;
  for (uint32_t i = 0; i < begun.n; i++) {
    const tk_id a = ended.v[i].index, b = begun.v[i].index;
    if (e[a].cls != e[b].cls || e[a].kind != e[b].kind || j->fate[b]) return false;
    pairs += e[a].kind == TK_EVENT_BEGIN;
  }
  for (uint32_t i = 0; i < ends.n; i++)
    if (j->fate[ends.v[i].index]) return false;
  return pairs == 0 || (pairs == begun.n && ends.n >= pairs);
}

static void join(struct joining *j, tk_id a, tk_id b) {
  struct tk_event *e = j->r->t->events;
  const tk_id root = j->root[b] = j->root[a];
  if (e[b].kind == TK_EVENT_SPAN) e[root].dur = num_sub(num_add(e[b].ts, e[b].dur), e[root].ts);
  j->fate[b] = PRUNE_GOES;
  j->joined[root] = 1;
  j->edges[root] = (uint8_t)((j->edges[root] & AT_START) | (j->edges[b] & AT_END));
}

static void join_edge(struct joining *j) {
  for (uint32_t i = 0; i < j->begun.n;) {
    const struct run begun = run_of(&j->begun, j->begun.v[i].key), ended = run_of(&j->ended, j->begun.v[i].key);
    const struct run ends = run_of(&j->ends, j->begun.v[i].key);
    i += begun.n;
    if (!can_join(j, ended, ends, begun)) continue;
    const bool is_pair = j->r->t->events[begun.v[0].index].kind == TK_EVENT_BEGIN;
    for (uint32_t k = 0; k < begun.n; k++) {
      join(j, ended.v[k].index, begun.v[k].index);
      if (is_pair) j->fate[ends.v[ends.n - 1 - k].index] = PRUNE_GOES;
    }
  }
}

/* Corrects the args of spans whose pieces were joined. */
static void correct_args(struct joining *j, tk_id i) {
  static const char *const TEXTS[] = {NULL, "start", "end", "both"};
  struct tk_trace *t = j->r->t;
  struct tk_args it = tk_args_of(t, t->events[i].args);
  struct tk_arg arg;
  args_begin(t);
  while (tk_args_next(&it, &arg))
    if (arg.key != KEY_CLIPPED) args_copy(t, &arg);
  if (TEXTS[j->edges[i]]) args_str(t, KEY_CLIPPED, TK_ARG_STR, trace_text(t, TEXTS[j->edges[i]]));
  t->events[i].args = args_end(t);
}

static void keep_linked(struct joining *j) {
  const struct perfetto *r = j->r;
  for (uint32_t i = 0; i < r->n_points; i++) j->fate[r->points[i].event] = PRUNE_KEEP;
  for (tk_id i = 1; i <= r->t->n_flow_points; i++)
    if (r->t->flow_points[i].bound) j->fate[r->t->flow_points[i].at] = PRUNE_KEEP;
}

static void join_all(struct joining *j) {
  const struct part_reader *s = &j->r->parts;
  const tk_id n = j->r->t->n_events;
  keep_linked(j);
  for (tk_id i = 1; i <= n; i++) j->edges[i] = edges_of(j->r->t, &j->r->t->events[i]), j->root[i] = i;
  for (uint32_t i = 1; i < s->n_edges; i++) {
    if (!s->edges[i].joins) continue;
    collect_edge(j, &s->edges[i - 1], &s->edges[i], i + 1 < s->n_edges ? s->edges[i + 1].events : n);
    if (sort_edge(j, &j->ended) && sort_edge(j, &j->ends) && sort_edge(j, &j->begun)) join_edge(j);
  }
  for (tk_id i = 1; i <= n; i++)
    if (j->joined[i] && j->root[i] == i) correct_args(j, i);
  prune_remove(j->r, j->fate);
}

void parts_join_spans(struct perfetto *r) {
  struct mem *mem = &r->t->store->mem;
  const uint64_t n = (uint64_t)r->t->n_events + 1;
  if (!r->parts.n_joined || r->filed || r->n_pending || r->gpu_links.len) return;
  struct joining j = {.r = r, .edges = mem_zeros(mem, n, 1), .fate = mem_zeros(mem, n, 1), .joined = mem_zeros(mem, n, 1),
                      .root = mem_array(mem, n, sizeof *j.root)};
  if (j.edges && j.fate && j.joined && j.root) join_all(&j);
  void *const all[] = {j.edges, j.fate, j.joined, j.root, j.ended.v, j.ends.v, j.begun.v};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) mem_free(mem, all[i]);
}
