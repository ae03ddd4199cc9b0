/* posterior.c - weighs the hypotheses of where a clock stands (posterior.h).  Natural logarithms; densities are per us.
 *
 * Ends.  What a line, or as few lines as jumps need, leaves of the differences of ends is noise of Student's t, its scale anything
 * from 1 us to 1.5 ms, 3 us the likeliest; 2% are anything.  Each pair counts by how much denser it is than a wrong pair would be, and
 * a wrong one is not drawn from a hat: programs repeat themselves.  Where other steps are paired, the differences of ends drift: every
 * interval that took longer or shorter moves all that follow.  How far they drift from one collective to the next is learnt from the
 * clock laid beside *itself*, shifted (`rhythm`), by the time between the two, so that long pauses and short layers each count as they
 * vary; and a level that drifts so, with noise about it, is what the same residuals are held against (Kalman's filter).  A program
 * without variation gives no evidence, however many collectives it has: noise about a level is what it makes of wrong pairs as well.
 * All this counts 0.85 of what it would if the model were right (`TAU`).
 *
 * Causality.  Nobody leaves before all came: each pair bounds the offset, and counts against it as far as it is beyond noise.
 *
 * Missing.  What would have met and has no partner counts against a hypothesis, by a beta-binomial: whoever lost one lost several.
 * Where even the best lacks some, how many are matched may say no more than a factor of 30: kernels are not lost independently.
 *
 * Wall clock.  80% are within `clock_error` (1 ms, a normal distribution), 15% within five times that, and 5% of any size up to a
 * year, each power of ten as likely as the next: a clock without NTP has no scale of its own.
 *
 * Keys.  Equal sequence numbers agree, else one in 10,000, and as often a collective is not the one of its number; numbers of steps
 * agree, else one in 200, and each further step half of that.
 *
 * Nothing in common is an answer too: another job (one in a thousand inputs; one in ten thousand where the inputs are all ranks of one
 * job, each once; one in a hundred where two claim one rank; five times that where the ends say nothing, a hundred times where they
 * scatter as well), or other steps, where the wall clock says that they recorded at different times.  Recordings far apart in time are
 * as rare as clocks that are.
 *
 * An answer is trusted that has 1,000 times the weight of all others together, or would have if the wall clocks were within five times
 * `clock_error`, if that is nine times as probable as not: then it is said (`unless`).  In the draws of tests/property/clocks such
 * answers are wrong less often than that says, for the numbers above are on the careful side. */
#include "posterior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "doubt.h"

#define TAU 0.85
#define ANYTHING (0.02 / 20e3) /* per us: 2% are off by anything up to 20 ms */
#define LIKELY 0.9
#define YEAR_US 3.15e13
#define NO_PERIOD 3      /* nats a pair, for what was not long enough to repeat itself: wrong ones are within some 10 us */
#define LUCK 4           /* twice what evidence that is as its model says varies by, in itself */
#define PIECE 18         /* nats: of another piece, as pieces.c reckons */
#define NOISE (8 * US)      /* ends scatter more only for other reasons */
#define LEAST_BEAT (3 * US) /* the noise of two ends */
#define IRREGULAR 8      /* nats: as NO_PERIOD, of what was long enough and has no period */
enum { MOST_POINTS = 256, SIGMAS = 16 };

/* ---- the wall clock ---- */

static double normal(double x, double sd) { return exp(-x * x / (2 * sd * sd)) / (2.5066282746 * sd); }

double posterior_wall(const struct question *q, double offset) {
  double us = fabs(offset) / US, usual = q->clock_error / US, any = 1 / (2 * log(YEAR_US / usual) * fmax(us, usual));
  return q->no_wall ? any : 0.80 * normal(us, usual) + 0.15 * normal(us, 5 * usual) + 0.05 * any;
}

/* With what speaks for one clock. */
static double prior(const struct question *q, double offset) {
  const double near = 12 * US;
  double apart = posterior_wall(q, offset);
  return (1 - q->same) * apart + (fabs(offset) <= near ? q->same * US / (2 * near) : 0);
}

/* How probable an offset below x is, about.  Of clocks that are within `most` of each other, INFINITY = whatever they are. */
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
  double scale; /* how many each stands for */
};

/* ln of the density of all, the scale of noise summed over; each pair weighs `tau`. */
static double density_of(const struct residuals *v, double tau) {
  double terms[SIGMAS], most = -INFINITY, sum = 0, sigma = US;
  for (int k = 0; k < SIGMAS; k++, sigma *= 1.63) {
    double about = log(sigma / (3 * US)) / 1.2, d = 0, floor = log(ANYTHING);
    for (uint32_t i = 0; i < v->n; i++) {
      double in = noise_density(v->r[i], sigma) + log(US) + log(0.98);
      d += in > floor + 6 ? in : log(exp(in) + exp(floor));
    }
    terms[k] = tau * v->scale * d - about * about / 2;
    most = fmax(most, terms[k]);
  }
  for (int k = 0; k < SIGMAS; k++) sum += exp(terms[k] - most);
  return (most + log(sum / SIGMAS)) / tau;
}

/* Fits the hypothesis on some of its pairs, and says how dense they are. */
static double fit_some(struct hypotheses *h, struct hypothesis *y, bool split) {
  uint32_t stride = y->n / MOST_POINTS + 1, n = hypothesis_points(h, y, stride, h->points);
  pieces_line(&y->fit, h->points, n, h->room);
  if (split) pieces_split(&y->fit, h->points, n, h->room);
  for (uint32_t i = 0; i < n; i++) h->room[i] = pieces_residual(&y->fit, h->points, i);
  y->offset = h->q->base + piece_at(&y->fit.v[y->fit.n / 2], h->points[n / 2].x);
  struct residuals r = {n, h->room, (double)y->n / n};
  return density_of(&r, TAU);
}

/* ---- what is missing ---- */

/* Counts sights without a partner, within the time that both recorded and outside of it. */
static void count_missing(const struct hypotheses *h, struct hypothesis *y) {
  const struct view *v = h->q->view;
  double a0 = v->a[0]->end, a1 = v->a[v->n_a - 1]->end, b0 = v->b[0]->end, b1 = v->b[v->n_b - 1]->end;
  double low = fmax(a0, b0 - pieces_at(&y->fit, b0)) - 50 * US, high = fmin(a1, b1 - pieces_at(&y->fit, b1)) + 50 * US;
  uint32_t a_in = 0, b_in = 0;
  for (uint32_t i = 0; i < v->n_a; i++) a_in += v->a[i]->end >= low && v->a[i]->end <= high;
  for (uint32_t i = 0; i < v->n_b; i++) {
    double t = v->b[i]->end - pieces_at(&y->fit, v->b[i]->end);
    b_in += t >= low && t <= high;
  }
  uint32_t matched = y->n < a_in ? y->n : a_in;
  y->missed = a_in - matched + (b_in > matched ? b_in - matched : 0);
  y->outside = v->n_a - a_in + v->n_b - b_in;
  if (y->outside >= v->n_labels) return;
  y->missed += y->outside; /* less than a period of the program: it was lost, not recorded at another time */
  y->outside = 0;
}

static double log_beta(double a, double b) { return lgamma(a) + lgamma(b) - lgamma(a + b); }
static double missing_of(const struct hypothesis *y) { return log_beta(y->missed + 0.5, 2.0 * y->n + 15) - log_beta(0.5, 15); }

/* ---- causality ---- */

static double causality_of(const struct hypotheses *h, const struct hypothesis *y) {
  const struct view *v = h->q->view;
  double sum = 0, slack = 2 * y->fit.sigma + ALIGN_SLACK;
  for (uint32_t i = 0; i < v->n_b; i++) {
    if (y->partner[i] == ALIGN_NONE) continue;
    double off = pair_beyond(v->a[y->partner[i]], v->b[i], pieces_at(&y->fit, v->b[i]->end)) - slack;
    if (off > 0) sum -= fmin(8, off / (3 * US));
  }
  return sum;
}

/* ---- keys ---- */

static int by_value(const void *pa, const void *pb) {
  double a = *(const double *)pa, b = *(const double *)pb;
  return (a > b) - (a < b);
}

/* Where numbers agree but for a few, these are not lost, but left out or paired with others: a vote does so where the clock was set. */
static double torn_apart(const struct hypotheses *h, const struct hypothesis *y) {
  uint32_t torn = 0;
  for (uint32_t i = 0; i < h->q->view->n_b; i++) torn += h->numbered[i] != ALIGN_NONE && y->partner[i] != h->numbered[i];
  return fmin(torn, 3) * log(1e-4);
}

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
  if (2 * numbered > y->n) return equal > 0.95 * numbered ? torn_apart(h, y) : log(1e-4);
  if (2 * stepped <= y->n || agree > 0.9 * stepped) return 0;
  if (2 * agree > stepped) return log(0.05);
  qsort(h->room, stepped, sizeof *h->room, by_value);
  return log(5e-3) - (fmin(h->room[stepped / 2], 40) - 1) * log(2);
}

/* ---- how regular is the program? ---- */

enum { OCTAVES = 48, SELVES = 4, FEWEST_STEPS = 3 };

/* How far, from one collective to the next, the differences of ends drift away where wrong ones are paired: by the time between the two
 * (octaves of us).  Learnt from the clock laid beside itself. */
struct rhythm {
  double scale[OCTAVES]; /* ns; 0 = not seen */
  bool repeats;          /* the program was long enough to repeat itself */
  bool irregular;        /* it was, and did not: no pairing but the right one has many pairs */
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

/* The lower of what the middle and the quarter say: a rhythm that is taken for more regular than it is claims less. */
static double scale_of_beats(const struct beat *v, uint32_t n) {
  return fmax(fmin(v[n / 2].step / 0.718, v[n / 4].step / 0.334), LEAST_BEAT);
}

/* An octave of which too little was seen is as the one below it, which is not longer. */
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

/* A level that drifts: `times` as far as the rhythm has it, beyond what noise makes of the steps, and by at least `least` where the
 * time between two is of octave `from` or more. */
struct drift {
  const struct rhythm *rhythm;
  double times, least; /* ns */
  uint32_t from;
  double sigma;        /* ns: of the noise about it */
};

static double drift_over(const struct drift *d, uint32_t octave) {
  double scale = d->rhythm->scale[octave], noise = fmax(LEAST_BEAT * LEAST_BEAT, 3 * d->sigma * d->sigma);
  return fmax(d->times * d->times * fmax(0, scale * scale - noise), octave >= d->from ? d->least * d->least : 0);
}

/* ln of the density of residuals as noise about such a level (Kalman's filter); of each by itself in `each`.  The first of them says
 * where the level is. */
static double drift_density(const struct drift *model, const struct beat *v, uint32_t n, double *each) {
  double floor = log(ANYTHING), sum = 0, level = v[0].residual, noise = model->sigma * model->sigma, variance = noise;
  for (uint32_t i = 1; i < n; i++) {
    variance += drift_over(model, v[i].octave);
    double all = variance + noise, off = v[i].residual - level;
    double d = fmax(floor, noise_density(off, sqrt(all)) + log(US));
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

/* What a wrong pairing makes of residuals, ln of their density: as the rhythm has them, or wider, whatever explains them best, so that
 * steps larger than were learnt are no evidence. */
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
  for (int k = 0; sigma > LEAST_BEAT && k < LEAST; k++, least *= 2) { /* more than noise, which the rhythm may not have shown */
    try_drift(&best, &most, (struct drift){r, 1, least, 0, LEAST_BEAT}, v, n);
    try_drift(&best, &most, (struct drift){r, 1, least, longest, LEAST_BEAT}, v, n);
  }
  drift_density(&best, v, n, each);
  return most;
}

/* The pairings of the clock with itself that are closest: what it has to be compared with. */
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
  struct view view = {.arena = arena, .a = q->view->b, .b = q->view->b, .n_a = q->view->n_b, .n_b = q->view->n_b};
  struct question own = *q;
  struct hypotheses h = {.q = &own, .self = true};
  struct hypothesis *best[SELVES];
  uint32_t n = 0;
  view.n_labels = q->view->n_labels;
  own.view = &view;
  own.base = 0;
  *out = (struct rhythm){.repeats = false};
  struct beat *beats = arena_alloc(arena, SELVES * ((size_t)view.n_b + 1) * sizeof *beats);
  if (!beats || !hypotheses_find(&h, arena)) return false;
  uint32_t selves = closest(&h, best), most = 0;
  for (uint32_t i = 0; i < selves; i++) {
    uint32_t stride = best[i]->n / MOST_POINTS + 1, points = hypothesis_points(&h, best[i], stride, h.points);
    for (uint32_t k = 1; k < points; k++)
      beats[n++] = (struct beat){octave_of(h.points[k].x - h.points[k - 1].x), fabs(h.points[k].y - h.points[k - 1].y), 0};
  }
  for (uint32_t i = 0; i < h.n; i++) most = h.v[i].n > most ? h.v[i].n : most;
  out->irregular = view.n_b >= ALIGN_ENOUGH_FOR_RUNS && view.n_b >= 3 * view.n_labels && 4 * most < view.n_b;
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

/* How much denser the residuals of a hypothesis are as noise than about a level that drifts, nats in all. */
static double steadiness_of(struct hypotheses *h, struct hypothesis *y, const struct rhythm *rhythm) {
  const struct rhythm none = {.repeats = true};
  const struct drift still = {&none, 0, 0, 0, y->fit.sigma};
  double sigma = y->fit.sigma, wide = fmax(10 * sigma, 30 * US);
  uint32_t stride = y->n / MOST_POINTS + 1, n = hypothesis_points(h, y, stride, h->points), kept = 0, last = 0;
  double *right = h->room, *wrong = h->room + n, scale = (double)y->n / n;
  for (uint32_t i = 0; i < n; i++) {
    double r = pieces_residual(&y->fit, h->points, i);
    if (fabs(r) > wide) continue; /* one that is far off speaks neither for nor against */
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

/* What the ends say of each: how much denser its residuals are, as noise, than those of a wrong pairing, which is as dense as any of
 * these shows. */
static uint32_t longest(const struct hypotheses *h) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < h->n; i++) most = h->v[i].n > most ? h->v[i].n : most;
  return most;
}

static void weigh_ends(struct hypotheses *h, const struct rhythm *rhythm) {
  uint32_t most = longest(h);
  double wrong = -INFINITY;
  for (uint32_t i = 0; i < h->n; i++) h->v[i].ends = fit_some(h, &h->v[i], true);
  if (!rhythm->repeats || rhythm->irregular) wrong = rhythm->irregular ? -IRREGULAR : -NO_PERIOD;
  for (uint32_t i = 0; rhythm->repeats && !rhythm->irregular && i < h->n; i++) {
    struct hypothesis *y = &h->v[i];
    if (4 * y->n < 3 * most) continue;
    double steady = steadiness_of(h, y, rhythm);
    wrong = fmax(wrong, (y->ends - steady) / y->n);
  }
  for (uint32_t i = 0; i < h->n; i++) h->v[i].ends -= wrong * h->v[i].n;
}

/* ---- weights ---- */

static bool shares_numbers(const struct view *v, bool *steps) {
  bool numbers = false;
  struct map seen;
  map_init(&seen, v->arena->mem);
  *steps = false;
  for (uint32_t i = 0; i < v->n_a; i++) {
    if (v->a[i]->exact) map_put(&seen, align_mix(v->a[i]->exact, 1), 0);
    if (v->a[i]->stepped && !v->a[i]->program) map_put(&seen, align_mix((uint64_t)v->a[i]->step, 2), 0);
  }
  for (uint32_t i = 0; i < v->n_b; i++) {
    numbers = numbers || (v->b[i]->exact && map_get(&seen, align_mix(v->b[i]->exact, 1)));
    *steps = *steps || (v->b[i]->stepped && map_get(&seen, align_mix((uint64_t)v->b[i]->step, 2)));
  }
  map_free(&seen);
  return numbers;
}

/* Within `span` any, beyond it any power of ten. */
double posterior_gap(double gap, double span) { return gap <= span ? 1 / span : 0.5 / (log(YEAR_US / 1000) * gap); }

/* ln of the weight of that nothing of both is the same: another job, or other steps of this one, if the wall clock says that they
 * recorded at different times.  That two jobs count alike is no wonder where they ran one after the other. */
static double none_of(const struct hypotheses *h, const struct hypothesis *best, bool repeats, double most) {
  const double few = 5; /* nats */
  /* of what repeats itself and whose ends say nothing: jobs in step are alike, and more so where ends scatter as no noise does */
  const double unproven = best->fit.sigma > NOISE ? 100 : 5;
  const struct question *q = h->q;
  const struct view *v = q->view;
  bool steps, numbers = shares_numbers(v, &steps);
  double a0 = v->a[0]->end, a1 = v->a[v->n_a - 1]->end, b0 = v->b[0]->end, b1 = v->b[v->n_b - 1]->end;
  double apart = fmax(0, 1 - (wall_below(q, q->base + b1 - a0, most) - wall_below(q, q->base + b0 - a1, most)));
  double span = fmax(1000, (a1 - a0 + b1 - b0) / US / 2);
  double gap = q->no_wall ? 0 : fmax(0, fmax(b0 + q->base - a1, a0 - b1 - q->base)) / US;
  double job = q->other_job * (numbers ? 0.05 + apart : 1) * (repeats && best->ends < few ? unproven : 1);
  double other_steps = apart * (numbers ? 1e-4 : steps ? 5e-3 * span / fmax(span, gap) : 1);
  return log((job + other_steps) * (repeats ? 1 : 0.03) * posterior_gap(gap, span)) + 0.5 * log(2 * M_PI * 9 / best->n);
}

static bool lacks(const struct hypothesis *y) { return y->missed > 0.015 * 2 * y->n; }

static double density(const struct hypothesis *y) { return TAU * (y->ends + y->causality + y->missing); }

/* ln W but for how many were matched beyond those of `n` pairs. */
static double quality_of(const struct hypothesis *y, uint32_t n) { return TAU * (y->ends * fmin(1, (double)n / y->n) + y->causality); }

/* Of two that both lack some, how many they match says little. */
static void cap_counts(struct hypotheses *h, const struct hypothesis *best) {
  const double most = 3.4;
  for (uint32_t i = 0; i < h->n; i++) {
    struct hypothesis *y = &h->v[i];
    if (y == best || !lacks(y) || !lacks(best) || 2 * y->n < best->n) continue;
    uint32_t n = y->n < best->n ? y->n : best->n;
    double quality = quality_of(best, n) - quality_of(y, n), counts = density(best) - density(y) - quality;
    double lifted = y->log_weight + counts - fmax(-most, fmin(most, counts));
    y->log_weight = fmin(lifted, fmax(y->log_weight, best->log_weight)); /* to doubt the best one, not to be it */
  }
}

/* Evidence of D nats that is as its model says varies by 2 D nats^2, over the pairs that make it.  Where it varies by much more, a few
 * pairs made it and others might have made the opposite: it counts as much less. */
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

/* Both recorded from the same collective to the same one: of many shifts that is one. */
static void favour_whole(struct hypotheses *h) {
  for (uint32_t i = 0; i < h->n; i++) {
    struct hypothesis *y = &h->v[i];
    if (!lacks(y)) y->log_weight += log(y->outside == 0 ? 0.8 : 0.2 / fmax(2, h->aliases));
  }
}

/* Two hypotheses of about one offset are one answer. */
static bool is_alike(const struct hypothesis *a, const struct hypothesis *b) {
  return fabs(a->offset - b->offset) <= fmax(12 * US, 3 * fmin(a->fit.sigma, 50 * US));
}

/* Of those within `limit` of the wall clock. */
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

/* What is most probable, and certain if the wall clocks are as good as nearly all are, is told with that condition. */
static void normalise_both(struct hypotheses *h, const struct hypothesis *best, bool repeats, struct posterior *out) {
  double limit = 5 * h->q->clock_error;
  normalise(h, none_of(h, best, repeats, INFINITY), INFINITY, out);
  double weight = weight_at(h, best);
  if (weight >= ALIGN_TRUSTED || weight < LIKELY || fabs(best->offset) > limit || h->q->no_wall) return;
  normalise(h, none_of(h, best, repeats, limit), limit, out);
  if (weight_at(h, best) >= ALIGN_TRUSTED) out->unless = limit;
  else normalise(h, none_of(h, best, repeats, INFINITY), INFINITY, out);
}

/* ---- what is left besides ---- */

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

/* Sums up what is alike; and without the wall clock, what would still be possible?  The nearest to the wall clock of these is what the
 * answer rests on. */
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

/* ---- all ---- */

static bool finish(const struct hypotheses *h, struct arena *arena, struct posterior *out) {
  struct hypothesis *y = &out->best;
  double *room = arena_alloc(arena, 2 * ((size_t)y->n + 1) * sizeof *room);
  out->points = arena_alloc(arena, ((size_t)y->n + 1) * sizeof *out->points);
  if (!room || !out->points) return false;
  uint32_t n = out->n_points = hypothesis_points(h, y, 1, out->points);
  pieces_line(&y->fit, out->points, n, room);
  pieces_split(&y->fit, out->points, n, room);
  y->offset = h->q->base + piece_at(&y->fit.v[y->fit.n / 2], out->points[n / 2].x);
  for (uint32_t i = 0; i < n; i++) room[i] = pieces_residual(&y->fit, out->points, i);
  out->shape = doubt_shape(room, n, y->fit.sigma);
  out->doubt = doubt_of(h->q, out, room);
  while (out->first < n && fabs(room[out->first]) > 5 * y->fit.sigma) out->first++;
  for (out->last = n - 1; out->last > out->first && fabs(room[out->last]) > 5 * y->fit.sigma;) out->last--;
  for (uint32_t i = 0; i < n; i++) out->outliers += fabs(room[i]) > 6 * y->fit.sigma;
  for (uint32_t i = 0; i < n; i++) room[i] = fabs(room[i]);
  out->mad = point_median(room, n);
  out->p95 = point_nth(room, n, (uint32_t)((n - 1) * 0.95 + 0.5));
  return true;
}

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
  if (noise && best->ends < 0) { /* which says nothing for there being no relation */
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
  normalise_both(&h, best, rhythm.repeats, out);
  sum_up(&h, best, out);
  out->any = true;
  out->best = *best;
  return finish(&h, arena, out);
}
