/* posterior.c - weighs the hypotheses about a clock's offset (posterior.h). Logarithms are natural, and densities are per us.
 *
 * Ends. After fitting a line, or as few lines as jumps require, the differences of ends are noise (Student's t with a scale of 1 us to
 * 1.5 ms, most probably 3 us) with 2% outliers. Each pair counts by the ratio of its density to the density of a wrong pair. Wrong
 * pairs are not random, because programs repeat themselves: if steps are paired with wrong steps, the differences of ends drift,
 * because each interval that is longer or shorter than its counterpart shifts all later differences. This drift is learnt by pairing
 * the clock with *itself*, shifted (`rhythm`); separately for each time between two collectives, because long pauses and short layers
 * vary differently. The model of a wrong pairing is a level that drifts in this way, plus noise (a Kalman filter). A program without
 * variation yields no evidence, however many collectives it has. All evidence is multiplied by 0.85, because the model is not exact
 * (`TAU`).
 *
 * Causality. No member leaves before all have arrived: a pair bounds the offset, and an excess beyond noise counts against it.
 *
 * Missing. Collectives without an expected partner count against a hypothesis by a beta-binomial distribution, because a rank that
 * lost one probably lost several. If even the best hypothesis lacks some, the number of pairs contributes at most a factor of 30,
 * because kernels are not lost independently.
 *
 * Wall clock. 80% of clocks are within `clock_error` (1 ms, normally distributed), 15% within five times that, and 5% anywhere up to a
 * year, each power of ten equally likely: a clock without NTP has no typical error.
 *
 * Keys. The sequence numbers of a collective agree except in one of 10,000 cases; unrelated collectives have equal numbers as rarely.
 * Step numbers agree except in one of 200 cases; each further step of difference halves this probability.
 *
 * The hosts may also have nothing in common. They may belong to two jobs, with a prior of one in a thousand; one in ten thousand if
 * the inputs are all ranks of one job, each once; one in a hundred if two inputs claim the same rank. The prior is five times higher
 * if the ends yield no evidence, and a hundred times if they also scatter. Or the recordings may contain different steps, if by wall
 * clock they did not overlap. Recordings that are far apart in time are as improbable as clocks that are equally far apart.
 *
 * An answer is trusted if it has 1,000 times the weight of all others together. It is trusted conditionally if it would have this
 * weight given wall clocks within five times `clock_error`, and this condition is nine times as probable as its opposite; reports then
 * state the condition (`unless`). In the simulations of tests/property/clocks, such answers are wrong less often than these numbers
 * imply, because the numbers are conservative. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "hypotheses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "beta.h"
#include "numbers.h"
#include "base/order.h"

#define TAU 0.85
#define ANYTHING (0.02 / 20e3) /* per us: 2% of ends are outliers of up to 20 ms */
#define LIKELY 0.9
#define COMPLETE 1e-4 /* other_job if the inputs are all ranks of one job; a wrong wall clock is then more likely than another job */
#define YEAR_US 3.15e13
#define NO_PERIOD 3      /* nats per pair: for a recording too short to repeat itself; its wrong pairs differ by only some 10 us */
#define LUCK 4           /* nats: evidence with more variance per nat is scaled down; twice the variance if the model is right */
#define PIECE 18         /* nats: cost of another piece, as in pieces.c */
#define NOISE (8 * US)      /* if ends scatter more than this, the cause is not noise */
#define LEAST_BEAT (3 * US) /* noise in the difference between two ends */
#define IRREGULAR 8      /* nats: like NO_PERIOD, for a long recording without a period */
enum { MOST_POINTS = 256, SIGMAS = 16 };

/* ---- the wall clock ---- */

static double normal(double x, double sd) { return exp(-x * x / (2 * sd * sd)) / (2.5066282746 * sd); }

double posterior_wall(const struct question *q, double offset) {
  double us = fabs(offset) / US, usual = q->clock_error / US, any = 1 / (2 * log(YEAR_US / usual) * fmax(us, usual));
  return q->no_wall ? any : 0.80 * normal(us, usual) + 0.15 * normal(us, 5 * usual) + 0.05 * any;
}

/* Returns the density of an offset by wall clock, including the possibility that both clocks are the same. */
static double prior(const struct question *q, double offset) {
  const double near = 12 * US;
  double apart = posterior_wall(q, offset);
  return (1 - q->same) * apart + (fabs(offset) <= near ? q->same * US / (2 * near) : 0);
}

/* Returns the approximate probability that the offset is below x, given that the clocks are within `most` of each other; most =
 * INFINITY imposes no condition. */
static double wall_below(const struct question *q, double x, double most) {
  if (isfinite(most)) return (wall_below(q, fmax(-most, fmin(most, x)), INFINITY) - wall_below(q, -most, INFINITY)) /
                             (wall_below(q, most, INFINITY) - wall_below(q, -most, INFINITY));
  double usual = q->clock_error, usual_us = usual / US, all = 2 * log(YEAR_US / usual_us), far = log(fmax(fabs(x), usual) / usual) + 1;
  double tail = 0.5 + copysign(fmin(0.5, far / all), x);
  double near = 0.5 * erfc(-x / usual / sqrt(2)), wide = 0.5 * erfc(-x / usual / 5 / sqrt(2));
  return q->no_wall ? tail : 0.80 * near + 0.15 * wide + 0.05 * tail;
}

/* ---- ends ---- */

struct residuals {
  uint32_t n;
  double *r;
  double scale; /* number of pairs that each residual represents */
};

/* Returns ln of the joint density of the residuals, marginalised over the scale of noise. Each pair has the weight `tau`. */
static double density_of(const struct residuals *v, double tau) {
  double terms[SIGMAS], most = -INFINITY, sum = 0, sigma = US;
  for (int k = 0; k < SIGMAS; k++, sigma *= 1.63) {
    double about = log(sigma / (3 * US)) / 1.2, d = 0, floor = log(ANYTHING);
    for (uint32_t i = 0; i < v->n; i++) {
      double in = pieces_noise_density(v->r[i], sigma) + log(US) + log(0.98);
      d += in > floor + 6 ? in : log(exp(in) + exp(floor));
    }
    terms[k] = tau * v->scale * d - about * about / 2;
    most = fmax(most, terms[k]);
  }
  for (int k = 0; k < SIGMAS; k++) sum += exp(terms[k] - most);
  return (most + log(sum / SIGMAS)) / tau;
}

/* Fits the hypothesis to a sample of its pairs, with several pieces if `split` is set, and returns ln of the density of the
 * residuals of all pairs. */
static double fit_some(struct hypotheses *h, struct hypothesis *y, bool split) {
  uint32_t stride = y->n / MOST_POINTS + 1, n = hypotheses_points(h, y, stride, h->points);
  pieces_line(&y->fit, h->points, n, h->room);
  if (split) pieces_split(&y->fit, h->points, n, h->room);
  for (uint32_t i = 0; i < n; i++) h->room[i] = pieces_residual(&y->fit, h->points, i);
  y->offset = h->q->base + piece_at(&y->fit.v[y->fit.n / 2], h->points[n / 2].x);
  struct residuals r = {n, h->room, (double)y->n / n};
  return density_of(&r, TAU);
}

/* ---- missing partners ---- */

/* Counts sights without a partner, inside and outside of the common time of both recordings. */
static void count_missing(const struct hypotheses *h, struct hypothesis *y) {
  const struct view *v = h->q->view;
  double a0 = v->a[0]->end, a1 = v->a[v->n_a - 1]->end, b0 = v->b[0]->end, b1 = v->b[v->n_b - 1]->end;
  double low = fmax(a0, b0 - pieces_at(&y->fit, b0)) - 50 * US, high = fmin(a1, b1 - pieces_at(&y->fit, b1)) + 50 * US;
  uint32_t a_in = 0, b_in = 0;
  for (uint32_t i = 0; i < v->n_a; i++) a_in += v->a_head[i].end >= low && v->a_head[i].end <= high;
  for (uint32_t i = 0; i < v->n_b; i++) {
    double t = v->b_head[i].end - pieces_at(&y->fit, v->b_head[i].end);
    b_in += t >= low && t <= high;
  }
  uint32_t matched = y->n < a_in ? y->n : a_in;
  y->missed = a_in - matched + (b_in > matched ? b_in - matched : 0);
  y->outside = v->n_a - a_in + v->n_b - b_in;
  if (y->outside >= v->n_labels) return;
  y->missed += y->outside; /* fewer than a period of the program: they were lost, not recorded before or after the other recording */
  y->outside = 0;
}

static double missing_of(const struct hypothesis *y) { return beta_log(y->missed + 0.5, 2.0 * y->n + 15) - beta_log(0.5, 15); }

/* ---- causality ---- */

static double causality_of(const struct hypotheses *h, const struct hypothesis *y) {
  const struct view *v = h->q->view;
  double sum = 0, slack = 2 * y->fit.sigma + ALIGN_SLACK;
  for (uint32_t i = 0; i < v->n_b; i++) {
    if (y->partner[i] == ALIGN_NONE || pieces_begin(&y->fit, v->b[i]->end)) continue; /* the collective may have begun before the
                                                                                       * jump */
    double off = pair_beyond(v->a[y->partner[i]], v->b[i], pieces_at(&y->fit, v->b[i]->end)) - slack;
    if (off > 0) sum -= fmin(8, off / (3 * US));
  }
  return sum;
}

/* ---- keys ---- */

static double keys_of(const struct hypotheses *h, const struct hypothesis *y) {
  const struct view *v = h->q->view;
  uint32_t numbered = 0, equal = 0, stepped = 0, agree = 0;
  for (uint32_t i = 0; i < v->n_b; i++) {
    if (y->partner[i] == ALIGN_NONE) continue;
    const struct sight *a = v->a[y->partner[i]], *b = v->b[i];
    numbered += a->exact && b->exact;
    equal += a->exact && a->exact == b->exact;
    if (!a->stepped || !b->stepped || b->program) continue;
    h->room[stepped++] = fabs((double)a->step - (double)b->step);
    agree += a->step == b->step;
  }
  if (2 * numbered > y->n) return equal > 0.95 * numbered ? numbers_torn(h, y) : log(1e-4);
  if (2 * stepped <= y->n || agree > 0.9 * stepped) return 0;
  if (2 * agree > stepped) return log(0.05);
  qsort(h->room, stepped, sizeof *h->room, order_doubles);
  return log(5e-3) - (fmin(h->room[stepped / 2], 40) - 1) * log(2);
}

/* ---- regularity of the program ---- */

enum { OCTAVES = 48, SELVES = 4, FEWEST_STEPS = 3 };

/* Under a wrong pairing, the differences of ends drift from one collective to the next. This is the scale of the drift, by the time
 * between the two collectives (in octaves of us), as learnt by pairing the clock with itself. */
struct rhythm {
  double scale[OCTAVES]; /* ns; 0 = not observed */
  bool repeats;          /* true if the recording is long enough to contain repetitions */
  bool irregular;        /* true if the recording is long but does not repeat itself: only the right pairing has many pairs */
};

static uint32_t octave_of(double gap) {
  int octave = gap > US ? ilogb(gap / US) : 0;
  return octave < OCTAVES ? (uint32_t)octave : OCTAVES - 1;
}

static int by_octave(const void *pa, const void *pb) {
  const struct beat *a = pa, *b = pb;
  if (a->octave != b->octave) return a->octave < b->octave ? -1 : 1;
  return (a->step > b->step) - (a->step < b->step);
}

/* Returns the scale of the beats: the smaller of two estimates, from the median and from the quartile, because an underestimate
 * claims less evidence. */
static double scale_of_beats(const struct beat *v, uint32_t n) {
  return fmax(fmin(v[n / 2].step / 0.718, v[n / 4].step / 0.334), LEAST_BEAT);
}

/* Fills in the scale of each octave. An octave with too few observations gets the scale of the next shorter one. */
static void learn(struct rhythm *out, struct beat *v, uint32_t n) {
  double last = LEAST_BEAT;
  if (n) qsort(v, n, sizeof *v, by_octave);
  for (uint32_t i = 0, k; i < n; i = k) {
    for (k = i; k < n && v[k].octave == v[i].octave;) k++;
    if (k - i >= FEWEST_STEPS) out->scale[v[i].octave] = scale_of_beats(v + i, k - i);
  }
  for (uint32_t o = 0; o < OCTAVES; o++) {
    if (out->scale[o] > 0) last = out->scale[o];
    else out->scale[o] = last;
  }
}

/* Model of a drifting level. Between two points, the level moves by `times` the scale that the rhythm has for the time between
 * them, but by at least `least` if that time is in octave `from` or longer. Noise comes on top. */
struct drift {
  const struct rhythm *rhythm;
  double times, least; /* ns */
  uint32_t from;
  double sigma;        /* ns: noise around the level */
};

static double drift_over(const struct drift *d, uint32_t octave) {
  double scale = d->rhythm->scale[octave], noise = fmax(LEAST_BEAT * LEAST_BEAT, 3 * d->sigma * d->sigma);
  return fmax(d->times * d->times * fmax(0, scale * scale - noise), octave >= d->from ? d->least * d->least : 0);
}

/* Returns ln of the density of residuals as noise around a drifting level (a Kalman filter), and in `each` the density of each
 * residual. The first residual determines the level. */
static double drift_density(const struct drift *model, const struct beat *v, uint32_t n, double *each) {
  double floor = log(ANYTHING), sum = 0, level = v[0].residual, noise = model->sigma * model->sigma, variance = noise;
  for (uint32_t i = 1; i < n; i++) {
    variance += drift_over(model, v[i].octave);
    double all = variance + noise, off = v[i].residual - level;
    double d = fmax(floor, pieces_noise_density(off, sqrt(all)) + log(US));
    if (each) each[i] = d;
    sum += d;
    if (off * off > 36 * all) continue;
    level += off * variance / all;
    variance *= 1 - variance / all;
  }
  return sum;
}

static void try_drift(struct drift *best, double *most, struct drift d, const struct beat *v, uint32_t n) {
  double density = drift_density(&d, v, n, NULL);
  if (density <= *most) return;
  *most = density;
  *best = d;
}

/* Returns ln of the density of residuals under a wrong pairing. They may drift as the rhythm predicts or more, whichever fits
 * best, so that steps larger than the learnt ones do not count as evidence. `each` receives the density of each residual. */
static double wrong_density(const struct rhythm *r, const struct beat *v, uint32_t n, double sigma, double *each) {
  enum { WIDER = 8, LEAST = 5 };
  struct drift best = {.rhythm = r};
  double most = -INFINITY, times = 0.5, least = 2 * US;
  uint32_t longest = 0;
  for (uint32_t i = 1; i < n; i++) longest = v[i].octave > longest ? v[i].octave : longest;
  for (int k = 0; k < WIDER; k++, times *= 2) {
    try_drift(&best, &most, (struct drift){r, times, 0, 0, sigma}, v, n);
    if (sigma > LEAST_BEAT) try_drift(&best, &most, (struct drift){r, times, 0, 0, LEAST_BEAT}, v, n);
  }
  for (int k = 0; sigma > LEAST_BEAT && k < LEAST; k++, least *= 2) { /* drift that exceeds noise, which the rhythm may not show */
    try_drift(&best, &most, (struct drift){r, 1, least, 0, LEAST_BEAT}, v, n);
    try_drift(&best, &most, (struct drift){r, 1, least, longest, LEAST_BEAT}, v, n);
  }
  drift_density(&best, v, n, each);
  return most;
}

/* Returns the largest number of pairs that a hypothesis has. */
static uint32_t longest(const struct hypotheses *h) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < h->n; i++) most = h->v[i].n > most ? h->v[i].n : most;
  return most;
}

/* Finds the best pairings of the collectives of a clock with later collectives of the same clock. They show how a wrong pairing
 * behaves. */
static uint32_t closest(struct hypotheses *h, struct hypothesis **out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < h->n; i++) {
    struct hypothesis *y = &h->v[i];
    if (y->n < ALIGN_FEWEST) continue;
    double ends = fit_some(h, y, false);
    count_missing(h, y);
    y->log_weight = (ends + missing_of(y)) / y->n;
    uint32_t at = n < SELVES ? n++ : SELVES;
    while (at > 0 && out[at - 1]->log_weight < y->log_weight) {
      if (at < SELVES) out[at] = out[at - 1];
      at--;
    }
    if (at < SELVES) out[at] = y;
  }
  return n;
}

static bool learn_rhythm(const struct question *q, struct arena *arena, struct rhythm *out) {
  const struct view *v = q->view;
  struct view view = {.arena = arena, .a = v->b, .b = v->b, .n_a = v->n_b, .n_b = v->n_b, .a_head = v->b_head, .b_head = v->b_head,
                      .n_labels = v->n_labels};
  struct question own = *q;
  struct hypotheses h = {.q = &own, .self = true};
  struct hypothesis *best[SELVES];
  uint32_t n = 0;
  own.view = &view;
  own.base = 0;
  *out = (struct rhythm){.repeats = false};
  struct beat *beats = arena_alloc(arena, SELVES * ((size_t)view.n_b + 1) * sizeof *beats);
  if (!beats || !hypotheses_find(&h, arena)) return false;
  uint32_t selves = closest(&h, best);
  for (uint32_t i = 0; i < selves; i++) {
    uint32_t stride = best[i]->n / MOST_POINTS + 1, points = hypotheses_points(&h, best[i], stride, h.points);
    for (uint32_t k = 1; k < points; k++)
      beats[n++] = (struct beat){octave_of(h.points[k].x - h.points[k - 1].x), fabs(h.points[k].y - h.points[k - 1].y), 0};
  }
  out->irregular = v->n_b >= ALIGN_ENOUGH_FOR_RUNS && v->n_b >= 3 * v->n_labels && 4 * longest(&h) < v->n_b;
  out->repeats = selves > 0 || out->irregular;
  learn(out, beats, n);
  return true;
}

static double variance_of(const double *a, const double *b, uint32_t n) {
  double sum = 0, square = 0;
  for (uint32_t i = 0; i < n; i++) {
    double d = a[i] - (b ? b[i] : 0);
    sum += d;
    square += d * d;
  }
  return n ? fmax(0, square - sum * sum / n) : 0;
}

/* Returns by how many nats noise explains the residuals of a hypothesis better than a drifting level does. */
static double steadiness_of(struct hypotheses *h, struct hypothesis *y, const struct rhythm *rhythm) {
  const struct rhythm none = {.repeats = true};
  const struct drift still = {&none, 0, 0, 0, y->fit.sigma};
  double sigma = y->fit.sigma, wide = fmax(10 * sigma, 30 * US);
  uint32_t stride = y->n / MOST_POINTS + 1, n = hypotheses_points(h, y, stride, h->points), kept = 0, last = 0;
  double *right = h->room, *wrong = h->room + n, scale = (double)y->n / n;
  for (uint32_t i = 0; i < n; i++) {
    double r = pieces_residual(&y->fit, h->points, i);
    if (fabs(r) > wide) continue; /* an outlier counts neither for nor against the hypothesis */
    h->beats[kept] = (struct beat){octave_of(kept ? h->points[i].x - h->points[last].x : 0), 0, r};
    kept++;
    last = i;
  }
  y->scatter = 0;
  if (kept < 2) return 0;
  double drifts = wrong_density(rhythm, h->beats, kept, sigma, wrong);
  double gain = drift_density(&still, h->beats, kept, right) - drifts;
  y->scatter = scale * (variance_of(right + 1, wrong + 1, kept - 1) + variance_of(right + 1, NULL, kept - 1));
  return scale * gain;
}

/* Computes the evidence from ends: by how many nats noise explains the residuals better than the most plausible model of a
 * wrong pairing does. */
static void weigh_ends(struct hypotheses *h, const struct rhythm *rhythm) {
  uint32_t most = longest(h);
  double wrong = rhythm->irregular ? -IRREGULAR : rhythm->repeats ? -INFINITY : -NO_PERIOD;
  for (uint32_t i = 0; i < h->n; i++) h->v[i].ends = fit_some(h, &h->v[i], true);
  for (uint32_t i = 0; rhythm->repeats && !rhythm->irregular && i < h->n; i++) {
    struct hypothesis *y = &h->v[i];
    if (4 * y->n < 3 * most) continue;
    double steady = steadiness_of(h, y, rhythm);
    wrong = fmax(wrong, (y->ends - steady) / y->n);
  }
  for (uint32_t i = 0; i < h->n; i++) h->v[i].ends -= wrong * h->v[i].n;
}

/* ---- weights ---- */

/* Returns a density that is uniform up to `span`; beyond, each power of ten has the same probability. */
double posterior_gap(double gap, double span) { return gap <= span ? 1 / span : 0.5 / (log(YEAR_US / 1000) * gap); }

/* Distance between two recordings by the wall clock. */
struct distance {
  double apart;     /* probability that the recordings do not overlap */
  double span, gap; /* us: mean duration of a recording, time between the recordings */
};

static struct distance distance_of(const struct question *q, double most) {
  const struct view *v = q->view;
  double a0 = v->a[0]->end, a1 = v->a[v->n_a - 1]->end, b0 = v->b[0]->end, b1 = v->b[v->n_b - 1]->end;
  double meet = wall_below(q, q->base + b1 - a0, most) - wall_below(q, q->base + b0 - a1, most);
  double gap = fmax(0, fmax(b0 + q->base - a1, a0 - b1 - q->base)) / US;
  return (struct distance){fmax(0, 1 - meet), fmax(1000, (a1 - a0 + b1 - b0) / US / 2), q->no_wall ? 0 : gap};
}

/* Returns ln of the weight of the answer that no collective is shared. Then the host belongs to another job, or recorded other
 * steps of this job, if by wall clock the recordings do not overlap. Jobs that ran one after the other may have equal step
 * numbers. */
static double none_of(const struct hypotheses *h, const struct hypothesis *best, bool repeats, double most) {
  const double few = 5; /* nats */
  /* factor on the prior of another job if the program repeats itself and end times give no evidence: two jobs with the same period look
   * alike */
  const double unproven = best->fit.sigma > NOISE ? 100 : 5;
  const struct question *q = h->q;
  const struct distance d = distance_of(q, most);
  bool steps, numbers = numbers_shared(q->view, &steps);
  const bool complete = q->other_job <= COMPLETE, agree = complete && best->causality == 0 && numbers_agree(h, best);
  double unrelated = !numbers ? 1 : agree ? 0.02 : complete ? 0.05 : 0.05 + d.apart;
  double job = q->other_job * unrelated * (repeats && best->ends < few && !agree ? unproven : 1);
  double other_steps = d.apart * (agree ? 2e-6 : numbers ? complete ? 2e-5 : 1e-4 : steps ? 5e-3 * d.span / fmax(d.span, d.gap) : 1);
  double prior = log((job + other_steps) * (repeats ? 1 : 0.03) * posterior_gap(d.gap, d.span));
  double sigma = agree ? fmin(3, best->fit.sigma / US) : 3; /* us */
  return prior + 0.5 * log(2 * M_PI * sigma * sigma / best->n) + (agree ? TAU * numbers_excuse(best) : 0);
}

static bool lacks(const struct hypothesis *y) { return y->missed > 0.015 * 2 * y->n; }

static double density(const struct hypothesis *y) { return TAU * (y->ends + y->causality + y->missing); }

/* Returns the evidence from ends and causality, as if the hypothesis had at most `n` pairs. */
static double quality_of(const struct hypothesis *y, uint32_t n) { return TAU * (y->ends * fmin(1, (double)n / y->n) + y->causality); }

/* If a hypothesis and `best` both lack some pairs, limits how much their numbers of pairs affect the comparison, because the difference
 * then means little. */
static void cap_counts(struct hypotheses *h, const struct hypothesis *best) {
  const double most = 3.4;
  for (uint32_t i = 0; i < h->n; i++) {
    struct hypothesis *y = &h->v[i];
    if (y == best || !lacks(y) || !lacks(best) || 2 * y->n < best->n) continue;
    uint32_t n = y->n < best->n ? y->n : best->n;
    double quality = quality_of(best, n) - quality_of(y, n), counts = density(best) - density(y) - quality;
    double lifted = y->log_weight + counts - fmax(-most, fmin(most, counts));
    y->log_weight = fmin(lifted, fmax(y->log_weight, best->log_weight)); /* must not replace the best hypothesis */
  }
}

/* Scales down evidence that a few pairs dominate, because a few others could have reversed it: if the model is right, evidence
 * of D nats has a variance of 2 D nats^2 over its pairs, but here the variance is larger. */
static void doubt_luck(struct hypotheses *h, const struct hypothesis *best) {
  for (uint32_t i = 0; i < h->n; i++) {
    struct hypothesis *y = &h->v[i];
    double gain = TAU * (best->ends - y->ends), scatter = TAU * TAU * (best->scatter + y->scatter);
    if (y == best || gain <= 0 || scatter <= LUCK * gain) continue;
    y->log_weight = fmin(y->log_weight + gain * (1 - LUCK * gain / scatter), best->log_weight);
  }
}

static struct hypothesis *heaviest(struct hypotheses *h) {
  struct hypothesis *best = &h->v[0];
  for (uint32_t i = 1; i < h->n; i++)
    if (h->v[i].log_weight > best->log_weight) best = &h->v[i];
  return best;
}

static void weigh(struct hypotheses *h, struct hypothesis *y) {
  count_missing(h, y);
  y->missing = missing_of(y);
  y->causality = causality_of(h, y);
  y->keys = keys_of(h, y);
  y->wall = log(prior(h->q, y->offset));
  double given = 0.5 * log(2 * M_PI * y->fit.sigma * y->fit.sigma / US / US / y->n);
  double pieces = (y->fit.n - 1) * PIECE * TAU;
  y->log_weight = density(y) + y->keys + y->wall + given - pieces;
}

/* Favours a shift under which both recordings start and end with the same collective: only one of many shifts has this
 * property. */
static void favour_whole(struct hypotheses *h) {
  for (uint32_t i = 0; i < h->n; i++) {
    struct hypothesis *y = &h->v[i];
    if (!lacks(y)) y->log_weight += log(y->outside == 0 ? 0.8 : 0.2 / fmax(2, h->aliases));
  }
}

/* True if the offsets of two hypotheses are so close that both are the same answer. */
static bool is_alike(const struct hypothesis *a, const struct hypothesis *b) {
  return fabs(a->offset - b->offset) <= fmax(12 * US, 3 * fmin(a->fit.sigma, 50 * US));
}

/* Converts weights to probabilities, considering only hypotheses within `limit` of the wall clock. */
static void normalise(struct hypotheses *h, double none, double limit, struct posterior *out) {
  double most = none, sum;
  for (uint32_t i = 0; i < h->n; i++)
    if (fabs(h->v[i].offset) <= limit) most = fmax(most, h->v[i].log_weight);
  sum = exp(none - most);
  for (uint32_t i = 0; i < h->n; i++) {
    struct hypothesis *y = &h->v[i];
    y->weight = fabs(y->offset) <= limit ? exp(y->log_weight - most) : 0;
    sum += y->weight;
  }
  for (uint32_t i = 0; i < h->n; i++) h->v[i].weight /= sum;
  out->none = exp(none - most) / sum;
}

static double weight_at(const struct hypotheses *h, const struct hypothesis *best) {
  double weight = 0;
  for (uint32_t i = 0; i < h->n; i++)
    if (is_alike(best, &h->v[i])) weight += h->v[i].weight;
  return weight;
}

/* Computes the weights. If `best` can be trusted only on the condition that the wall clocks are as good as nearly all wall
 * clocks are, uses this condition and sets out->unless to its limit. */
static void normalise_both(struct hypotheses *h, const struct hypothesis *best, bool repeats, struct posterior *out) {
  double limit = 5 * h->q->clock_error;
  normalise(h, none_of(h, best, repeats, INFINITY), INFINITY, out);
  double weight = weight_at(h, best);
  if (weight >= ALIGN_TRUSTED || weight < LIKELY || fabs(best->offset) > limit || h->q->no_wall) return;
  normalise(h, none_of(h, best, repeats, limit), limit, out);
  if (weight_at(h, best) >= ALIGN_TRUSTED) out->unless = limit;
  else normalise(h, none_of(h, best, repeats, INFINITY), INFINITY, out);
}

/* ---- alternatives ---- */

static void add_other(struct posterior *p, double offset, double weight) {
  uint32_t i = 0;
  while (i < p->n_others && fabs(p->others[i].offset - offset) > 12 * US) i++;
  if (i < p->n_others) {
    p->others[i].weight += weight;
    return;
  }
  if (p->n_others < ALTERNATIVES) p->n_others++;
  else if (weight <= p->others[ALTERNATIVES - 1].weight) return;
  for (i = p->n_others - 1; i > 0 && p->others[i - 1].weight < weight; i--) p->others[i] = p->others[i - 1];
  p->others[i] = (struct alternative){offset, weight};
}

/* Adds up the weights of equal answers. Also finds the nearest answer that the wall clock excludes. */
static void sum_up(struct hypotheses *h, struct hypothesis *best, struct posterior *out) {
  double own = best->log_weight - best->wall, weight = 0;
  for (uint32_t i = 0; i < h->n; i++) {
    const struct hypothesis *y = &h->v[i];
    if (is_alike(best, y)) {
      weight += y->weight;
      continue;
    }
    if (y->weight > 1e-4) add_other(out, y->offset, y->weight);
    if (y->log_weight - y->wall < own + log(1 - ALIGN_TRUSTED)) continue;
    if (fabs(y->offset) > fabs(best->offset) && (out->unless == 0 || fabs(y->offset) < out->unless)) out->unless = fabs(y->offset);
  }
  best->weight = weight;
}

/* ---- entry points ---- */

bool posterior_find(const struct question *q, struct arena *arena, struct posterior *out) {
  struct hypotheses h = {.q = q};
  struct rhythm rhythm;
  *out = (struct posterior){.none = 1};
  if (!hypotheses_find(&h, arena)) return false;
  if (h.n == 0) return true;
  if (!(h.beats = arena_alloc(arena, (2 * MOST_POINTS + 2) * sizeof *h.beats))) return false;
  if (!learn_rhythm(q, arena, &rhythm)) return false;
  weigh_ends(&h, &rhythm);
  for (uint32_t i = 0; i < h.n; i++) weigh(&h, &h.v[i]);
  struct hypothesis *best = heaviest(&h);
  bool noise = best->fit.sigma <= NOISE && 2 * best->n >= longest(&h);
  if (noise && best->ends < 0) { /* noisy ends do not prove that two inputs are unrelated */
    double least = -best->ends / best->n;
    for (uint32_t i = 0; i < h.n; i++) {
      h.v[i].log_weight += TAU * h.v[i].n * least;
      h.v[i].ends += h.v[i].n * least;
    }
    best = heaviest(&h);
  }
  favour_whole(&h);
  best = heaviest(&h);
  cap_counts(&h, best);
  best = heaviest(&h);
  doubt_luck(&h, best);
  best = numbers_prefer(&h, best);
  normalise_both(&h, best, rhythm.repeats, out);
  sum_up(&h, best, out);
  numbers_compare(&h, best, out);
  out->any = true;
  out->best = *best;
  return answer_fit(&h, arena, out);
}
