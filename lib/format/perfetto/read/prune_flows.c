/* prune_flows.c - drops flows, while reading, that a later cut in time removes anyway (prune.c).
 *
 * A flow is dropped if both of its ends are known, and each of its points belongs to an event outside of the range. A point of an end
 * event, and a point in private fields, belongs to the span to which seal will bind the point. This span is only known in the regular
 * part of a track. The ids of dropped flows are kept: if one of them occurs again, the file is read again without this step. */
#include "prune_flows.h"

#include <stdlib.h>
#include <string.h>

/* A point that seal binds to a span: of an end event, or in private fields. */
struct prune_point {
  int64_t ts;
  uint32_t site, index; /* index: in raw_point, or id of the flow point */
  bool is_raw, is_next; /* is_next: bound to the next span that starts */
};

/* Facts about all points with one id. */
struct prune_flow {
  int64_t special, other; /* time of the first start, and of the first other point; raw: of the last terminating point, and of the
                           * last other point */
  uint32_t n, n_special;  /* number of points; of starts; raw: of terminating points */
  bool stays, is_raw;
};

static uint64_t key_of_point(const struct tk_flow_point *f) {
  return hash_pair((uint64_t)f->id, (uint64_t)f->cls << 1 | (f->id_kind == TK_FLOW_ID_STR)) | 1;
}

static uint64_t key_of_raw(const struct raw_point *p) { return hash_number(p->id) & ~1ull; }

/* ---- spans of points ---- */

static int by_site_and_time(const void *a, const void *b) {
  const struct prune_point *x = a, *y = b;
  if (x->site != y->site) return x->site < y->site ? -1 : 1;
  if (x->ts != y->ts) return x->ts < y->ts ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

bool prune_flows_begin(struct prune_pass *p) {
  struct perfetto *r = p->r;
  struct mem *mem = &r->t->store->mem;
  const uint64_t n = (uint64_t)r->n_points + r->t->n_flow_points + 1;
  p->points = mem_array(mem, n, sizeof *p->points);
  p->target = mem_zeros(mem, (uint64_t)r->t->n_flow_points + 1, sizeof *p->target);
  p->raw_target = mem_zeros(mem, (uint64_t)r->n_points + 1, sizeof *p->raw_target);
  if (!p->points || !p->target || !p->raw_target) return false;
  for (uint32_t i = 0; i < r->n_points; i++) {
    const struct raw_point *f = &r->points[i];
    if (f->at_end) p->points[p->n_points++] = (struct prune_point){.ts = f->ts, .site = f->site, .index = i, .is_raw = true};
    else p->raw_target[i] = f->event;
  }
  for (tk_id i = 1; i <= r->t->n_flow_points; i++) {
    const struct tk_flow_point *f = &r->t->flow_points[i];
    const bool is_next = f->role == TK_FLOW_END && !f->enclosing;
    if (f->bound) p->target[i] = f->at;
    else p->points[p->n_points++] = (struct prune_point){.ts = f->ts, .site = f->at, .index = i, .is_next = is_next};
  }
  if (p->n_points) qsort(p->points, p->n_points, sizeof *p->points, by_site_and_time);
  return true;
}

void prune_flows_judged(struct prune_pass *p) {
  mem_free(&p->r->t->store->mem, p->points);
  p->points = NULL;
}

void prune_flows_end(struct prune_pass *p) {
  struct mem *mem = &p->r->t->store->mem;
  mem_free(mem, p->target);
  mem_free(mem, p->raw_target);
  p->target = p->raw_target = NULL;
}

static int64_t end_of_open(const struct prune_pass *p, tk_id i) {
  const struct tk_event *e = p->r->t->events;
  return e[i].kind == TK_EVENT_SPAN ? prune_end_of(&e[i]) : p->partner[i] ? e[p->partner[i]].ts : INT64_MAX;
}

/* State of going through the spans of a site. */
struct binder {
  struct prune_pass *p;
  uint32_t n, at, depth, next;
};

static bool starts(const struct tk_event *e) { return e->kind == TK_EVENT_BEGIN || e->kind == TK_EVENT_SPAN; }

/* Goes on to the time `ts`. A point at the end of an end event is inside its span. */
static void go_on(struct binder *b, int64_t ts) {
  struct prune_pass *p = b->p;
  const struct tk_event *e = p->r->t->events;
  for (; b->at < b->n && e[p->order[b->at]].ts <= ts; b->at++) {
    const tk_id id = p->order[b->at];
    if (!starts(&e[id])) continue;
    while (b->depth && end_of_open(p, p->stack[b->depth - 1]) <= e[id].ts) b->depth--;
    p->stack[b->depth++] = id;
  }
  while (b->depth && end_of_open(p, p->stack[b->depth - 1]) < ts) b->depth--;
}

/* Finds the span of the point; if it is unknown, keeps all spans that may be the one. */
static void bind(struct binder *b, const struct prune_point *f) {
  struct prune_pass *p = b->p;
  const struct tk_event *e = p->r->t->events;
  tk_id *target = f->is_raw ? &p->raw_target[f->index] : &p->target[f->index];
  const int64_t at = f->is_raw ? f->ts - 1 : f->ts; /* seal binds it just before the end */
  if (f->is_next) {
    for (; b->next < b->n && (e[p->order[b->next]].ts < f->ts || !starts(&e[p->order[b->next]])); b->next++) {}
    if (b->next < b->n) *target = p->order[b->next];
    return;
  }
  go_on(b, at);
  if (b->at == b->n || f->is_raw)
    for (uint32_t i = 0; i < b->depth; i++) prune_keep(p, p->stack[i]);
  else if (b->depth) *target = p->stack[b->depth - 1];
}

void prune_flows_site(struct prune_pass *p, uint32_t site, uint32_t n) {
  struct binder b = {.p = p, .n = n};
  while (p->next_point < p->n_points && p->points[p->next_point].site < site) p->next_point++;
  for (; p->next_point < p->n_points && p->points[p->next_point].site == site; p->next_point++) bind(&b, &p->points[p->next_point]);
}

/* ---- flows ---- */

struct dropper {
  struct prune_pass *p;
  struct map index; /* key -> index in `flows` */
  struct prune_flow *flows;
  uint32_t n, cap;
};

/* Returns the flow with this key, which is new if its n is 0; NULL when memory runs out. */
static struct prune_flow *flow_of(struct dropper *d, uint64_t key) {
  struct mem *mem = &d->p->r->t->store->mem;
  uint32_t *slot = map_put(&d->index, key, 0);
  if (!slot || !mem_grow(mem, (void **)&d->flows, &d->cap, (uint64_t)d->n + 2, sizeof *d->flows)) return NULL;
  if (!*slot) {
    *slot = ++d->n;
    d->flows[d->n] = (struct prune_flow){.n = 0};
  }
  return &d->flows[*slot];
}

static void add_point(const struct prune_pass *p, struct prune_flow *flow, tk_id i) {
  const struct tk_flow_point *f = &p->r->t->flow_points[i];
  const bool is_start = f->role == TK_FLOW_START || f->role == TK_FLOW_OUT;
  int64_t *first = is_start ? &flow->special : &flow->other;
  if (flow->n == 0) flow->special = flow->other = INT64_MAX;
  if (f->ts < *first) *first = f->ts;
  flow->n++;
  flow->n_special += is_start;
  flow->stays |= i > p->r->prune.settled_points || !p->target[i] || !prune_goes(p, p->target[i]) || !prune_is_outside(p, f->ts, f->ts);
}

static void add_raw(const struct prune_pass *p, struct prune_flow *flow, uint32_t i) {
  const struct raw_point *f = &p->r->points[i];
  int64_t *last = f->terminating ? &flow->special : &flow->other;
  if (flow->n == 0) flow->special = flow->other = INT64_MIN;
  if (f->ts > *last) *last = f->ts;
  flow->n++;
  flow->is_raw = true;
  flow->n_special += f->terminating;
  flow->stays |= i >= p->r->prune.settled_raw || f->direction || !p->raw_target[i] || !prune_goes(p, p->raw_target[i]) ||
                 p->r->nodes[f->site / ASPECTS].machine;
}

/* True if both ends of the flow have been read, and the flow has no effect on other flows or on messages: its id was used once, and it
 * does not end before it starts. */
static bool is_regular(const struct prune_flow *f) {
  if (f->n < 2) return false;
  if (f->is_raw) return f->n_special == 0 || (f->n_special == 1 && f->other < f->special);
  return f->n_special == 1 && f->special <= f->other;
}

/* True if the ids of flows may depend on the ranks of processes, which other programs state in labels or records (source/merged.c). */
static bool has_ranks(const struct perfetto *r) {
  const struct tk_trace *t = r->t;
  static const char RECORD[] = "\"global_rank\"";
  if (trace_meta(t, "tracekit")) return false;
  for (uint32_t i = 1; i <= r->n_nodes; i++)
    if (r->nodes[i].ident_text && *tk_string(t, r->nodes[i].ident_text, NULL) == '[') return true;
  for (tk_id i = 1; i <= t->n_records; i++)
    if (memmem(trace_raw(t, t->records[i].at), t->records[i].size, RECORD, sizeof RECORD - 1)) return true;
  return false;
}

static bool drops(struct dropper *d, uint64_t key) {
  const uint32_t *slot = map_get(&d->index, key);
  return slot && *slot && !d->flows[*slot].stays && is_regular(&d->flows[*slot]);
}

static void drop_points(struct dropper *d) {
  struct perfetto *r = d->p->r;
  struct tk_trace *t = r->t;
  tk_id n = 0;
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point f = t->flow_points[i];
    const bool goes = drops(d, key_of_point(&f));
    if (goes) map_put(&r->prune.flows, key_of_point(&f), 1);
    if (goes && f.id_kind != TK_FLOW_ID_STR) map_put(&r->prune.flow_ids, (uint64_t)f.id, 1);
    if (goes) continue;
    if (d->p->target[i]) prune_keep(d->p, d->p->target[i]);
    t->flow_points[++n] = f;
  }
  t->store->early.points += t->n_flow_points - n;
  t->n_flow_points = n;
}

static void drop_raws(struct dropper *d) {
  struct perfetto *r = d->p->r;
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->n_points; i++) {
    const struct raw_point f = r->points[i];
    const bool goes = drops(d, key_of_raw(&f));
    if (goes) map_put(&r->prune.flows, key_of_raw(&f), 1), map_put(&r->prune.flow_ids, f.id, 1);
    if (goes) continue;
    prune_keep(d->p, f.event);
    r->points[n++] = f;
  }
  r->t->store->early.points += r->n_points - n;
  r->n_points = n;
}

void prune_flows_drop(struct prune_pass *p) {
  struct perfetto *r = p->r;
  struct mem *mem = &r->t->store->mem;
  struct dropper d = {.p = p};
  struct prune_flow *flow;
  map_init(&d.index, mem);
  const bool none = has_ranks(r);
  for (tk_id i = 1; !none && i <= r->t->n_flow_points; i++)
    if ((flow = flow_of(&d, key_of_point(&r->t->flow_points[i])))) add_point(p, flow, i);
  for (uint32_t i = 0; !none && i < r->n_points; i++)
    if ((flow = flow_of(&d, key_of_raw(&r->points[i])))) add_raw(p, flow, i);
  drop_points(&d);
  drop_raws(&d);
  map_free(&d.index);
  mem_free(mem, d.flows);
}

/* ---- points that come later ---- */

static bool is_late(const struct perfetto *r, uint32_t site, int64_t ts) {
  const struct prune_site *s = &r->prune.sites[site];
  return ts <= s->gone[0].last || ts <= s->gone[1].last; /* an empty range ends at INT64_MIN */
}

bool prune_flows_intrude(const struct perfetto *r) {
  const struct tk_trace *t = r->t;
  for (tk_id i = r->prune.settled_points + 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    if (map_get(&r->prune.flows, key_of_point(f)) || (!f->bound && is_late(r, f->at, f->ts))) return true;
  }
  for (uint32_t i = r->prune.settled_raw; i < r->n_points; i++) {
    const struct raw_point *f = &r->points[i];
    if (map_get(&r->prune.flows, key_of_raw(f)) || (f->at_end && is_late(r, f->site, f->ts))) return true;
  }
  return false;
}
