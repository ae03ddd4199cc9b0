/* twice.c - see twice.h. */
#include "twice.h"

#include <stdlib.h>
#include <string.h>

#include "align/apply.h"
#include "align/collect/collect.h"
#include "align/solve/same.h"
#include "base/map.h"
#include "base/text.h"
#include "graph/accelerator.h"
#include "graph/kind.h"

enum { MOST_ANCHORS = 4096, MARGIN_NS = 1000000, SLACK_NS = 1000, PERCENT = 2 };

/* An event that the other recording may also contain. Times in ns since the epoch. */
struct item {
  int64_t start, end, link; /* link: correlation id; 0 = none */
  uint64_t label;           /* hash of what both recorders call the event */
  uint64_t exact;           /* hash of link, label, and ordinal among items with the same link and label; 0 = no link */
  tk_id event;
  uint32_t pair;            /* 1 + index of its pair; 0 = none */
  bool is_single;           /* no other item has its link and label */
};

/* One recording. Items are sorted by end. */
struct side {
  const struct tk_trace *t;
  struct kinds kinds;
  struct item *v;
  uint32_t n, cap;
  tk_id keys[ACCELERATOR_LINKS];
  uint32_t n_keys;
  int64_t from, to; /* time range of the trace */
};

enum what { WORK, CALLS, ANNOTATIONS };

/* ---- items ---- */

static void find_link_keys(struct side *s) {
  s->n_keys = 0;
  for (const char *const *key = accelerator_links; *key; key++) {
    const tk_id id = trace_text_id(s->t, *key);
    if (id) s->keys[s->n_keys++] = id;
  }
}

static int64_t link_of(const struct side *s, const struct tk_event *e) {
  struct tk_args it = tk_args_of(s->t, e->args);
  struct tk_arg arg;
  while (s->n_keys && tk_args_next(&it, &arg))
    for (uint32_t i = 0; i < s->n_keys; i++)
      if (arg.key == s->keys[i] && (arg.type == TK_ARG_INT || arg.type == TK_ARG_UINT) && arg.i > 0) return arg.i;
  return 0;
}

/* Returns a hash of the name without return type, template arguments and parameters, which recorders print differently.
 * Recorders name copies differently, so a copy is hashed by its kind instead of its name. */
static uint64_t label_of(const struct side *s, const struct tk_event *e, unsigned kind, enum what what) {
  const char *name = tk_string(s->t, s->t->classes[e->cls].name, NULL);
  if (kind & KIND_MEMCPY) return hash_bytes("memcpy", 6);
  if (kind & KIND_MEMSET) return hash_bytes("memset", 6);
  if (what == ANNOTATIONS) return hash_bytes(name, strlen(name)) | 1;
  if (text_begins(name, "void ")) name += 5;
  return hash_bytes(name, strcspn(name, "<(")) | 1;
}

static bool is_wanted(const struct tk_event *e, unsigned kind, enum what what) {
  static const unsigned DONE = KIND_KERNEL | KIND_MEMCPY | KIND_MEMSET;
  if (e->kind != TK_EVENT_SPAN || e->flags & TK_FLAG_LOST_CLOCK) return false;
  if (what == WORK) return kind & KIND_DEVICE && kind & DONE;
  if (kind & KIND_DEVICE) return false;
  return what == CALLS ? (kind & KIND_RUNTIME) != 0 : (kind & (KIND_ANNOTATION | KIND_STEP | KIND_OP)) != 0;
}

static int items_by_end(const void *pa, const void *pb) {
  const struct item *a = pa, *b = pb;
  if (a->end != b->end) return a->end < b->end ? -1 : 1;
  return (a->event > b->event) - (a->event < b->event);
}

static uint64_t link_key(const struct item *x) { return x->label ^ (uint64_t)x->link * 0x9e3779b97f4a7c15u; }

/* Numbers the items that have the same link and label, as many kernels of one graph launch do. If the two recordings contain
 * different numbers of such items, their ordinals mean nothing; so their count is part of the key. */
static bool number_items(struct side *s, struct mem *mem) {
  struct map all, seen;
  map_init(&all, mem);
  map_init(&seen, mem);
  bool ok = true;
  for (uint32_t i = 0; i < s->n && ok; i++) {
    uint32_t *n = s->v[i].link ? map_put(&all, link_key(&s->v[i]), 0) : NULL;
    if (n) ++*n;
    else ok = !s->v[i].link;
  }
  for (uint32_t i = 0; i < s->n && ok; i++) {
    struct item *x = &s->v[i];
    uint32_t *nth = x->link ? map_put(&seen, link_key(x), 0) : NULL;
    ok = nth || !x->link;
    if (!nth) continue;
    const uint32_t n = *map_get(&all, link_key(x));
    const uint64_t key[4] = {x->label, (uint64_t)x->link, (*nth)++, n};
    x->exact = hash_bytes(key, sizeof key) | 1;
    x->is_single = n == 1;
  }
  map_free(&all);
  map_free(&seen);
  return ok;
}

static struct item item_of(const struct side *s, tk_id event) {
  const struct tk_event *e = &s->t->events[event];
  return (struct item){.start = trace_ns(s->t, 0, e->ts), .end = trace_ns(s->t, 0, e->ts + e->dur), .event = event};
}

static bool take_items(struct side *s, enum what what, struct mem *mem) {
  s->n = 0;
  for (tk_id i = 1; i <= s->t->n_events; i++) {
    const struct tk_event *e = &s->t->events[i];
    const unsigned kind = kinds_of(&s->kinds, e);
    if (!is_wanted(e, kind, what)) continue;
    if (!mem_grow(mem, (void **)&s->v, &s->cap, (uint64_t)s->n + 1, sizeof *s->v)) return false;
    struct item *x = &s->v[s->n++];
    *x = item_of(s, i);
    x->link = what == ANNOTATIONS ? 1 : link_of(s, e);
    x->label = label_of(s, e, kind, what);
  }
  if (s->n) qsort(s->v, s->n, sizeof *s->v, items_by_end);
  return number_items(s, mem);
}

static bool open_side(struct side *s, const struct tk_trace *t, struct mem *mem) {
  tk_time start, end;
  *s = (struct side){.t = t};
  trace_extent(t, &start, &end);
  s->from = trace_ns(t, 0, start);
  s->to = trace_ns(t, 0, end);
  find_link_keys(s);
  return kinds_init(&s->kinds, t, mem);
}

static void close_side(struct side *s, struct mem *mem) {
  kinds_free(&s->kinds);
  mem_free(mem, s->v);
}

/* ---- clocks ---- */

/* Adds the items that the other recording may also contain, at most MOST_ANCHORS. */
static bool add_anchors(struct align_anchors *to, const struct side *s, const struct side *other, uint32_t input) {
  const uint32_t first = to->n;
  for (uint32_t i = 0; i < s->n && to->n - first < MOST_ANCHORS; i++) {
    const struct item *x = &s->v[i];
    if (x->end < num_sub(other->from, MARGIN_NS) || x->start > num_add(other->to, MARGIN_NS)) continue;
    if (!mem_grow(to->mem, (void **)&to->v, &to->cap, (uint64_t)to->n + 1, sizeof *to->v)) return false;
    to->v[to->n++] = (struct align_anchor){.label = x->label, .start = x->start, .end = x->end, .input = input,
                                           .says = ALIGN_BARRIER, .seq = -1, .bytes = -1};
  }
  return true;
}

static void take_constant(struct twice *w, const struct same *same, int64_t pivot_ns, const char *tied_by) {
  w->map = (struct align_map){.pivot_ns = pivot_ns, .offset_ns = llround(same->offset_ns)};
  w->tied_by = tied_by;
  w->anchors = same->n;
  w->error_ns = same->error_ns;
}

static double most_error(enum what what) { return what == ANNOTATIONS ? 50e3 : 10e3; }

static struct same_event apart_of(const struct item *a, const struct item *b) {
  return (struct same_event){.start = (double)num_sub(b->start, a->start), .end = (double)num_sub(b->end, a->end)};
}

/* Compares items with equal keys, or only those whose name occurs once in each recording. Returns false when memory runs out. */
static bool compare_items(const struct twice *w, const struct side *s, enum what what, bool single, struct same *same) {
  struct map index;
  struct same_event *apart = mem_array(w->mem, (uint64_t)s[1].n + 1, sizeof *apart);
  uint32_t n = 0;
  map_init(&index, w->mem);
  bool ok = apart != NULL;
  for (uint32_t i = 0; i < s[0].n && ok; i++)
    if (s[0].v[i].exact && (s[0].v[i].is_single || !single)) ok = map_put(&index, s[0].v[i].exact, i) != NULL;
  for (uint32_t i = 0; i < s[1].n && ok; i++) {
    const struct item *b = &s[1].v[i];
    const uint32_t *at = b->exact ? map_get(&index, b->exact) : NULL;
    if (at && s[0].v[*at].label == b->label) apart[n++] = apart_of(&s[0].v[*at], b);
  }
  if (ok) *same = same_offset(w->mem, apart, n, most_error(what));
  mem_free(w->mem, apart);
  map_free(&index);
  return ok;
}

/* Keys of annotations are only their ordinals, which differ if one recorder started later; so the result must not contradict wall
 * clocks, unless names that occur once, such as "iteration 7", confirm it. */
static bool compare_by_key(struct twice *w, const struct side *s, bool walled, enum what what, const char *tied_by) {
  struct same same;
  if (!compare_items(w, s, what, false, &same)) return false;
  const bool is_doubtful = what == ANNOTATIONS && walled && fabs(same.offset_ns) > MARGIN_NS;
  if ((!same.sound || is_doubtful) && !compare_items(w, s, what, true, &same)) return false;
  if (same.sound) take_constant(w, &same, s[1].v[0].end, tied_by);
  return true;
}

static bool solve_clocks(struct twice *w, struct side *s, bool walled, const char *tied_by, struct tk_err *err) {
  uint32_t host_of[4] = {0, 1};
  bool known[4] = {true, true}, wall[2] = {true, walled};
  struct align_anchors anchors;
  struct align_solution solution = {.mem = w->mem};
  struct align_problem p = {.mem = w->mem, .anchors = &anchors, .host_of = host_of, .known = known, .wall = wall, .n_inputs = 2,
                            .n_hosts = 2};
  align_anchors_init(&anchors, w->mem);
  bool ok = add_anchors(&anchors, &s[0], &s[1], 0) && add_anchors(&anchors, &s[1], &s[0], 1);
  ok = ok && align_solve(&p, &solution, err);
  const struct align_host *h = &solution.hosts[1];
  if (ok && p.n_hosts == 2 && h->state == ALIGN_GOOD) {
    w->map = h->map;
    w->tied_by = tied_by;
    w->anchors = h->anchors;
    w->error_ns = h->error_ns;
  }
  align_solution_free(&solution);
  align_anchors_free(&anchors);
  return ok;
}

static bool compare_clocks(struct twice *w, struct side *s, bool walled, enum what what, struct tk_err *err) {
  const char *tied_by = what == WORK ? "kernels" : "annotations";
  if (!s[0].n || !s[1].n) return true;
  if (!compare_by_key(w, s, walled, what, tied_by)) return false;
  return w->tied_by || solve_clocks(w, s, walled, tied_by, err);
}

/* ---- pairs ---- */

static bool add_pair(struct twice *w, struct item *a, struct item *b) {
  if (!mem_grow(w->mem, (void **)&w->pairs, &w->cap, (uint64_t)w->n + 1, sizeof *w->pairs)) return false;
  w->pairs[w->n++] = (struct twice_pair){a->event, b->event};
  a->pair = b->pair = w->n;
  return true;
}

/* Returns the largest allowed difference between the times of one event in two recordings. If the clocks could not be compared,
 * assumes that they agree within a millisecond, as the wall clocks of two hosts do. */
static int64_t tolerance(const struct twice *w) { return w->tied_by ? (int64_t)w->error_ns + SLACK_NS : MARGIN_NS; }

static int64_t end_on_first(const struct twice *w, const struct item *b) {
  return w->tied_by ? num_sub(b->end, align_offset(&w->map, b->end)) : b->end;
}

/* True if `a` and `b` may be two readings of one event. Recorders time a call around different code, so its duration does not
 * count. */
static bool agree(const struct twice *w, const struct item *a, const struct item *b, enum what what) {
  const int64_t apart = num_sub(a->end, end_on_first(w, b)), x = a->end - a->start, y = b->end - b->start, by = x > y ? x - y : y - x;
  const int64_t most = tolerance(w) + (what == CALLS ? MARGIN_NS / 20 : 0);
  if (a->label != b->label || apart > most || apart < -most) return false;
  return what == CALLS || by <= SLACK_NS + x / 100 * PERCENT;
}

static bool pair_by_key(struct twice *w, struct side *s, enum what what) {
  struct map index;
  map_init(&index, w->mem);
  bool ok = true;
  for (uint32_t i = 0; i < s[0].n && ok; i++)
    if (s[0].v[i].exact) ok = map_put(&index, s[0].v[i].exact, i) != NULL;
  for (uint32_t i = 0; i < s[1].n && ok; i++) {
    struct item *b = &s[1].v[i];
    const uint32_t *at = b->exact ? map_get(&index, b->exact) : NULL;
    if (at && !s[0].v[*at].pair && agree(w, &s[0].v[*at], b, what)) ok = add_pair(w, &s[0].v[*at], b);
  }
  map_free(&index);
  return ok;
}

static int items_by_label(const void *pa, const void *pb) {
  const struct item *a = pa, *b = pb;
  if (a->label != b->label) return a->label < b->label ? -1 : 1;
  return items_by_end(pa, pb);
}

/* Pairs items with equal names in the order of their ends: on a common clock, both recordings show them in the same order. */
static bool pair_by_order(struct twice *w, struct side *s) {
  const int64_t most = tolerance(w);
  for (unsigned k = 0; k < 2; k++)
    if (s[k].n) qsort(s[k].v, s[k].n, sizeof *s[k].v, items_by_label);
  for (uint32_t i = 0, j = 0; i < s[0].n && j < s[1].n;) {
    struct item *a = &s[0].v[i], *b = &s[1].v[j];
    const int64_t apart = num_sub(a->end, end_on_first(w, b));
    if (a->label != b->label) a->label < b->label ? i++ : j++;
    else if (a->pair || apart < -most) i++;
    else if (b->pair || apart > most) j++;
    else if (!agree(w, a, b, WORK)) apart < 0 ? i++ : j++;
    else if (!add_pair(w, a, b)) return false;
  }
  return true;
}

/* Counts for each recording the device operations that ended while the other one was recording. */
static void count_work(struct twice *w, const struct side *s) {
  for (unsigned k = 0; k < 2; k++)
    for (uint32_t i = 0; i < s[k].n; i++) {
      const struct item *x = &s[k].v[i];
      const int64_t end = k ? end_on_first(w, x) : x->end, later = k || !w->tied_by ? 0 : align_offset(&w->map, x->end);
      w->work[k] += num_sub(end, -later) >= s[!k].from && num_sub(end, -later) <= s[!k].to;
    }
}

/* Computes the offset again, from all pairs of device work. Called if the solver found the offset from names, without keys. */
static bool refine(struct twice *w, const struct side *s) {
  struct same_event *apart = mem_array(w->mem, (uint64_t)w->n + 1, sizeof *apart);
  if (!apart) return false;
  for (uint32_t i = 0; i < w->n; i++) {
    const struct item a = item_of(&s[0], w->pairs[i].a), b = item_of(&s[1], w->pairs[i].b);
    apart[i] = apart_of(&a, &b);
  }
  const struct same same = same_offset(w->mem, apart, w->n, w->error_ns);
  mem_free(w->mem, apart);
  if (same.sound && align_is_constant(&w->map)) take_constant(w, &same, w->map.pivot_ns, w->tied_by);
  return true;
}

/* Decides which recording describes the pairs better: the one whose calls are nested in ops or annotations, or else the one with
 * more args. */
static void twice_weigh(struct twice *w, const struct side *s) {
  uint64_t args[2] = {0, 0}, depth[2] = {0, 0};
  for (uint32_t i = 0; i < w->n; i++) {
    const tk_id event[2] = {w->pairs[i].a, w->pairs[i].b};
    for (unsigned k = 0; k < 2; k++) {
      const struct tk_event *e = &s[k].t->events[event[k]];
      const struct tk_args it = tk_args_of(s[k].t, e->args);
      args[k] += it.shape ? it.shape->n : 0;
      if (i >= w->n_work) depth[k] += e->depth;
    }
  }
  w->richer_b = depth[0] != depth[1] ? depth[1] > depth[0] : args[1] > args[0];
}

/* ---- entry points ---- */

static bool take_both(struct twice *w, struct side *s, enum what what) {
  return take_items(&s[0], what, w->mem) && take_items(&s[1], what, w->mem);
}

static bool find_work(struct twice *w, struct side *s, bool walled, struct tk_err *err) {
  if (!take_both(w, s, WORK) || !compare_clocks(w, s, walled, WORK, err)) return false;
  if (!walled && !w->tied_by) return true;
  count_work(w, s);
  if (!pair_by_key(w, s, WORK)) return false;
  if (!w->tied_by) return true;
  const bool by_key = w->n > 0;
  return pair_by_order(w, s) && (by_key || refine(w, s));
}

/* Pairs calls of the runtime by correlation id; the ids of two recorders only mean the same if their kernels matched. */
static bool find_calls(struct twice *w, struct side *s) {
  w->n_work = w->n;
  return !w->n || (take_both(w, s, CALLS) && pair_by_key(w, s, CALLS));
}

static bool find_annotations(struct twice *w, struct side *s, bool walled, struct tk_err *err) {
  if (w->tied_by) return true;
  return take_both(w, s, ANNOTATIONS) && compare_clocks(w, s, walled, ANNOTATIONS, err);
}

bool twice_find(struct twice *w, const struct tk_trace *a, const struct tk_trace *b, bool walled, struct tk_err *err) {
  struct side s[2] = {{0}};
  bool ok = open_side(&s[0], a, w->mem) && open_side(&s[1], b, w->mem);
  ok = ok && find_work(w, s, walled, err) && find_calls(w, s) && find_annotations(w, s, walled, err);
  if (ok) twice_weigh(w, s);
  close_side(&s[0], w->mem);
  close_side(&s[1], w->mem);
  return ok || mem_refuse(w->mem, err);
}

void twice_free(struct twice *w) { mem_free(w->mem, w->pairs); }
