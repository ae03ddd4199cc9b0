/* prune.c - drops events, while reading, that a later cut in time removes anyway.
 *
 * early.c does the same with packets. The rest of the program must not notice that events are missing, so an event is dropped only if
 * the result of every later step stays the same:
 *
 *     nesting      a begin and an end event are dropped together, if they are partners in any way of pairing; a complete span is
 *                  dropped if it ends inside the span around it. So the pairs and depths of all other events stay the same. On a track,
 *                  nothing is dropped from the first irregularity on
 *     order        the file need not be in order of time, so only events that were already there at the previous pass are dropped. If a
 *                  later event is inside the times of dropped spans of its track, the file is read again without this step
 *     flows        events with flow points stay, unless each point of their flows is outside of the range (prune_flows.c)
 *     counters     the last sample before the range stays, because it is the value at the start of the range
 *     tracks       the first event of each kind stays on each track, so the same tracks are created in the same order
 *     extent       the events that start first, start last and end last stay
 *     state        instants that state what is there later stay (graph/state_events.h)
 *
 * Dropped events are counted (trace_early.events). Their args are dropped as well; texts stay. Peak memory for 1 % of 200 MB of track
 * events, without this file: 303 MB; with it: 30 MB, wherever the range is. */
#include "prune.h"

#include <string.h>

#include "counters.h"
#include "graph/args.h"
#include "graph/state_events.h"
#include "prune_flows.h"

/* MOST, LEAST: events between two passes. A small file has fewer, one for each SHARE bytes, so that small files, such as those of
 * tests, are treated like large ones. */
enum { MOST = 1 << 17, LEAST = 16, SHARE = 1024 };
enum { NO_SAMPLE = UINT32_MAX };
static const int64_t HOUR_NS = (int64_t)3600 * 1000000000;

/* ---- what can be pruned ---- */

/* True if nothing has occurred so far whose effect on other events is only known at the end of the file. */
static bool is_possible(const struct perfetto *r) {
  const struct tk_trace *t = r->t;
  if (r->filed || r->n_pending || r->gpu_links.len || r->gpu_counters.n) return false;
  for (uint32_t i = 0; i < r->n_points; i++)
    if (r->points[i].at_end && r->points[i].site % ASPECTS != ON_TRACK) return false; /* seal binds it to an async span */
  for (tk_id i = 1; i <= t->n_events; i++)
    if (!perfetto_in_range(t->events[i].ts, t->events[1].ts)) return false;
  return true;
}

static bool grow_sites(struct perfetto *r, uint32_t n) {
  struct prune *p = &r->prune;
  if (!mem_grow(&r->t->store->mem, (void **)&p->sites, &p->cap_sites, n, sizeof *p->sites)) return false;
  const struct prune_hull none = {.first = INT64_MAX, .last = INT64_MIN};
  for (; p->n_sites < n; p->n_sites++) p->sites[p->n_sites] = (struct prune_site){.gone = {none, none}};
  return true;
}

/* Marks the threads that are described more than once: these become one track of the graph. */
static void find_shared(struct perfetto *r) {
  struct map seen;
  map_init(&seen, &r->t->store->mem);
  for (uint32_t i = 1; i <= r->n_nodes; i++) {
    const struct node *n = &r->nodes[i];
    if (n->kind != NODE_THREAD || n->in_packets) continue;
    uint32_t *slot = map_put(&seen, hash_pair((uint64_t)n->pid, (uint64_t)n->tid), i);
    if (!slot || *slot == i) continue;
    r->prune.sites[i * ASPECTS + ON_TRACK].shared = r->prune.sites[*slot * ASPECTS + ON_TRACK].shared = true;
  }
  map_free(&seen);
}

static bool is_empty(const struct prune_hull *h) { return h->first > h->last; }
static bool is_in(const struct prune_hull *h, int64_t ns) { return ns >= h->first && ns <= h->last; }

/* True if the event would be nested differently without the dropped events of its site. */
static bool intrudes(const struct perfetto *r, const struct tk_event *e) {
  const struct prune_site *s = &r->prune.sites[e->track];
  const int64_t end = prune_end_of(e);
  if (e->kind != TK_EVENT_BEGIN && e->kind != TK_EVENT_END && e->kind != TK_EVENT_SPAN) return false;
  for (int i = 0; i < 2; i++)
    if (is_in(&s->gone[i], e->ts) || is_in(&s->gone[i], end)) return true;
  return false;
}

static bool any_intrudes(const struct perfetto *r) {
  for (tk_id i = r->prune.settled + 1; i <= r->t->n_events; i++)
    if (intrudes(r, &r->t->events[i])) return true;
  return false;
}

static bool any_shared_lacks_events(const struct perfetto *r) {
  for (uint32_t i = 0; i < r->prune.n_sites; i++) {
    const struct prune_site *s = &r->prune.sites[i];
    if (s->shared && !(is_empty(&s->gone[0]) && is_empty(&s->gone[1]))) return true;
  }
  return false;
}

/* True for a trace of an hour or more, in which seal looks for events that are far from the others. */
static bool is_long(const struct tk_trace *t) {
  int64_t first = INT64_MAX, last = INT64_MIN;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    const int64_t end = prune_end_of(e);
    if (e->ts < first) first = e->ts;
    if (end > last) last = end;
  }
  return num_sub(last, first) >= HOUR_NS;
}

/* Updates on which sites nested events stay. Returns false if the events dropped so far would be needed, or if memory runs out. */
static bool prepare(struct perfetto *r) {
  if (!grow_sites(r, (r->n_nodes + 1) * ASPECTS) || !is_possible(r)) return false;
  find_shared(r);
  return !any_shared_lacks_events(r) && !any_intrudes(r) && !prune_flows_intrude(r) && !is_long(r->t);
}

/* ---- single events ---- */

static void judge_sample(struct prune_pass *p, tk_id i) {
  const struct tk_event *e = &p->r->t->events[i];
  const enum early_place place = early_place_of(p->r, e->ts);
  uint32_t *latest = map_put(&p->latest, hash_pair(e->track, e->cls), 0);
  if (!latest || place == EARLY_NEAR) return;
  if (*latest == 0) {
    *latest = place == EARLY_BEFORE ? i : NO_SAMPLE;
    p->fate[i] |= PRUNE_KEEP;
  } else if (place == EARLY_AFTER) {
    p->fate[i] |= PRUNE_GOES;
  } else if (*latest == NO_SAMPLE) {
    *latest = i;
  } else if (e->ts < p->r->t->events[*latest].ts) {
    p->fate[i] |= PRUNE_GOES;
  } else {
    p->fate[*latest] |= PRUNE_GOES;
    *latest = i;
  }
}

static void judge_single(struct prune_pass *p, tk_id i) {
  const struct tk_event *e = &p->r->t->events[i];
  const bool is_span = e->kind == TK_EVENT_SPAN, is_async = e->track % ASPECTS == ON_ASYNCS;
  if (e->kind == TK_EVENT_COUNTER) judge_sample(p, i);
  else if (is_span && e->track % ASPECTS == ON_TRACK) return; /* judge_nested */
  else if (!is_span && e->kind != TK_EVENT_SAMPLE && (e->kind != TK_EVENT_INSTANT || is_async)) return;
  else if (e->kind == TK_EVENT_INSTANT && p->is_state && p->is_state[e->cls]) return;
  else if (prune_is_outside(p, e->ts, prune_end_of(e))) p->fate[i] |= PRUNE_GOES;
}

/* ---- nested events ---- */

/* Returns the end of a span; a begin event has none yet. */
static int64_t end_of(const struct tk_event *e) { return e->kind == TK_EVENT_SPAN ? num_add(e->ts, e->dur) : INT64_MAX; }

static bool may_close(const struct perfetto *r, const struct tk_event *begin, const struct tk_event *end) {
  const struct tk_class *b = &r->t->classes[begin->cls], *e = &r->t->classes[end->cls];
  if (r->nodes[begin->track / ASPECTS].in_packets) return true;
  return (!e->name || e->name == b->name) && (!e->cat || e->cat == b->cat);
}

static void judge_pair(struct prune_pass *p, tk_id begin, tk_id end) {
  const struct tk_event *e = p->r->t->events;
  p->partner[begin] = end;
  p->partner[end] = begin;
  if ((p->fate[begin] | p->fate[end]) & PRUNE_KEEP || !prune_is_outside(p, e[begin].ts, e[end].ts)) return;
  p->fate[begin] |= PRUNE_GOES;
  p->fate[end] |= PRUNE_GOES;
}

/* Pairs begin and end events. Returns the number of events before the first irregularity. */
static uint32_t judge_pairs(struct prune_pass *p, uint32_t n) {
  const struct tk_event *e = p->r->t->events;
  uint32_t depth = 0;
  for (uint32_t i = 0; i < n; i++) {
    const tk_id id = p->order[i];
    if (e[id].kind == TK_EVENT_BEGIN) {
      if (depth == PRUNE_DEPTH) return i;
      p->stack[depth++] = id;
    } else if (depth == 0) {
      if (i + 1 < n && e[p->order[i + 1]].ts == e[id].ts) return i; /* maybe the end of the next begin event */
    } else {
      if (!may_close(p->r, &e[p->stack[depth - 1]], &e[id])) return i;
      judge_pair(p, p->stack[--depth], id);
    }
  }
  return n;
}

/* Finds spans that end inside the span around them; begin events have no end yet. Returns the number of events before the first
 * irregularity. */
static uint32_t judge_spans(struct prune_pass *p, uint32_t n) {
  const struct tk_event *e = p->r->t->events;
  uint32_t depth = 0;
  for (uint32_t i = 0; i < n; i++) {
    const struct tk_event *now = &e[p->order[i]], *before = i ? &e[p->order[i - 1]] : NULL;
    const bool is_tie = before && before->ts == now->ts;
    if (is_tie && ((before->flags | now->flags) & TK_FLAG_PAIRED || end_of(before) < end_of(now))) return i;
    for (; depth && end_of(&e[p->stack[depth - 1]]) <= now->ts; depth--) {
      const tk_id ended = p->stack[depth - 1];
      if (prune_is_outside(p, e[ended].ts, end_of(&e[ended]))) p->fate[ended] |= PRUNE_GOES;
    }
    if (depth == PRUNE_DEPTH || (depth && end_of(now) > end_of(&e[p->stack[depth - 1]]))) return i;
    p->stack[depth++] = p->order[i];
  }
  return n;
}

/* Returns false when memory runs out. */
static bool order_by_time(struct prune_pass *p, uint32_t n) {
  const struct tk_event *e = p->r->t->events;
  struct mem *mem = &p->r->t->store->mem;
  struct keyed *keys = mem_array(mem, n, sizeof *keys), *spare = mem_array(mem, n, sizeof *spare);
  const bool ok = keys && spare;
  for (uint32_t i = 0; ok && i < n; i++) keys[i] = (struct keyed){e[p->order[i]].ts, p->order[i]};
  const struct keyed *sorted = ok ? keyed_sort(keys, spare, n) : NULL;
  for (uint32_t i = 0; ok && i < n; i++) p->order[i] = sorted[i].index;
  mem_free(mem, keys);
  mem_free(mem, spare);
  return ok;
}

static void judge_nested(struct prune_pass *p, uint32_t site, const uint32_t *list, uint32_t n) {
  const struct tk_event *e = p->r->t->events;
  bool has_spans = false, has_ends = false, has_links = false, sorted = true;
  uint32_t n_order = 0;
  for (uint32_t i = 0; i < n; i++) {
    const tk_id id = list[i] + 1;
    const bool is_span = e[id].kind == TK_EVENT_SPAN, is_end = e[id].kind == TK_EVENT_END;
    if (!is_span && !is_end && e[id].kind != TK_EVENT_BEGIN) continue;
    has_spans |= is_span;
    has_ends |= is_end;
    has_links |= (p->fate[id] & PRUNE_LINKED) != 0;
    if (n_order && e[p->order[n_order - 1]].ts > e[id].ts) sorted = false;
    p->order[n_order++] = id;
  }
  /* if both occur, the order of simultaneous events depends on the rest of the file */
  if (has_spans == has_ends || (has_ends && has_links)) return;
  if (!sorted && !order_by_time(p, n_order)) return;
  prune_flows_site(p, site, has_ends ? judge_pairs(p, n_order) : judge_spans(p, n_order));
}

/* ---- a pass ---- */

/* Keeps the first event of each kind. */
static void keep_first(struct prune_pass *p, const uint32_t *list, uint32_t n) {
  uint32_t seen = 0;
  for (uint32_t i = 0; i < n; i++) {
    const struct tk_event *e = &p->r->t->events[list[i] + 1];
    const uint32_t bit = 1u << (e->kind * 2 + (e->flags & TK_FLAG_PAIRED ? 1 : 0));
    if (!(seen & bit)) p->fate[list[i] + 1] |= PRUNE_KEEP;
    seen |= bit;
  }
}

static void judge_sites(struct prune_pass *p) {
  for (uint32_t s = 0; s < p->n_sites; s++) {
    const uint32_t *list = p->list + p->first[s], n = p->first[s + 1] - p->first[s];
    keep_first(p, list, n);
    for (uint32_t i = 0; i < n; i++) judge_single(p, list[i] + 1);
    if (s % ASPECTS == ON_TRACK && !p->r->prune.sites[s].shared) judge_nested(p, s, list, n);
  }
}

/* Keeps the events that start first, start last and end last. */
static void keep_extent(struct prune_pass *p) {
  const struct tk_event *e = p->r->t->events;
  tk_id first = 0, last = 0, end = 0;
  for (tk_id i = 1; i <= p->n; i++) {
    if (!prune_goes(p, i)) continue;
    if (!first || e[i].ts < e[first].ts) first = i;
    if (!last || e[i].ts > e[last].ts) last = i;
    if (!end || prune_end_of(&e[i]) > prune_end_of(&e[end])) end = i;
  }
  prune_keep(p, first);
  prune_keep(p, last);
  prune_keep(p, end);
}

/* Keeps events that arrived since the previous pass, and events that are open. */
static void keep_needed(struct prune_pass *p) {
  struct perfetto *r = p->r;
  p->fate[1] |= PRUNE_KEEP;
  for (tk_id i = r->prune.settled + 1; i <= p->n; i++) p->fate[i] |= PRUNE_KEEP;
  for (uint32_t i = 1; i <= r->n_nodes; i++)
    for (tk_id open = r->nodes[i].open; open; open = (tk_id)r->t->events[open].dur) p->fate[open] |= PRUNE_KEEP | PRUNE_LINKED;
}

/* Counts the dropped events, and notes the times of those that were nested. */
static void note_gone(struct prune_pass *p) {
  struct perfetto *r = p->r;
  for (tk_id i = 1; i <= p->n; i++) {
    const struct tk_event *e = &r->t->events[i];
    if (!prune_goes(p, i)) continue;
    r->t->store->early.events += e->kind != TK_EVENT_END;
    r->t->store->early.guessed = true;
    const bool nests = e->kind == TK_EVENT_BEGIN || e->kind == TK_EVENT_END || e->kind == TK_EVENT_SPAN;
    if (!nests || e->track % ASPECTS != ON_TRACK) continue;
    const int64_t end = prune_end_of(e);
    struct prune_hull *gone = &r->prune.sites[e->track].gone[early_place_of(r, e->ts) == EARLY_AFTER];
    if (e->ts < gone->first) gone->first = e->ts;
    if (end > gone->last) gone->last = end;
  }
}

/* ---- removal ---- */

static uint32_t move_args(const struct tk_trace *t, uint32_t args, struct buf *to) {
  struct tk_args it = tk_args_of(t, args);
  struct tk_arg arg;
  if (!it.shape) return 0;
  while (tk_args_next(&it, &arg)) {}
  const uint32_t at = (uint32_t)to->len;
  buf_append(to, t->store->pool.data + args, (size_t)(it.next - (t->store->pool.data + args)));
  return at;
}

/* Copies the args that are still used to a new pool. */
static void move_pool(struct tk_trace *t) {
  struct buf to = {.mem = &t->store->mem};
  buf_append(&to, "", 1);
  for (tk_id i = 1; i <= t->n_events; i++) t->events[i].args = move_args(t, t->events[i].args, &to);
  for (tk_id i = 1; i <= t->n_flow_points; i++) t->flow_points[i].args = move_args(t, t->flow_points[i].args, &to);
  for (tk_id i = 1; i <= t->n_classes; i++) t->classes[i].args = move_args(t, t->classes[i].args, &to);
  t->store->weight = (struct stack_weight){.args = 0};
  buf_free(&t->store->pool);
  t->store->pool = to;
}

/* Moves the kept events, and stores their new ids in p->partner. */
static void move_events(struct prune_pass *p) {
  struct tk_trace *t = p->r->t;
  tk_id n = 0;
  for (tk_id i = 1; i <= p->n; i++) {
    const bool goes = prune_goes(p, i);
    if (!goes) t->events[++n] = t->events[i];
    p->partner[i] = goes ? 0 : n;
  }
  t->n_events = n;
}

/* Updates the ids of events in all data of the reader that refers to events. */
static void renumber(struct prune_pass *p) {
  struct perfetto *r = p->r;
  const uint32_t *now = p->partner;
  for (uint32_t i = 1; i <= r->n_nodes; i++) r->nodes[i].open = now[r->nodes[i].open];
  for (tk_id i = 1; i <= r->t->n_events; i++)
    if (r->t->events[i].kind == TK_EVENT_BEGIN) r->t->events[i].dur = now[r->t->events[i].dur];
  for (uint32_t i = 0; i < r->n_points; i++) r->points[i].event = now[r->points[i].event];
  for (tk_id i = 1; i <= r->t->n_flow_points; i++)
    if (r->t->flow_points[i].bound) r->t->flow_points[i].at = now[r->t->flow_points[i].at];
}

void prune_remove(struct perfetto *r, uint8_t *fate) {
  struct mem *mem = &r->t->store->mem;
  struct prune_pass p = {.r = r, .n = r->t->n_events, .fate = fate};
  p.partner = mem_zeros(mem, (uint64_t)p.n + 1, sizeof *p.partner);
  if (!p.partner) return;
  move_events(&p);
  renumber(&p);
  mem_free(mem, p.partner);
}

static bool begin_pass(struct prune_pass *p) {
  struct mem *mem = &p->r->t->store->mem;
  const uint64_t n = (uint64_t)p->n + 1;
  p->is_state = state_events_classes(p->r->t, mem);
  p->fate = mem_zeros(mem, n, sizeof *p->fate);
  p->partner = mem_zeros(mem, n, sizeof *p->partner);
  p->site = mem_array(mem, n, sizeof *p->site);
  p->list = mem_array(mem, n, sizeof *p->list);
  p->first = mem_array(mem, (uint64_t)p->n_sites + 2, sizeof *p->first);
  p->order = mem_array(mem, n, sizeof *p->order);
  p->stack = p->site; /* the array of sites is no longer needed */
  map_init(&p->latest, mem);
  return prune_flows_begin(p) && p->fate && p->partner && p->site && p->list && p->first && p->order;
}

/* Frees what is needed to judge the events, but not what the judgement consists of. */
static void end_judging(struct prune_pass *p) {
  void *const all[] = {p->is_state, p->site, p->first, p->list, p->order};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) mem_free(&p->r->t->store->mem, all[i]);
  map_free(&p->latest);
  prune_flows_judged(p);
  p->is_state = NULL;
  p->site = p->first = p->list = p->order = NULL;
}

static void end_pass(struct prune_pass *p) {
  end_judging(p);
  mem_free(&p->r->t->store->mem, p->fate);
  mem_free(&p->r->t->store->mem, p->partner);
  prune_flows_end(p);
}

static void run_pass(struct prune_pass *p) {
  for (tk_id i = 1; i <= p->n; i++) p->site[i - 1] = p->r->t->events[i].track;
  keyed_lists(p->site, p->n, p->n_sites, p->first, p->list);
  keep_needed(p);
  judge_sites(p);
  end_judging(p);
  prune_flows_drop(p);
  prune_flows_end(p);
  keep_extent(p);
  note_gone(p);
  move_events(p);
  renumber(p);
  move_pool(p->r->t);
}

void prune_start(struct perfetto *r) {
  const struct trace_early *e = &r->t->store->early;
  const uint64_t size = in_raw_total(r->in), batch = size / SHARE;
  r->prune.batch = size == 0 || batch > MOST ? MOST : batch < LEAST ? LEAST : (tk_id)batch;
  r->prune.next = e->asked && !e->is_certain ? r->prune.batch : UINT32_MAX;
}

/* Schedules the next pass. `n`: number of events before this one. The more older events could not be dropped, the later it is, so that
 * the total time stays linear; a file that is not in order of time, such as one with track after track, gets few passes. */
static void schedule(struct perfetto *r, tk_id n) {
  const tk_id n_older = r->prune.settled, n_left = n_older - (n - r->t->n_events);
  const uint64_t wait = n_left > r->prune.batch ? n_left > n_older / 2 ? (uint64_t)n_left * 3 : n_left : r->prune.batch;
  const uint64_t next = r->t->n_events + wait;
  r->prune.next = next < UINT32_MAX ? (tk_id)next : UINT32_MAX;
}

void prune_events(struct perfetto *r) {
  struct prune_pass p = {.r = r, .n = r->t->n_events};
  perfetto_end_collected(r);
  r->prune.next = UINT32_MAX;
  if (!prepare(r)) {
    r->t->store->early.failed = r->t->store->early.events != 0;
    return;
  }
  p.n_sites = r->prune.n_sites;
  if (begin_pass(&p)) {
    early_note_clock(r);
    run_pass(&p);
    schedule(r, p.n);
    r->prune.settled = r->t->n_events;
    r->prune.settled_points = r->t->n_flow_points;
    r->prune.settled_raw = r->n_points;
  }
  end_pass(&p);
}

void prune_check(struct perfetto *r) {
  struct trace_early *e = &r->t->store->early;
  if (e->events && !prepare(r)) e->failed = true;
}
