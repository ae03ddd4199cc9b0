/* doubt.c - finds objections to the answer with the most weight (doubt.h).
 *
 * Weights compare answers with each other. Even the best answer may be wrong, which shows in four ways: residuals with a
 * pattern; a member that leaves a collective before all have arrived; collectives at the start or end of the common time
 * without partners; a jump that equals a period of the program. */
#include "doubt.h"

#include <math.h>
#include <string.h>

#include "beta.h"

const char DOUBT_WIDE[] = "its collectives end too long before or after those of the other hosts";
const char DOUBT_SCHEDULED[] = "its collectives ran on CPUs and end farther from those of other hosts than wall clocks usually differ";
static const char EDGE[] = "its first or last collectives imply a different clock offset from the rest";
static const char CONTRADICT[] = "its collectives imply contradictory clock offsets";
static const char UNPAIRED[] = "its collectives cannot be paired with those of other hosts: they may be of another job or of other "
                               "steps, or some were not recorded";
static const char BESIDE[] = "a group of its collectives implies a different clock offset from the rest";
static const char RIVAL[] = "another way to match its collectives with those of other hosts fits nearly as well";
static const char PATTERN[] = "the residuals of its collectives have a pattern that no clock explains";
static const char DOUBT_ONLY_NUMBERS[] = "its collectives match by sequence number, but their end times do not confirm the match";
const char DOUBT_NUMBERS[] = "its collectives do not end together with those of other hosts that have the same sequence numbers";

enum {
  MOST_SKIPPED = 128, /* maximum number of skipped collectives to compare */
  MOST_SETTINGS = 8   /* pieces; with more, the clock would have been set too often to be plausible */
};
#define SECOND 1e9

#define FIT_SIGMA 30e3 /* ns: collectives whose ends scatter more do not act as barriers */

/* Returns the z-score of the number of runs (residuals of equal sign in a row); far below zero if the residuals have a pattern. */
static double runs(const double *r, uint32_t n) {
  double up = 0, down = 0, count = 1;
  for (uint32_t i = 0; i < n; i++) {
    up += r[i] > 0;
    down += r[i] <= 0;
    count += i && (r[i] > 0) != (r[i - 1] > 0);
  }
  double all = up + down, mean = 2 * up * down / all + 1, variance = (mean - 1) * (mean - 2) / (all - 1);
  return variance > 0 ? (count - mean) / sqrt(variance) : 0;
}

double doubt_shape(const double *r, uint32_t n, double sigma) {
  uint32_t size = (uint32_t)fmax(4, sqrt(n)), blocks = 0;
  double sum = 0, most = 6 * sigma;
  for (uint32_t i = 0; i + size <= n; i += size, blocks++) {
    double mean = 0, square = 0;
    for (uint32_t k = i; k < i + size; k++) {
      double x = fmax(-most, fmin(most, r[k]));
      mean += x / size;
      square += x * x / size;
    }
    sum += mean * mean - fmax(0, square - mean * mean) / (size - 1);
  }
  return blocks > 1 && sum > 0 ? sqrt(sum / blocks) : 0;
}

/* Returns the objection to the residuals, or NULL if they are only noise and single outliers. A collective that one rank left
 * late is a single outlier; neighbours that deviate in the same direction are a pattern. */
static const char *shape_of(const struct posterior *p, const double *r, double sigma) {
  uint32_t n = p->n_points, far = 0, beside = 0, equal = 0;
  bool edge = false;
  for (uint32_t i = 0; i < n; i++) {
    far += fabs(r[i]) > 6 * sigma;
    if (i == 0 || fabs(r[i]) <= 5 * sigma || fabs(r[i - 1]) <= 5 * sigma || r[i] * r[i - 1] < 0) continue;
    edge = edge || i == 1 || i + 1 == n;
    beside++;
    equal += fabs(r[i] - r[i - 1]) < 4 * sigma;
  }
  if (edge && 10 * far < n) return EDGE;
  if (3 * far > n) return CONTRADICT;
  if (equal > 2.0 * far * far / n || beside > 1 + 2.0 * far * far / n) return BESIDE;
  if (n < ALIGN_ENOUGH_FOR_RUNS || runs(r, n) >= -4 || p->shape <= sigma) return NULL;
  return PATTERN;
}

static double log_share(double part, double all) {
  return part > 0 && part < all ? part * log(part / all) + (all - part) * log(1 - part / all) : 0;
}

/* True if the share of collectives without a partner changes at some time within the common recording by more than chance
 * explains. The cause is a clock that was set at that time, or a wrong match. */
static bool thins_out(const struct question *q, const struct hypothesis *y) {
  const struct view *v = q->view;
  double first = v->a[0]->end - 50 * US, last = v->a[v->n_a - 1]->end + 50 * US, n = 0, all = 0, before = 0, matched = 0;
  for (int round = 0; round < 2; round++) {
    for (uint32_t i = 0; i < v->n_b; i++) {
      double t = v->b[i]->end - pieces_at(&y->fit, v->b[i]->end);
      if (t < first || t > last) continue;
      if (round == 0) n++, all += y->partner[i] != ALIGN_NONE;
      if (round == 0) continue;
      before++;
      matched += y->partner[i] != ALIGN_NONE;
      double after = n - before, one = matched / before, other = after > 0 ? (all - matched) / after : one;
      double gain = log_share(matched, before) + log_share(all - matched, after) - log_share(all, n);
      if (gain > 14 + log(n) && fmin(one, other) < 0.6 * fmax(one, other)) return true;
    }
  }
  return false;
}

/* True if most collectives at the start (if `back`: the end) of the time that both sides recorded have no partner, unlike the
 * others. The likely cause is that the host's clock was set near that point, so that the timestamps beyond it are off and match
 * a partner only by chance. */
static bool lacks_edge(const struct question *q, const struct hypothesis *y, bool back) {
  const struct view *v = q->view;
  const double first = v->a[0]->end - 50 * US, last = v->a[v->n_a - 1]->end + 50 * US;
  double n = 0, missed = 0;
  for (int round = 0; round < 2; round++) {
    double edge = 0, lacks = 0;
    for (uint32_t k = 0; k < v->n_b; k++) {
      const uint32_t i = back ? v->n_b - 1 - k : k;
      const double t = v->b[i]->end - pieces_at(&y->fit, v->b[i]->end);
      if (t < first || t > last) continue;
      edge++;
      lacks += y->partner[i] == ALIGN_NONE;
      if (round == 0 || lacks < 2 || 2 * lacks < edge) continue;
      const double by_chance = lacks * log((missed - lacks + 1) / (n - edge + 2)) + beta_log_choices(edge, lacks);
      if (by_chance < -6) return true;
    }
    n = edge;
    missed = lacks;
  }
  return false;
}

static bool is_violated(const struct question *q, const struct posterior *p) {
  const struct hypothesis *y = &p->best;
  const double first = p->points[p->first].x, last = p->points[p->last].x; /* the answer makes no claim beyond these points */
  double slack = 3 * y->fit.sigma + ALIGN_SLACK + 2 * US;
  for (uint32_t i = 0; i < q->view->n_b; i++)
    if (y->partner[i] != ALIGN_NONE && !pieces_begin(&y->fit, q->view->b[i]->end) && q->view->b[i]->end >= first &&
        q->view->b[i]->end <= last &&
        pair_beyond(q->view->a[y->partner[i]], q->view->b[i], pieces_at(&y->fit, q->view->b[i]->end)) > slack)
      return true;
  return false;
}

/* Finds the collectives that the answer skips between two consecutive pairs, if both sides recorded the same number of collectives
 * there, and stores the differences of their ends in `apart`. *unequal: number of places at which the two sides recorded different
 * numbers of collectives, because a recording lost some. */
static uint32_t find_skipped(const struct question *q, const struct hypothesis *y, double *apart, uint32_t *unequal) {
  const struct view *v = q->view;
  uint32_t before = ALIGN_NONE, n = 0;
  *unequal = 0;
  for (uint32_t i = 0; i < v->n_b && n < MOST_SKIPPED; i++) {
    if (y->partner[i] == ALIGN_NONE) continue;
    const uint32_t first = before == ALIGN_NONE ? i : before, skipped = i - first;
    const bool equal = y->partner[i] == y->partner[first] + skipped;
    before = i;
    *unequal += !equal;
    for (uint32_t k = 1; equal && k < skipped && n < MOST_SKIPPED; k++) {
      const struct sight *a = v->a[y->partner[first] + k], *b = v->b[first + k];
      if (a->label == b->label) apart[n++] = a->end - b->end + pieces_at(&y->fit, b->end);
    }
  }
  return n;
}

/* True if the skipped collectives agree on another offset: the host left most of its collectives late, and these on time. */
static bool has_two_ends(const struct question *q, const struct hypothesis *y) {
  double apart[MOST_SKIPPED], sorted[MOST_SKIPPED];
  uint32_t unequal, alike = 0;
  const uint32_t n = find_skipped(q, y, apart, &unequal);
  if (n < ALIGN_FEWEST || n < unequal) return false;
  memcpy(sorted, apart, n * sizeof *sorted);
  const double middle = curve_median(sorted, n);
  for (uint32_t i = 0; i < n; i++) alike += fabs(apart[i] - middle) < fmax(5 * y->fit.sigma, 20 * US);
  return 3 * alike > 2 * n;
}

/* True if a jump is unambiguous: it is small compared to the distance to the next collective with the same label. Otherwise it
 * may be a smaller jump with some collectives missing. */
static bool is_piece_clear(const struct question *q, const struct posterior *p, uint32_t k) {
  const struct hypothesis *y = &p->best;
  const struct piece *now = &y->fit.v[k], *before = &y->fit.v[k ? k - 1 : 1];
  double x = p->points[k ? now->from : now->to - 1].x, jump = piece_at(now, x) - piece_at(before, x);
  double at = x - piece_at(now, x), nearest = INFINITY;
  for (uint32_t i = 0; i < q->view->n_a; i++) {
    double off = q->view->a[i]->end - at;
    if (fabs(off) > 12 * US && fabs(off) < fabs(nearest) && q->view->a[i]->label == q->view->b[q->view->n_b / 2]->label) nearest = off;
  }
  return fabs(jump) * 2 < fabs(nearest) || now->to - now->from > q->view->n_b;
}

/* A clock that was set back shows some readings twice. True if collectives with such readings fit neither side of the jump:
 * sorted by reading, they are not in the order in which they happened. */
static bool is_torn(const struct posterior *p, const double *r) {
  const struct pieces *fit = &p->best.fit;
  for (uint32_t k = 0; k + 1 < fit->n; k++) {
    double jump = pieces_jump(fit, p->points, k), reach = -jump;
    if (jump >= -6 * fit->sigma) continue;
    double from = p->points[fit->v[k].to - 1].x - reach, to = p->points[fit->v[k + 1].from].x + reach;
    for (uint32_t i = 0; i < p->n_points; i++)
      if (p->points[i].x >= from && p->points[i].x <= to && fabs(r[i]) > 6 * fmax(fit->sigma, US)) return true;
  }
  return false;
}

static bool is_keyed(const struct question *q, const struct hypothesis *y) {
  uint32_t equal = 0;
  for (uint32_t i = 0; i < q->view->n_b; i++) {
    const struct sight *a = y->partner[i] == ALIGN_NONE ? NULL : q->view->a[y->partner[i]];
    equal += a && a->exact && a->exact == q->view->b[i]->exact;
  }
  return equal > 0.95 * y->n;
}

/* True if the answer contradicts the pairing by sequence number in more pairs than a few wrong numbers explain. */
static bool contradicts_numbers(const struct posterior *p) { return p->numbered - p->kept > 1 + p->numbered / 20; }

bool doubt_is_lateness(const char *doubt) {
  return doubt == DOUBT_WIDE || doubt == EDGE || doubt == CONTRADICT || doubt == BESIDE || doubt == PATTERN;
}

const char *doubt_of(const struct question *q, const struct posterior *p, const double *r) {
  const struct hypothesis *y = &p->best;
  const char *shape;
  const bool unlikely = p->none > y->weight || (y->weight < ALIGN_TRUSTED && p->none > (1 - y->weight) / 2);
  if (y->n >= ALIGN_FEWEST && contradicts_numbers(p)) return DOUBT_NUMBERS;
  if (unlikely && p->numbered >= ALIGN_FEWEST) return DOUBT_ONLY_NUMBERS;
  if (p->none > y->weight) return UNPAIRED;
  if (y->n < ALIGN_FEWEST) return "too few shared collectives";
  if (unlikely) return "its collectives may belong to another job";
  if (y->weight < ALIGN_TRUSTED) return RIVAL;
  if (y->fit.sigma > FIT_SIGMA) return DOUBT_WIDE;
  if (is_violated(q, p)) return "even after alignment, some collectives would end before all ranks begin them";
  if ((shape = shape_of(p, r, fmax(y->fit.sigma, US)))) return shape;
  if (y->fit.n > MOST_SETTINGS && p->points[p->n_points - 1].x - p->points[0].x < y->fit.n * SECOND)
    return PATTERN;
  if (is_torn(p, r)) return "its clock was set back, and the collectives around that moment imply contradictory offsets";
  if (has_two_ends(q, y)) return RIVAL;
  const bool unpaired = p->numbered == 0 && (lacks_edge(q, y, false) || lacks_edge(q, y, true));
  if (unpaired || thins_out(q, y)) return "its first or last collectives have no counterparts on other hosts; its clock may "
                                          "have been set meanwhile";
  for (uint32_t k = 0; y->fit.n > 1 && !is_keyed(q, y) && k < y->fit.n; k++)
    if (!is_piece_clear(q, p, k)) return "its clock was set during the recording, but the size of the jump is ambiguous";
  return NULL;
}
