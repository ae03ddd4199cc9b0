/* solve.c - turns anchors into a map for each host and decides which to trust (solve.h).
 *
 * Hosts are placed one after the other: the reference first, then hosts that share a label with placed ones. Each host is
 * compared with the common timeline, and joins it if the result can be trusted; the hosts that could not be placed are retried
 * at the end. If no remaining host shares a label with placed hosts, the first of the remaining hosts starts a separate
 * timeline on its wall clock. Each label queues its hosts only once, so the total work is proportional to the number of sights.
 *
 * A host is a set of inputs with the same host name. It is assumed that they share a clock, and the assumption is tested
 * (hosts.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve.h"
#include "check.h"
#include "compare.h"
#include "base/err.h"
#include "base/os.h"
#include "doubt.h"
#include "gpus.h"
#include "hosts.h"
#include "lateness.h"
#include "messages.h"
#include "one_way.h"
#include "rivals.h"
#include "stretches.h"

#define OF_RANK 1.5e3   /* ns: constant lead or lag of a rank, which averaging does not remove */
#define OF_LOOSE 6e3    /* OF_RANK for HCCL: two Ascend ranks on one host leave 7 to 15 us apart */
#define OF_HOST 0.4e3
#define Z95 1.96
#define DECIDED 0.999   /* messages alone determine a clock if their answer has at least this weight */
#define FAR 5           /* clocks hardly ever differ by more than this multiple of the typical difference */

static const char BY_NAME[] = "its inputs are assumed to share a clock only because they have the same host name";
static const char VAGUE[] = "its collectives do not record which devices took part";
static const char COARSE[] = "its collectives are known only from calls on the CPU, which do not wait for the other ranks";
static const char OTHER_STEPS[] = "its sends and receives may have been matched across different steps";
static const char OTHER_HOSTS[] = "its sends and receives may have been matched with those of the wrong host";
static const char ROOT_BY_NAME[] = "it was aligned to a host whose inputs are assumed to share a clock only because they "
                                   "have the same host name";

struct solver {
  struct align_work w;
  struct align_solution *s;
  struct sight *sights; /* sights of all hosts; a sight is a collective as one host recorded it */
  uint32_t *first_sight; /* by host, plus a final entry: index of its first sight */
  uint32_t *first_anchor; /* by host: index of its first anchor */
  uint32_t *ranks;      /* by host: number of devices with anchors */
  double *variance;     /* by host: variance of its placement, ns^2 */
  bool *no_wall;        /* by host: true if its wall clock cannot be compared */
  struct map waiting;   /* label -> index of the first entry for this label */
  uint32_t *next, *host_of_entry, n_entries; /* an entry is a pair of host and label; `next` links those with the same label */
  uint32_t *queue, n_queue;
  uint8_t *seen;        /* by host: true if the host has been queued */
  struct rivals rivals;
  struct timeline common;
  struct compare ahead; /* comparisons of the next hosts in the queue */
  uint32_t base;        /* number of the first collective on the current timeline */
};

static uint32_t count_of(const struct solver *s, uint32_t host) { return s->first_sight[host + 1] - s->first_sight[host]; }
static struct sight *sights_of(const struct solver *s, uint32_t host) { return s->sights + s->first_sight[host]; }

/* ---- sights ---- */

static int by_host(const void *pa, const void *pb, void *host_of) {
  const struct align_anchor *a = pa, *b = pb;
  uint32_t x = ((const uint32_t *)host_of)[a->input], y = ((const uint32_t *)host_of)[b->input];
  if (x != y) return x < y ? -1 : 1;
  if (a->input != b->input) return a->input < b->input ? -1 : 1;
  if (a->device != b->device) return a->device < b->device ? -1 : 1;
  return (a->end > b->end) - (a->end < b->end);
}

static uint32_t count_ranks(const struct align_anchor *v, uint32_t n) {
  uint32_t ranks = n > 0;
  for (uint32_t i = 1; i < n; i++) ranks += v[i].input != v[i - 1].input || v[i].device != v[i - 1].device;
  return ranks;
}

static void make_sights(struct solver *s) {
  struct align_problem *p = s->w.p;
  struct align_anchor none = {0}, *v = p->anchors->v ? p->anchors->v : &none;
  uint32_t n = p->anchors->n, made = 0;
  os_sort(v, n, sizeof *v, by_host, p->host_of);
  for (uint32_t h = 0, i = 0, k; h < p->n_hosts; h++, i = k) {
    for (k = i; k < n && p->host_of[v[k].input] == h;) k++;
    s->first_sight[h] = made;
    s->first_anchor[h] = i;
    s->w.pivot[h] = k > i ? v[i].end : n ? v[0].end : 0;
    s->ranks[h] = count_ranks(v + i, k - i);
    made += timeline_sights(v + i, k - i, s->w.pivot[h], s->sights + made);
  }
  s->first_sight[p->n_hosts] = made;
}

/* ---- hosts by label ---- */

static bool list_labels(struct solver *s) {
  struct map last; /* label -> the host listed last */
  bool ok = true;
  map_init(&last, s->w.p->mem);
  for (uint32_t h = s->w.p->n_hosts; ok && h-- > 0;) {
    for (uint32_t i = 0; ok && i < count_of(s, h); i++) {
      uint64_t label = sights_of(s, h)[i].label;
      uint32_t *who = map_put(&last, label, ALIGN_NONE), *entry = map_put(&s->waiting, label, ALIGN_NONE);
      ok = who && entry;
      if (!ok || *who == h) continue;
      *who = h;
      s->next[s->n_entries] = *entry;
      s->host_of_entry[s->n_entries] = h;
      *entry = s->n_entries++;
    }
  }
  map_free(&last);
  return ok;
}

/* Queues all hosts that share a label with this host, unless the label was handled before. */
static void invite(struct solver *s, uint32_t host) {
  for (uint32_t i = 0; i < count_of(s, host); i++) {
    uint32_t *entry = map_get(&s->waiting, sights_of(s, host)[i].label);
    for (uint32_t e = entry ? *entry : ALIGN_NONE; e != ALIGN_NONE; e = s->next[e]) {
      uint32_t h = s->host_of_entry[e];
      if (!s->seen[h]) s->queue[s->n_queue++] = h;
      s->seen[h] = 1;
    }
    if (entry) *entry = ALIGN_NONE;
  }
}

/* ---- results of a comparison ---- */

/* Returns the part of an offset's variance that a fitted line cannot show: some ranks and hosts always leave slightly late. */
static double common_variance(const struct solver *s, uint32_t host) {
  uint32_t root = s->w.root[host], i = 0;
  while (i < count_of(s, host) && !sights_of(s, host)[i].loose) i++;
  const double of_rank = i < count_of(s, host) ? OF_LOOSE : OF_RANK;
  return of_rank * of_rank * (1.0 / s->ranks[host] + 1.0 / s->ranks[root]) + 2 * OF_HOST * OF_HOST;
}

/* Returns the stretch between two readings of the host's clock, which are given in ns from its pivot. */
static struct align_stretch stretch_of(const struct solver *s, uint32_t host, double from, double to) {
  const int64_t pivot = s->w.pivot[host];
  return (struct align_stretch){.from_ns = pivot + (int64_t)from, .to_ns = pivot + (int64_t)to};
}

static bool take_stretches(struct solver *s, uint32_t host, const struct posterior *p) {
  struct align_host *o = &s->s->hosts[host];
  const struct pieces *fit = &p->best.fit;
  double extra = common_variance(s, host) + s->variance[s->w.root[host]] + p->shape * p->shape + pow(p->spread / Z95, 2);
  o->stretches = arena_alloc(&s->s->arena, fit->n * sizeof *o->stretches);
  o->gaps = arena_alloc(&s->s->arena, fit->n * sizeof *o->gaps);
  if (!o->stretches || !o->gaps) return false;
  o->n_stretches = fit->n;
  for (uint32_t i = 0; i < fit->n; i++) {
    const struct piece *a = &fit->v[i];
    double from = p->points[i ? a->from : p->first].x, to = p->points[i + 1 < fit->n ? a->to - 1 : p->last].x;
    struct align_stretch *t = &o->stretches[i];
    *t = stretch_of(s, host, from, to);
    t->slope_error = Z95 * a->slope_error;
    t->error_ns = Z95 * hypot(hypot(a->level_error, a->slope_error * ((from + to) / 2 - a->x0)), sqrt(extra));
    o->error_ns = fmax(o->error_ns, hypot(t->error_ns, t->slope_error * (to - from) / 2));
  }
  stretches_limit(o, s->w.pivot[host], p);
  s->variance[host] = pow(o->error_ns / Z95, 2);
  return true;
}

static void take_evidence(struct align_host *o, const struct question *q, const struct posterior *p) {
  const struct hypothesis *y = &p->best;
  uint32_t exact = 0, steps = 0, programs = 0;
  for (uint32_t i = 0; i < q->view->n_b; i++) {
    const struct sight *a = y->partner[i] == ALIGN_NONE ? NULL : q->view->a[y->partner[i]], *b = q->view->b[i];
    exact += a && a->exact && a->exact == b->exact;
    programs += a && b->program;
    steps += a && !b->program && a->stepped && b->stepped && a->step == b->step;
  }
  o->numbered = 2 * exact > y->n;
  o->executed = 2 * programs > y->n;
  o->stepped = 2 * steps > y->n;
}

static void take_others(struct align_host *o, const struct posterior *p) {
  o->weight = p->best.weight;
  o->unless_ns = p->unless;
  for (uint32_t i = 0; i < p->n_others; i++) o->others[o->n_others++] = (struct align_other){p->others[i].offset, p->others[i].weight};
}

static bool take_posterior(struct solver *s, uint32_t host, const struct question *q, const struct posterior *p) {
  struct align_host *o = &s->s->hosts[host];
  uint32_t root = o->root;
  *o = (struct align_host){.state = ALIGN_GOOD, .root = root, .assumed = o->assumed, .gpu = o->gpu};
  o->anchors = p->best.n;
  o->rejected = p->outliers;
  o->mad_ns = p->mad;
  o->p95_ns = p->p95;
  o->why = p->doubt;
  o->spread_ns = p->spread;
  o->contradicts = p->doubt == DOUBT_NUMBERS;
  o->by_number_ns = p->by_number;
  if (p->doubt) o->state = ALIGN_POOR;
  take_others(o, p);
  take_evidence(o, q, p);
  pieces_curve(&p->best.fit, p->points, &s->w.curve[host]);
  return take_stretches(s, host, p);
}

/* ---- placing ---- */

static bool join(struct solver *s, uint32_t host) {
  return timeline_join(&s->common, sights_of(s, host), count_of(s, host), &s->w.curve[host], s->variance[host]);
}

static struct question question_of(const struct solver *s, uint32_t host) {
  const struct align_problem *p = s->w.p;
  struct question q = {.mem = p->mem, .clock_error = align_clock_error(p), .other_job = align_other_job(p)};
  q.base = (double)(s->w.pivot[host] - s->w.pivot[p->reference]);
  if (!p->known[host] && !p->marker) q.same = 0.5;
  q.no_wall = s->no_wall[host];
  return q;
}

static void judge_vague(struct align_host *o, bool coarse) {
  bool wide = coarse && o->why == DOUBT_WIDE;
  if (o->state != ALIGN_GOOD && !wide) return;
  o->state = ALIGN_POOR;
  o->why = coarse ? COARSE : VAGUE;
}

/* Sets *mass to the sum of the weights with which other hosts are the peers of this host's messages; INFINITY for too many. */
static bool weigh_rivals(struct solver *s, uint32_t host, struct arena *arena, double *mass) {
  uint32_t rival[RIVALS_MOST], n = rivals_of(&s->rivals, sights_of(s, host), count_of(s, host), host, rival);
  *mass = n > RIVALS_MOST ? INFINITY : 0;
  for (uint32_t i = 0; n <= RIVALS_MOST && i < n; i++) {
    struct question q = question_of(s, rival[i]);
    struct messages m;
    if (!messages_find(&q, &s->common, sights_of(s, rival[i]), count_of(s, rival[i]), arena, &m)) return false;
    *mass += m.n ? m.mass : 0;
  }
  return true;
}

/* Accepts the interval that messages imply: the estimate is its middle; half its width adds to the error of the reference. */
static bool take_messages(struct solver *s, uint32_t host, const struct messages *m) {
  struct align_host *o = &s->s->hosts[host];
  struct sight *v = sights_of(s, host);
  if (!(o->stretches = arena_alloc(&s->s->arena, sizeof *o->stretches))) return false;
  *o->stretches = stretch_of(s, host, m->first, m->last);
  o->n_stretches = 1;
  o->error_ns = o->stretches->error_ns = (m->high - m->low) / 2 + Z95 * sqrt(s->variance[s->w.root[host]]);
  o->stepped = o->by_messages = true;
  for (uint32_t i = 0; i < count_of(s, host); i++) v[i].collective = m->partner[i];
  s->variance[host] = pow(o->error_ns / Z95, 2);
  return true;
}

/* Places a host by messages alone, and sets *placed if this succeeds. Returns false when memory runs out. */
static bool place_by_messages(struct solver *s, uint32_t host, const struct question *q, struct arena *arena, bool *placed) {
  struct align_host *o = &s->s->hosts[host];
  struct messages m;
  if (!messages_find(q, &s->common, sights_of(s, host), count_of(s, host), arena, &m)) return false;
  if (m.n == 0) return true;
  double rivals;
  if (!weigh_rivals(s, host, arena, &rivals)) return false;
  *o = (struct align_host){.state = ALIGN_GOOD, .root = o->root, .assumed = o->assumed, .anchors = m.n, .gpu = o->gpu};
  o->weight = m.mass > 0 ? m.mass / (m.all + rivals) : 0;
  s->w.curve[host] = (struct curve){.n = 1, .x = {m.first}, .y = {(m.low + m.high) / 2}};
  if (o->weight < DECIDED) {
    o->state = ALIGN_POOR;
    o->why = m.mass < DECIDED * m.all ? OTHER_STEPS : OTHER_HOSTS;
    return true;
  }
  *placed = take_messages(s, host, &m);
  return *placed && join(s, host);
}

/* Accepts the result of a comparison: the paired sights join the common timeline. */
static bool accept(struct solver *s, uint32_t host, const struct comparison *c, struct arena *arena) {
  const struct view *view = &c->view;
  for (uint32_t i = 0; i < view->n_b; i++) {
    const uint32_t partner = c->found.best.partner[i];
    if (partner != ALIGN_NONE) view->b[i]->collective = (uint32_t)(view->a[partner] - s->common.v);
  }
  return one_way_match(&s->common, sights_of(s, host), count_of(s, host), &c->q, &c->found.best, arena) && join(s, host);
}

/* Places a host on the common timeline, and sets *placed, if its comparison allows this. Returns false when memory runs out. */
static bool place(struct solver *s, uint32_t host, const struct comparison *c, bool *placed) {
  struct arena arena = {.mem = s->w.p->mem};
  struct align_host *o = &s->s->hosts[host];
  bool ok = true;
  *placed = false;
  if (!c->found.any && s->w.p->marker) return true;
  if (!c->found.any) {
    ok = place_by_messages(s, host, &c->q, &arena, placed);
  } else {
    ok = take_posterior(s, host, &c->q, &c->found);
    *placed = ok && o->state == ALIGN_GOOD;
    if (*placed) ok = accept(s, host, c, &arena);
    if (ok && c->view.vague && !s->w.p->marker) judge_vague(o, c->view.coarse);
  }
  if (ok && o->state == ALIGN_GOOD && o->root != s->w.p->reference) o->state = ALIGN_APART;
  arena_free(&arena);
  return ok;
}

/* Returns the comparison of the i-th host in the queue with the current timeline. */
static const struct comparison *compared(struct solver *s, uint32_t i) {
  if (!compare_is_empty(&s->ahead)) return compare_take(&s->ahead);
  const uint32_t n = compare_width(&s->ahead, s->n_queue - i);
  for (uint32_t k = 0; k < n; k++) {
    const uint32_t host = s->queue[i + k];
    const struct question q = question_of(s, host);
    compare_add(&s->ahead, &s->common, sights_of(s, host), count_of(s, host), &q, s->w.p->marker);
  }
  compare_run(&s->ahead);
  return compare_take(&s->ahead);
}

/* Builds a timeline that starts with the host `root`, on its wall clock. Sets done[h] for each host that was compared. */
static bool grow(struct solver *s, uint32_t root, uint8_t *done) {
  uint32_t refused = 0, before = s->n_queue = 0;
  bool ok = true, placed;
  s->w.root[root] = s->s->hosts[root].root = root;
  s->w.curve[root] = (struct curve){.n = 1, .y = {(double)(s->w.pivot[s->w.p->reference] - s->w.pivot[root])}};
  s->seen[root] = done[root] = 1;
  ok = join(s, root);
  invite(s, root);
  for (int round = 0; ok && round < 2; round++) { /* the second round retries the hosts that could not be placed */
    uint32_t n = 0;
    for (uint32_t i = 0; ok && i < s->n_queue; i++) {
      uint32_t h = s->queue[i];
      s->w.root[h] = s->s->hosts[h].root = root;
      const struct comparison *c = compared(s, i);
      ok = c && place(s, h, c, &placed);
      if (!ok) break;
      compare_end(&s->ahead, placed);
      done[h] = 1;
      if (placed) invite(s, h), before++;
      else s->queue[n++] = h;
    }
    if (n == 0 || before == 0 || n == refused) break;
    refused = s->n_queue = n;
    before = 0;
  }
  return ok;
}

/* Numbers the collectives of one timeline, continuing after the previous timeline. */
static void number_collectives(struct solver *s, uint32_t root) {
  for (uint32_t h = 0; h < s->w.p->n_hosts; h++)
    if (s->w.root[h] == root)
      for (uint32_t i = 0; i < count_of(s, h); i++)
        if (sights_of(s, h)[i].collective != ALIGN_NONE) sights_of(s, h)[i].collective += s->base;
  s->base += s->common.n;
}

static bool place_all(struct solver *s) {
  struct align_problem *p = s->w.p;
  uint8_t *done = arena_zeros(&s->w.arena, (size_t)p->n_hosts + 1, 1);
  bool ok = done != NULL;
  for (uint32_t i = 0; ok && i <= p->n_hosts; i++) {
    uint32_t root = i ? i - 1 : p->reference;
    if (done[root] || (count_of(s, root) == 0 && i)) continue;
    timeline_init(&s->common, p->mem);
    ok = grow(s, root, done);
    if (ok) number_collectives(s, root);
    timeline_free(&s->common);
  }
  return ok;
}

/* ---- members of collectives ---- */

/* Returns a sight as a member of a collective. A reading in a gap must not bound anything, because the map is only a guess
 * there. */
static struct align_member member_of(const struct solver *s, uint32_t host, const struct sight *x) {
  const struct align_host *o = &s->s->hosts[host];
  struct align_member m = {host, x->collective, x->last_start, x->last_sent, x->first_end, x->first_received};
  if (stretches_leave(o, s->w.pivot[host], m.last_start)) m.last_start = m.last_sent = -INFINITY;
  if (stretches_leave(o, s->w.pivot[host], m.last_sent)) m.last_sent = -INFINITY;
  if (stretches_leave(o, s->w.pivot[host], m.first_end)) m.first_end = m.first_received = INFINITY;
  if (stretches_leave(o, s->w.pivot[host], m.first_received)) m.first_received = INFINITY;
  return m;
}

static bool list_members(struct solver *s) {
  struct align_work *w = &s->w;
  uint32_t all = s->first_sight[w->p->n_hosts], n = 0, *at = arena_zeros(&w->arena, (size_t)s->base + 2, sizeof *at);
  w->members = arena_alloc(&w->arena, ((size_t)all + 1) * sizeof *w->members);
  w->first = arena_alloc(&w->arena, ((size_t)s->base + 2) * sizeof *w->first);
  if (!at || !w->members || !w->first) return false;
  for (uint32_t i = 0; i < all; i++)
    if (s->sights[i].collective != ALIGN_NONE) at[s->sights[i].collective]++;
  for (uint32_t c = 0; c < s->base; c++) { /* collectives of only one host are skipped */
    uint32_t size = at[c];
    at[c] = size > 1 ? n : ALIGN_NONE;
    if (size < 2) continue;
    w->first[w->n_collectives++] = n;
    n += size;
  }
  w->first[w->n_collectives] = w->n_members = n;
  for (uint32_t h = 0; h < w->p->n_hosts; h++)
    for (uint32_t i = 0; i < count_of(s, h); i++) {
      const struct sight *x = &sights_of(s, h)[i];
      if (x->collective == ALIGN_NONE || at[x->collective] == ALIGN_NONE) continue;
      if (w->root[h] == h) s->s->hosts[h].anchors++;
      w->members[at[x->collective]++] = member_of(s, h, x);
    }
  return true;
}

/* ---- ranks that met in a collective ---- */

struct meeting_key {
  int64_t end;
  uint32_t collective, anchor;
};

static int by_meeting(const void *pa, const void *pb) {
  const struct meeting_key *a = pa, *b = pb;
  if (a->collective != b->collective) return a->collective < b->collective ? -1 : 1;
  return (a->anchor > b->anchor) - (a->anchor < b->anchor);
}

static int by_first_end(const void *pa, const void *pb) {
  const struct meeting_key *a = pa, *b = pb;
  if (a->end != b->end) return a->end < b->end ? -1 : 1;
  return by_meeting(pa, pb);
}

/* Lists every anchor of a barrier that is on some timeline. */
static uint32_t list_anchors(const struct solver *s, struct meeting_key *out) {
  uint32_t n = 0;
  for (uint32_t h = 0; s->w.p->anchors->n && h < s->w.p->n_hosts; h++) {
    const struct align_anchor *own = s->w.p->anchors->v + s->first_anchor[h];
    for (uint32_t i = 0; i < count_of(s, h); i++) {
      const struct sight *x = &sights_of(s, h)[i];
      if (!x->equal || x->collective == ALIGN_NONE) continue;
      for (uint32_t k = 0; k < x->n_anchors; k++) {
        if (x->n_anchors > 1 && timeline_claims_twice(own + x->anchor, x->n_anchors, k)) continue;
        double end = align_true(&s->w, h, (double)(own[x->anchor + k].end - s->w.pivot[h]));
        out[n++] = (struct meeting_key){llround(end), x->collective, s->first_anchor[h] + x->anchor + k};
      }
    }
  }
  return n;
}

static bool list_meetings(struct solver *s) {
  struct align_solution *out = s->s;
  uint32_t all = s->w.p->anchors->n, kept = 0, number = 0;
  out->n_met = 0;
  if (!s->w.p->anchors->described) return true;
  struct meeting_key *v = arena_alloc(&s->w.arena, ((size_t)all + 1) * sizeof *v);
  out->met = arena_alloc(&out->arena, ((size_t)all + 1) * sizeof *out->met);
  if (!v || !out->met) return false;
  uint32_t n = list_anchors(s, v);
  if (n) qsort(v, n, sizeof *v, by_meeting);
  for (uint32_t i = 0, k; i < n; i = k) {
    int64_t first = v[i].end;
    for (k = i; k < n && v[k].collective == v[i].collective; k++) first = v[k].end < first ? v[k].end : first;
    for (uint32_t m = i; k - i > 1 && m < k; m++) {
      v[kept] = v[m];
      v[kept++].end = first;
    }
  }
  if (kept) qsort(v, kept, sizeof *v, by_first_end);
  for (uint32_t i = 0; i < kept; i++) {
    number += i && v[i].collective != v[i - 1].collective;
    out->met[out->n_met++] = (struct align_meeting){number, v[i].anchor};
  }
  return true;
}

/* ---- final trust ---- */

static void keep_maps(const struct solver *s) {
  for (uint32_t h = 0; h < s->w.p->n_hosts; h++) {
    struct align_map *m = &s->s->hosts[h].map;
    m->pivot_ns = s->w.pivot[h];
    m->offset_ns = s->w.pivot[h] - s->w.pivot[s->w.p->reference];
    m->curve = s->w.curve[h];
  }
}

/* Widens the error of a host that was moved to satisfy causality, because the estimate was wrong by at least that much. */
static void widen(struct align_host *o) {
  for (uint32_t i = 0; i < o->n_stretches; i++) {
    struct align_stretch *t = &o->stretches[i];
    t->error_ns = hypot(t->error_ns, o->moved_ns);
    if (i + 1 < o->n_stretches) o->gaps[i].error_ns += fabs(o->moved_ns);
  }
  o->error_ns = hypot(o->error_ns, o->moved_ns);
}

static void judge(const struct solver *s) {
  for (uint32_t h = 0; h < s->w.p->n_hosts; h++) {
    struct align_host *o = &s->s->hosts[h];
    bool good = o->state == ALIGN_GOOD || o->state == ALIGN_APART;
    if (o->state == ALIGN_ALONE && h == s->w.p->reference) o->state = ALIGN_REFERENCE;
    if (o->state == ALIGN_REFERENCE && o->assumed) o->why = BY_NAME;
    widen(o);
    if (o->spread_ns > 0 && o->bounded && o->feasible) stretches_narrow(o, fmax(-o->low_ns, o->high_ns));
    if (o->state == ALIGN_POOR && o->never_met * 2 > o->anchors && o->why == VAGUE) {
      o->state = ALIGN_ROUGH;
      o->why = "its collectives do not record which devices took part; they are used because its wall clock is even less plausible";
    }
    double offset = (double)(s->w.pivot[h] - s->w.pivot[s->w.p->reference]) + curve_at(&s->w.curve[h], 0);
    if (o->state == ALIGN_POOR && o->why == COARSE && fabs(offset) > FAR * align_clock_error(s->w.p)) {
      o->state = ALIGN_ROUGH;
      o->why = "its collectives are known only from CPU calls; they are used because its wall clock is implausibly far off";
    }
    if (!good || s->w.p->marker) continue;
    if (o->after) o->why = "even after alignment, some collectives would end before all ranks begin them";
    else if (o->assumed) o->why = BY_NAME;
    else if (s->s->hosts[o->root].assumed) o->why = ROOT_BY_NAME;
    if (o->why) o->state = ALIGN_POOR;
  }
}

/* ---- entry points ---- */

static bool allocate(struct solver *s, size_t hosts, size_t anchors) {
  struct arena *a = &s->w.arena;
  s->w.pivot = arena_alloc(a, hosts * sizeof *s->w.pivot);
  s->w.curve = arena_zeros(a, hosts, sizeof *s->w.curve);
  s->w.root = arena_alloc(a, hosts * sizeof *s->w.root);
  s->first_sight = arena_alloc(a, hosts * sizeof *s->first_sight);
  s->first_anchor = arena_alloc(a, hosts * sizeof *s->first_anchor);
  s->ranks = arena_alloc(a, hosts * sizeof *s->ranks);
  s->variance = arena_zeros(a, hosts, sizeof *s->variance);
  s->queue = arena_alloc(a, hosts * sizeof *s->queue);
  s->seen = arena_zeros(a, hosts, 1);
  s->sights = arena_alloc(a, anchors * sizeof *s->sights);
  s->next = arena_alloc(a, anchors * sizeof *s->next);
  s->host_of_entry = arena_alloc(a, anchors * sizeof *s->host_of_entry);
  s->no_wall = arena_zeros(a, hosts, 1);
  return !s->w.p->mem->failed;
}

static bool solve_prepare(struct solver *s) {
  const struct align_problem *p = s->w.p;
  if (!allocate(s, (size_t)p->n_hosts + 2, (size_t)p->anchors->n + 2)) return false;
  for (uint32_t i = 0; p->wall && i < p->n_inputs; i++)
    if (!p->wall[i]) s->no_wall[p->host_of[i]] = true;
  for (uint32_t h = 0; h < p->n_hosts; h++) {
    s->w.root[h] = s->s->hosts[h].root = h;
    s->s->hosts[h] = (struct align_host){.root = h, .assumed = s->s->hosts[h].assumed, .gpu = {-INFINITY, INFINITY}};
  }
  return true;
}

static bool widen_by_lateness(struct solver *s) {
  const struct lateness_view v = {&s->w, s->sights, s->first_sight, s->first_anchor, s->ranks};
  return lateness_widen(&v, s->s, OF_RANK);
}

static bool solve_hosts(struct align_problem *p, struct align_solution *solution) {
  struct solver s = {.w = {.p = p, .arena = {.mem = p->mem}}, .s = solution};
  map_init(&s.waiting, p->mem);
  compare_init(&s.ahead, p->mem, p->threads);
  bool ok = solve_prepare(&s);
  if (ok) make_sights(&s);
  ok = ok && list_labels(&s) && rivals_list(&s.rivals, &s.w.arena, s.sights, s.first_sight, p->n_hosts);
  ok = ok && place_all(&s) && list_members(&s) && align_check(&s.w, solution) && list_meetings(&s);
  if (ok && !p->marker && !p->placed) ok = widen_by_lateness(&s);
  if (ok) judge(&s), keep_maps(&s);
  if (ok && !p->marker && !p->placed) ok = gpus_widen(&s.w, solution);
  compare_free(&s.ahead);
  map_free(&s.waiting);
  rivals_free(&s.rivals);
  arena_free(&s.w.arena);
  return ok;
}

/* Remembers which inputs have the same host name, because hosts_test separates inputs that do not leave together. */
static bool note_origins(struct align_problem *p, struct arena *arena) {
  uint32_t *origin = arena_alloc(arena, ((size_t)p->n_inputs + 1) * sizeof *origin);
  if (origin) memcpy(origin, p->host_of, (size_t)p->n_inputs * sizeof *origin);
  p->origin = origin;
  return origin != NULL;
}

bool align_solve(struct align_problem *p, struct align_solution *s, struct tk_err *err) {
  *s = (struct align_solution){.mem = p->mem, .arena = {.mem = p->mem}, .cap = p->n_inputs > p->n_hosts ? p->n_inputs : p->n_hosts};
  s->hosts = mem_zeros(p->mem, (uint64_t)s->cap + 1, sizeof *s->hosts);
  /* A marker sets the offset of each host, however small, so hosts are not tested for a shared clock. */
  bool ok = s->hosts && note_origins(p, &s->arena) && (p->marker || p->placed || hosts_test(p, s)) && solve_hosts(p, s);
  if (ok && !p->marker && !p->placed) hosts_join(p, s, solve_hosts);
  return mem_check(p->mem, err);
}

void align_solution_free(struct align_solution *s) {
  mem_free(s->mem, s->hosts);
  arena_free(&s->arena);
  *s = (struct align_solution){0};
}
