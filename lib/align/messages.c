/* messages.c - bounds from messages (messages.h), as Duda and the hulls of delays have them.
 *
 * Nobody has received what was not yet sent.  Messages from a host bound the offset of its clock on one side, and messages to it on the
 * other: `low` is the latest that it can be behind, `high` the earliest that it can be ahead, each by the quickest message of its way.
 * No end is taken for simultaneous, so the interval is all that is claimed; its middle is no better than its width.
 *
 * Which message is which is known by the step and the place in it, if the steps are numbered alike; so every shift by a few steps is a
 * hypothesis.  It weighs as much as the wall clock gives to its interval, less if the interval is wide: messages take as long as they
 * need, and a shift by a step makes them take a step longer.  A shift that contradicts itself is not the answer, but may show that
 * there is none: another one whose few messages agree by chance must outweigh it. */
#include "messages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH (4000 * US) /* an interval that is wider by this is an e-th as probable */
#define DRIFT 30e-6
#define MISTAKEN 1e-4 /* a contradiction may be of a few messages that are not what they seem */
enum { MOST_SHIFT = 16, FEWEST = 3 };

static bool is_message(const struct sight *s) {
  return !s->equal && !s->vague && s->stepped && (isfinite(s->last_sent) || isfinite(s->first_received));
}

/* Sender and receiver of one message have one label, one step and one place among as many; each is told from the other by what it does.
 * Where one of the step's was lost, none of it says anything. */
static uint64_t key_of(const struct sight *s, int64_t shift, bool other_side) {
  bool sends = isfinite(s->last_sent) != other_side;
  uint64_t place = align_mix(align_mix(s->label, (uint64_t)(s->step + shift)), s->nth);
  return align_mix(align_mix(place, s->of), sends ? 61 : 62);
}

static bool index_of(const struct timeline *common, const uint32_t *v, uint32_t all, struct map *index, uint32_t *n) {
  for (uint32_t i = 0; i < all; i++) {
    if (!is_message(&common->v[v[i]])) continue;
    if (!map_put(index, key_of(&common->v[v[i]], 0, false), v[i])) return false;
    ++*n;
  }
  return true;
}

static double weight_of(const struct question *q, const struct messages *m, int64_t shift) {
  double low = q->base + fmin(m->low, m->high), high = q->base + fmax(m->low, m->high), mass = 0;
  double key = shift ? 5e-3 * pow(0.5, fabs((double)shift) - 1) : 1;
  enum { PARTS = 16 };
  for (int i = 0; i < PARTS; i++) mass += posterior_wall(q, low + (high - low) * (i + 0.5) / PARTS) * (high - low) / PARTS / US;
  if (m->low > m->high) key *= MISTAKEN;
  return m->n < FEWEST || !isfinite(high - low) ? 0 : mass * key * exp(-(high - low) / WIDTH);
}

static void take_shift(const struct timeline *common, const struct sight *v, uint32_t n, const struct map *index, int64_t shift,
                       struct messages *m) {
  m->n = 0;
  m->low = -INFINITY;
  m->high = INFINITY;
  m->first = INFINITY;
  m->last = -INFINITY;
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t *at = is_message(&v[i]) ? map_get(index, key_of(&v[i], shift, true)) : NULL;
    m->partner[i] = at ? *at : ALIGN_NONE;
    if (!at) continue;
    const struct sight *a = &common->v[*at];
    m->n++;
    m->first = fmin(m->first, v[i].end);
    m->last = fmax(m->last, v[i].end);
    if (isfinite(v[i].last_sent)) m->low = fmax(m->low, v[i].last_sent - a->first_received);
    else m->high = fmin(m->high, v[i].first_received - a->last_sent);
  }
  if (m->n == 0) return;
  double drift = DRIFT * (m->last - m->first) / 2;
  m->low -= drift;
  m->high += drift;
}

bool messages_find(const struct question *q, const struct timeline *common, struct sight *host, uint32_t n, struct arena *arena,
                   struct messages *out) {
  struct map index;
  uint32_t messages = 0, *alike, n_alike = timeline_alike(common, host, n, arena, &alike);
  int64_t best = 0;
  double sum = 0, most = 0;
  *out = (struct messages){.partner = arena_alloc(arena, ((size_t)n + 1) * sizeof *out->partner)};
  map_init(&index, q->mem);
  bool ok = out->partner && n_alike < UINT32_MAX && index_of(common, alike, n_alike, &index, &messages);
  for (int64_t shift = -MOST_SHIFT; ok && messages && shift <= MOST_SHIFT; shift++) {
    take_shift(common, host, n, &index, shift, out);
    double weight = weight_of(q, out, shift);
    sum += weight;
    if (weight <= most) continue;
    most = weight;
    best = shift;
  }
  out->n = 0;
  if (ok && most > 0) {
    take_shift(common, host, n, &index, best, out);
    out->weight = out->low < out->high ? most / sum : 0;
  }
  map_free(&index);
  return ok;
}
