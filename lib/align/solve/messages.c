/* messages.c - bounds clocks by messages (messages.h), following Duda's method of the hulls of delays.
 *
 * No message is received before it was sent. Messages from a host bound the offset of its clock on one side, and messages to the host
 * bound it on the other: `low` and `high` each come from the fastest message in one direction. No ends are assumed to be simultaneous,
 * so the result is only an interval; the error of its middle is half its width.
 *
 * If steps are numbered, messages are identified by step and position in the step, and each shift by a few steps is a hypothesis.
 * Without steps, messages are identified by their order, and each shift by a number of messages is a hypothesis. The weight of a
 * hypothesis is the probability of its interval by wall clock, reduced if the interval is wide, because a shift by one step makes every
 * message one step longer. A shift whose bounds contradict each other cannot be right, but it counts in the comparison: the right shift
 * must outweigh wrong ones whose few messages agree by chance.
 *
 * That the two hosts belong to two jobs is a hypothesis as well. Messages of two jobs contradict each other unless the jobs run in
 * lockstep; this is as probable as a wrong shift within this job that causes no contradiction. */
#include "messages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH (4000 * US) /* when the interval widens by this much, the probability decreases by a factor of e */
#define DRIFT 30e-6
#define MISTAKEN 1e-4 /* probability that a contradiction is due to a few misidentified messages */
#define WHOLE 0.8     /* probability that both sides recorded the same first and last message, if only the order is known */
enum { MOST_SHIFT = 16, MOST_PLACES = 64, FEWEST = 3 };

static bool is_message(const struct sight *s) {
  return !s->equal && !s->vague && (isfinite(s->last_sent) || isfinite(s->first_received));
}

/* True if this clock saw both the sender and the receiver, so that the message cannot bound another host. */
static bool messages_is_whole(const struct sight *s) { return isfinite(s->last_sent) && isfinite(s->first_received); }

/* Returns a hash of a message's label, step, position in the step, number of messages with this label in the step, and
 * direction. other_side: returns the hash for the opposite direction, which is the key of the partner. Because the number of
 * messages is part of the key, no message of a step matches if one of them is missing. Without steps, the message's ordinal is
 * used. */
static uint64_t messages_key_of(const struct sight *s, int64_t shift, bool other_side) {
  bool sends = isfinite(s->last_sent) != other_side;
  if (!s->stepped) return hash_mix(hash_mix(s->label, (uint64_t)(s->nth + shift)), sends ? 63 : 64);
  uint64_t place = hash_mix(hash_mix(s->label, (uint64_t)(s->step + shift)), s->nth);
  return hash_mix(hash_mix(place, s->of), sends ? 61 : 62);
}

static bool index_of(const struct timeline *common, const uint32_t *v, uint32_t all, struct map *index, uint32_t *n) {
  for (uint32_t i = 0; i < all; i++) {
    if (!is_message(&common->v[v[i]]) || messages_is_whole(&common->v[v[i]])) continue;
    if (!map_put(index, messages_key_of(&common->v[v[i]], 0, false), v[i])) return false;
    ++*n;
  }
  return true;
}

static double key_weight(const struct messages *m, int64_t shift) {
  if (m->stepped) return shift ? 5e-3 * pow(0.5, fabs((double)shift) - 1) : 1;
  return shift == 0 && m->whole ? WHOLE : (1 - WHOLE) / (2 * fmax(m->n, 4));
}

static double weight_of(const struct question *q, const struct messages *m, int64_t shift) {
  double low = q->base + fmin(m->low, m->high), high = q->base + fmax(m->low, m->high), mass = 0;
  double key = key_weight(m, shift);
  enum { PARTS = 16 };
  for (int i = 0; i < PARTS; i++) mass += posterior_wall(q, low + (high - low) * (i + 0.5) / PARTS) * (high - low) / PARTS / US;
  if (m->low > m->high) key *= MISTAKEN;
  return m->n < FEWEST || !isfinite(high - low) ? 0 : mass * key * exp(-(high - low) / WIDTH);
}

/* Returns the weight of the hypothesis that the hosts belong to two jobs. Wrong shifts of this job drift by `range` over its
 * steps. Messages of another job would drift as well, but must stay within the interval at every step. So the weight is the
 * probability that the jobs start within the interval, times, for each step, the probability to stay there. */
static double other_job(const struct question *q, const struct messages *m, double range) {
  double width = m->high - m->low, span = fmax(m->last - m->first, width), steps = fmax(1, (double)m->steps);
  double gap = q->no_wall ? 0 : fabs(q->base + (m->low + m->high) / 2) - span;
  double a_step = isfinite(range) ? range / (1.6 * sqrt(steps)) : 0, within = fmin(1, width / (2.5 * fmax(a_step, width / 2.5)));
  return q->other_job * width / US * posterior_gap(gap / US, span / US) * pow(within, steps);
}

/* Sights of a host, and the timeline in which their partners are searched. */
struct search {
  const struct timeline *common;
  const struct sight *v;
  uint32_t n;
  struct map index;    /* messages_key_of -> index in the timeline */
  int64_t most, best;  /* shifts, in steps: the largest one to try, and the one with the most weight */
};

static void take_shift(const struct search *s, int64_t shift, struct messages *m) {
  const struct sight *v = s->v;
  m->n = 0;
  m->low = -INFINITY;
  m->high = INFINITY;
  m->first = INFINITY;
  m->last = -INFINITY;
  int64_t step = INT64_MIN;
  m->stepped = m->whole = true;
  m->steps = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    const uint32_t *at = is_message(&v[i]) ? map_get(&s->index, messages_key_of(&v[i], shift, true)) : NULL;
    m->partner[i] = at ? *at : ALIGN_NONE;
    if (!at) continue;
    const struct sight *a = &s->common->v[*at];
    m->n++;
    m->stepped = m->stepped && v[i].stepped;
    if (step != v[i].step) m->steps++;
    step = v[i].step;
    m->whole = m->whole && a->of == v[i].of;
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

/* Returns the least amount by which a wrong shift of this job drifts over its steps; INFINITY if no wrong shift has enough
 * pairs. *m contains the best shift before and after the call. */
static double drift_of_wrong(const struct search *s, struct messages *m) {
  const uint32_t pairs = m->n;
  const double width = m->high - m->low;
  double range = INFINITY;
  for (int64_t shift = -s->most; shift <= s->most; shift++) {
    if (shift == s->best) continue;
    take_shift(s, shift, m);
    if (2 * m->n >= pairs && isfinite(m->high - m->low)) range = fmin(range, fmax(0, width - (m->high - m->low)));
  }
  take_shift(s, s->best, m);
  return range;
}

bool messages_find(const struct question *q, const struct timeline *common, struct sight *host, uint32_t n, struct arena *arena,
                   struct messages *out) {
  struct search s = {.common = common, .v = host, .n = n, .most = MOST_SHIFT};
  uint32_t messages = 0, *alike, n_alike = timeline_alike(common, host, n, arena, &alike);
  double sum = 0, most = 0;
  *out = (struct messages){.partner = arena_alloc(arena, ((size_t)n + 1) * sizeof *out->partner)};
  map_init(&s.index, q->mem);
  bool ok = out->partner && n_alike < UINT32_MAX && index_of(common, alike, n_alike, &s.index, &messages);
  for (uint32_t i = 0; i < n; i++)
    if (is_message(&host[i]) && !host[i].stepped) s.most = MOST_PLACES;
  for (int64_t shift = -s.most; ok && messages && shift <= s.most; shift++) {
    take_shift(&s, shift, out);
    double weight = weight_of(q, out, shift);
    sum += weight;
    if (weight <= most) continue;
    most = weight;
    s.best = shift;
  }
  if (most > 0) take_shift(&s, s.best, out);
  if (most > 0 && out->low < out->high) {
    out->mass = most;
    out->all = sum + other_job(q, out, drift_of_wrong(&s, out));
  }
  if (most == 0) out->n = 0;
  map_free(&s.index);
  return ok;
}
