/* timeline.c - builds the sights of each host (a sight is a collective as one host recorded it) and the common timeline
 * (timeline.h). */
#include "timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TWIN (25 * US) /* largest difference between the ends of a collective on ranks that share a clock */
#define FIRM (4 * US)  /* ns: a sight's distance from the common timeline counts at most this much when it moves the timeline */

void timeline_init(struct timeline *t, struct mem *mem) {
  *t = (struct timeline){.mem = mem};
  map_init(&t->labels, mem);
}

void timeline_free(struct timeline *t) {
  mem_free(t->mem, t->v);
  map_free(&t->labels);
  *t = (struct timeline){0};
}

/* ---- sights of a host ---- */

static int by_label_and_end(const void *pa, const void *pb) {
  const struct align_anchor *a = pa, *b = pb;
  if (a->label != b->label) return a->label < b->label ? -1 : 1;
  if (a->exact != b->exact) return a->exact < b->exact ? -1 : 1;
  if (a->end != b->end) return a->end < b->end ? -1 : 1;
  if (a->input != b->input) return a->input < b->input ? -1 : 1;
  return (a->device > b->device) - (a->device < b->device);
}

/* True if the anchor may belong to the same collective as v[0..n). Two anchors of one device may do so only if their exact keys
 * are equal; timeline_claims_twice then discards both. */
static bool is_twin(const struct align_anchor *v, uint32_t n, const struct align_anchor *a) {
  if (a->label != v->label || a->exact != v->exact || (!a->exact && (double)(a->end - v->end) > TWIN)) return false;
  for (uint32_t i = 0; i < n; i++)
    if (v[i].input == a->input && v[i].device == a->device) return a->exact != 0;
  return true;
}

/* True if the rank of anchor i has another anchor for the same collective. None of these anchors is used. */
bool timeline_claims_twice(const struct align_anchor *v, uint32_t n, uint32_t i) {
  for (uint32_t k = 0; v[i].exact && k < n; k++)
    if (k != i && v[k].input == v[i].input && v[k].device == v[i].device) return true;
  return false;
}

/* Returns the median of sorted ends. */
static double middle(const double *ends, uint32_t n) { return (ends[(n - 1) / 2] + ends[n / 2]) / 2; }

static uint32_t make_sight(const struct align_anchor *v, uint32_t n, int64_t pivot, struct sight *out) {
  struct sight s = {.label = v->label, .exact = v->exact, .step = v->step, .stepped = v->stepped, .program = v->module != 0,
                    .equal = true, .vague = true, .collective = ALIGN_NONE, .next = ALIGN_NONE};
  enum { MOST = 64 };
  double ends[MOST];
  uint32_t n_ends = 0;
  s.last_start = s.last_sent = -INFINITY;
  s.first_end = s.first_received = INFINITY;
  for (uint32_t i = 0; i < n; i++) {
    double start = (double)(v[i].start - pivot), end = (double)(v[i].end - pivot);
    if (n > 1 && timeline_claims_twice(v, n, i)) continue;
    if (n_ends < MOST) ends[n_ends++] = end;
    s.ranks++;
    s.last_start = fmax(s.last_start, start);
    s.first_end = fmin(s.first_end, end);
    if (v[i].says & ALIGN_SENDS) s.last_sent = fmax(s.last_sent, start);
    if (v[i].says & ALIGN_RECEIVES) s.first_received = fmin(s.first_received, end);
    s.equal = s.equal && v[i].says & ALIGN_EQUAL;
    s.vague = s.vague && v[i].says & ALIGN_VAGUE;
    s.coarse = s.coarse || v[i].says & ALIGN_COARSE;
    s.loose = s.loose || v[i].says & ALIGN_LOOSE;
    s.keyed = s.keyed || v[i].says & ALIGN_KEYED;
  }
  if (s.ranks == 0) return 0;
  s.end = middle(ends, n_ends);
  *out = s;
  return 1;
}

static int by_end(const void *pa, const void *pb) {
  const struct sight *a = pa, *b = pb;
  if (a->end != b->end) return a->end < b->end ? -1 : 1;
  return (a->label > b->label) - (a->label < b->label);
}

static int by_label_and_step(const void *pa, const void *pb) {
  const struct sight *a = pa, *b = pb;
  if (a->label != b->label) return a->label < b->label ? -1 : 1;
  if (a->stepped != b->stepped) return a->stepped - b->stepped;
  if (a->step != b->step) return a->step < b->step ? -1 : 1;
  return by_end(pa, pb);
}

static void count_in_steps(struct sight *v, uint32_t n) {
  if (n) qsort(v, n, sizeof *v, by_label_and_step);
  for (uint32_t i = 0, k; i < n; i = k) {
    for (k = i; k < n && v[k].label == v[i].label && v[k].stepped == v[i].stepped && v[k].step == v[i].step;) k++;
    for (uint32_t m = i; m < k; m++) v[m].nth = m - i, v[m].of = k - i;
  }
}

uint32_t timeline_sights(struct align_anchor *v, uint32_t n, int64_t pivot_ns, struct sight *out) {
  uint32_t made = 0;
  if (n) qsort(v, n, sizeof *v, by_label_and_end);
  for (uint32_t i = 0, k; i < n; i = k) {
    for (k = i + 1; k < n && is_twin(v + i, k - i, &v[k]);) k++;
    if ((!v[i].label && !v[i].exact) || !make_sight(v + i, k - i, pivot_ns, &out[made])) continue;
    out[made].anchor = i;
    out[made++].n_anchors = k - i;
  }
  count_in_steps(out, made);
  if (made) qsort(out, made, sizeof *out, by_end);
  return made;
}

/* ---- comparison with the common timeline ---- */

static int by_end_of(const void *pa, const void *pb) { return by_end(*(struct sight *const *)pa, *(struct sight *const *)pb); }

/* Looks up sights by label, so that the cost for a host depends on its own sights and not on the number of hosts. */
uint32_t timeline_alike(const struct timeline *common, const struct sight *host, uint32_t n, struct arena *arena, uint32_t **out) {
  struct map taken;
  uint32_t found = 0, all = 0;
  bool ok = true;
  map_init(&taken, arena->mem);
  for (int round = 0; ok && round < 2; round++) { /* the first round counts, the second fills the array */
    for (uint32_t i = 0; ok && i < n; i++) {
      uint32_t *last = map_get(&common->labels, host[i].label), *seen = last ? map_put(&taken, host[i].label, 0) : NULL;
      ok = !last || seen;
      if (!seen || *seen > (uint32_t)round) continue;
      *seen = (uint32_t)round + 1;
      for (uint32_t k = *last; k != ALIGN_NONE; k = common->v[k].next)
        if (round == 0) all++;
        else (*out)[found++] = k;
    }
    if (round == 0) ok = ok && (*out = arena_alloc(arena, ((size_t)all + 1) * sizeof **out));
  }
  map_free(&taken);
  return ok ? found : UINT32_MAX;
}

static bool is_barrier(const struct sight *s, bool vague) { return vague ? s->equal || s->vague : s->equal; }

/* Collects the sights of the common timeline and of the host whose labels occur on both sides. `vague`: includes sights whose
 * members are unknown. Each label is handled at the host's first sight with this label. */
static bool view_of(const struct timeline *common, struct sight *host, uint32_t n, bool vague, struct view *out) {
  struct map taken;
  bool ok = true;
  map_init(&taken, out->arena->mem);
  out->n_a = out->n_b = out->n_labels = 0;
  for (uint32_t i = 0; ok && i < n; i++) {
    uint32_t *last = is_barrier(&host[i], vague) ? map_get(&common->labels, host[i].label) : NULL, *seen;
    if (!last) continue;
    if (!(seen = map_put(&taken, host[i].label, 0))) ok = false;
    uint32_t before = out->n_a;
    for (uint32_t k = *last; ok && !*seen && k != ALIGN_NONE; k = common->v[k].next)
      if (is_barrier(&common->v[k], vague)) out->a[out->n_a++] = &common->v[k];
    if (seen && !*seen) out->n_labels += out->n_a > before, *seen = out->n_a > before ? 1 : 2;
    if (!seen || *seen != 1) continue;
    out->b[out->n_b++] = &host[i];
    out->coarse = out->coarse || host[i].coarse;
    out->keyed = out->keyed || host[i].keyed;
  }
  map_free(&taken);
  if (out->n_a) qsort(out->a, out->n_a, sizeof *out->a, by_end_of);
  return ok;
}

static void copy_heads(struct head *out, struct sight *const *v, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) out[i] = (struct head){v[i]->label, v[i]->end};
}

bool timeline_view(const struct timeline *common, struct sight *host, uint32_t n, struct arena *arena, struct view *out) {
  enum { ENOUGH = 3 };
  *out = (struct view){.arena = arena};
  out->a = arena_alloc(arena, ((size_t)common->n + 1) * sizeof *out->a);
  out->b = arena_alloc(arena, ((size_t)n + 1) * sizeof *out->b);
  if (!out->a || !out->b || !view_of(common, host, n, false, out)) return false;
  if (out->n_b < ENOUGH) {
    out->vague = true;
    if (!view_of(common, host, n, true, out)) return false;
  }
  out->a_head = arena_alloc(arena, ((size_t)out->n_a + 1) * sizeof *out->a_head);
  out->b_head = arena_alloc(arena, ((size_t)out->n_b + 1) * sizeof *out->b_head);
  if (!out->a_head || !out->b_head) return false;
  copy_heads(out->a_head, out->a, out->n_a);
  copy_heads(out->b_head, out->b, out->n_b);
  return true;
}

/* ---- joining ---- */

static double placed(const struct curve *c, double t) { return isfinite(t) ? t - curve_at(c, t) : t; }

static bool add_common(struct timeline *common, const struct sight *s) {
  uint32_t *last = map_put(&common->labels, s->label, ALIGN_NONE);
  if (!last || !mem_grow(common->mem, (void **)&common->v, &common->cap, (uint64_t)common->n + 1, sizeof *common->v)) return false;
  common->v[common->n] = *s;
  common->v[common->n].next = *last;
  *last = common->n++;
  return true;
}

/* Adds a sight to a collective of the common timeline. The combined end is where most members place it, so a single member
 * hardly moves it. */
static void merge_sight(struct sight *to, const struct sight *s) {
  double off = fmax(-FIRM, fmin(FIRM, s->end - to->end));
  to->end += off * s->ranks / (to->ranks + s->ranks);
  to->ranks += s->ranks;
  to->last_start = fmax(to->last_start, s->last_start);
  to->last_sent = fmax(to->last_sent, s->last_sent);
  to->first_end = fmin(to->first_end, s->first_end);
  to->first_received = fmin(to->first_received, s->first_received);
}

bool timeline_join(struct timeline *common, struct sight *host, uint32_t n, const struct curve *curve, double variance) {
  for (uint32_t i = 0; i < n; i++) {
    struct sight s = host[i];
    s.end = placed(curve, s.end);
    s.last_start = placed(curve, s.last_start);
    s.last_sent = placed(curve, s.last_sent);
    s.first_end = placed(curve, s.first_end);
    s.first_received = placed(curve, s.first_received);
    s.variance = variance;
    if (s.collective != ALIGN_NONE) {
      merge_sight(&common->v[s.collective], &s);
      continue;
    }
    bool one_way = isfinite(s.last_sent) != isfinite(s.first_received);
    if (!s.equal && !s.vague && !s.exact && !s.stepped && !one_way) continue; /* without a key, other hosts cannot find it */
    host[i].collective = common->n;
    if (!add_common(common, &s)) return false;
  }
  return true;
}
