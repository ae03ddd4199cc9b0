/* lateness.c - compares the end times of each collective on ranks that share a clock (lateness.h).
 *
 * For this purpose, inputs with the same host name share a clock, even if an input became a separate host because its collectives
 * ended at different times: end times alone cannot distinguish a late input from a clock offset. A few hundred collectives of
 * each host are enough. */
#include "lateness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stretches.h"

#define MOST (1000 * US) /* larger differences have causes other than lateness */
#define USUAL (1.0 * US) /* scatter of ranks that is always present */
#define Z95 1.96
enum { SAMPLE = 256, MOST_DEVICES = 1 << 14, FEWEST = 3 };

struct lateness {
  double scatter;   /* ns: standard deviation of ranks that share a clock; 0 = not observed */
  double trend;     /* ns: increase from each rank to the next; 0 = none that exceeds its standard error */
  double *own;      /* by host: scatter of its own ranks in ns; 0 = not observed */
  double *place;    /* by host: mean of its rank numbers; NAN = unknown */
};

/* A rank, identified by input and device. */
struct seat {
  uint32_t host, origin, n;
  double sum, late, rank; /* late: ns relative to other ranks with the same clock; rank: NAN = unknown */
};

struct seats {
  struct seat *v;
  uint32_t *first; /* by input, plus a final entry: index of its first seat */
  uint32_t n;
};

static double lateness_rank_of(const struct align_problem *p, uint32_t input, uint32_t device) {
  if (!p->rank || p->rank[input] < 0) return NAN;
  return device ? NAN : (double)p->rank[input];
}

static bool find_seats(const struct align_problem *p, struct arena *arena, struct seats *out) {
  uint32_t *most = arena_zeros(arena, (size_t)p->n_inputs + 2, sizeof *most), n = 0;
  if (!most) return false;
  for (uint32_t i = 0; i < p->anchors->n; i++) {
    const struct align_anchor *a = &p->anchors->v[i];
    if (a->device < MOST_DEVICES && a->device >= most[a->input]) most[a->input] = a->device + 1;
  }
  out->first = most;
  for (uint32_t i = 0; i <= p->n_inputs; i++) {
    uint32_t devices = most[i];
    most[i] = n;
    n += i < p->n_inputs ? devices : 0;
  }
  out->n = n;
  if (!(out->v = arena_alloc(arena, ((size_t)n + 1) * sizeof *out->v))) return false;
  for (uint32_t i = 0; i < p->n_inputs; i++)
    for (uint32_t k = out->first[i]; k < out->first[i + 1]; k++)
      out->v[k] = (struct seat){.host = p->host_of[i], .origin = p->origin ? p->origin[i] : p->host_of[i],
                                .rank = lateness_rank_of(p, i, k - out->first[i])};
  return true;
}

/* Adds up how late each rank of a host leaves, relative to the median of the host's ranks. */
static void add_host(const struct lateness_view *v, uint32_t host, struct seats *seats) {
  if (!v->work->p->anchors->n) return;
  const struct align_anchor *own = v->work->p->anchors->v + v->first_anchor[host];
  uint32_t from = v->first_sight[host], to = v->first_sight[host + 1], stride = (to - from) / SAMPLE + 1;
  for (uint32_t i = from; i < to; i += stride) {
    const struct sight *x = &v->sights[i];
    if (!x->equal || x->coarse) continue;
    for (uint32_t k = 0; k < x->n_anchors; k++) {
      const struct align_anchor *a = &own[x->anchor + k];
      if (a->device >= MOST_DEVICES) continue;
      struct seat *seat = &seats->v[seats->first[a->input] + a->device];
      seat->sum += fmax(-MOST, fmin(MOST, (double)(a->end - v->work->pivot[host]) - x->end));
      seat->n++;
    }
  }
}

/* Returns how far the clock of `host` is ahead of the clock of `main`, the host to which most inputs of the same name
 * belong. */
static double apart(const struct align_work *w, uint32_t host, uint32_t main) {
  double wall = (double)(w->pivot[host] - w->pivot[main]);
  return wall + curve_at(&w->curve[host], 0) - curve_at(&w->curve[main], wall);
}

/* ---- one clock by its name ---- */

/* The ranks with the same host name, in the order of their seats. */
struct family {
  const struct seat **v;
  uint32_t n;
};

static int by_origin(const void *pa, const void *pb) {
  const struct seat *a = *(const struct seat *const *)pa, *b = *(const struct seat *const *)pb;
  if (a->origin != b->origin) return a->origin < b->origin ? -1 : 1;
  return (a > b) - (a < b);
}

/* Returns the slope of lateness over rank numbers. *squares becomes its weight, the sum of squared distances from the mean
 * rank. */
static double slope_of(const struct family *f, double *squares) {
  double x = 0, y = 0, xy = 0;
  *squares = 0;
  for (uint32_t i = 0; i < f->n; i++) x += f->v[i]->rank / f->n, y += f->v[i]->late / f->n;
  for (uint32_t i = 0; i < f->n; i++) {
    double off = f->v[i]->rank - x;
    *squares += off * off;
    xy += off * (f->v[i]->late - y);
  }
  return *squares > 0 ? xy / *squares : NAN;
}

/* True if nearly all pairs of ranks follow the slope. A single late rank does not make a trend. */
static bool is_steady(const struct family *f, double slope) {
  enum { MOST_RANKS = 32 };
  uint32_t n = f->n < MOST_RANKS ? f->n : MOST_RANKS, all = 0, alike = 0;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = i + 1; k < n; k++) {
      double rise = (f->v[k]->late - f->v[i]->late) / (f->v[k]->rank - f->v[i]->rank) / slope;
      all++;
      alike += rise > 0.33 && rise < 3;
    }
  return 5 * alike >= 4 * all;
}

/* Returns the scatter of the ranks of a family, and appends their distances from the median to `room`. With two ranks, each
 * scatters by half of the distance between them. */
static double scatter_of(const struct family *f, double *room, uint32_t *n) {
  double middle = 0, bessel = sqrt((double)f->n / fmax(1, f->n - 1));
  double *own = room + *n;
  for (uint32_t i = 0; i < f->n; i++) own[i] = f->v[i]->late;
  middle = curve_median(own, f->n);
  for (uint32_t i = 0; i < f->n; i++) own[i] = fabs(f->v[i]->late - middle) * bessel;
  double scatter = 1.4826 * curve_median(own, f->n);
  *n += f->n;
  return scatter;
}

/* Values collected over all families. */
struct sums {
  double *room, *slopes, squares;
  uint32_t n, n_slopes;
};

static void take_family(const struct family *f, struct lateness *out, struct sums *sums) {
  double scatter, weight, slope;
  if (f->n < 2) return;
  scatter = scatter_of(f, sums->room, &sums->n);
  for (uint32_t i = 0; i < f->n; i++) out->own[f->v[i]->host] = fmax(out->own[f->v[i]->host], scatter);
  slope = slope_of(f, &weight);
  if (!isfinite(slope)) return;
  if (f->n > 2 && !is_steady(f, slope)) slope = 0;
  sums->slopes[sums->n_slopes++] = slope;
  sums->squares += weight;
}

/* ---- entry points ---- */

static void find_places(const struct seats *seats, const struct align_problem *p, struct lateness *out, uint32_t *count) {
  for (uint32_t i = 0; i < seats->n; i++) out->place[seats->v[i].host] += seats->v[i].rank, count[seats->v[i].host]++;
  for (uint32_t h = 0; h < p->n_hosts; h++) out->place[h] = count[h] ? out->place[h] / count[h] : NAN;
}

/* Computes how late each rank leaves, relative to the clock that most ranks with its host name have. Returns the number of
 * ranks in `list`. */
static uint32_t measure(const struct lateness_view *v, struct seats *seats, const uint32_t *count, uint32_t *main,
                        const struct seat **list) {
  const struct align_problem *p = v->work->p;
  uint32_t n = 0;
  for (uint32_t i = 0; i <= p->n_inputs; i++) main[i] = ALIGN_NONE;
  for (uint32_t i = 0; i < seats->n; i++) {
    uint32_t *of = &main[seats->v[i].origin];
    if (*of == ALIGN_NONE || count[seats->v[i].host] > count[*of]) *of = seats->v[i].host;
  }
  for (uint32_t i = 0; i < seats->n; i++) {
    struct seat *s = &seats->v[i];
    uint32_t of = main[s->origin];
    if (s->n < FEWEST) continue;
    s->late = s->sum / s->n;
    if (s->host != of && v->work->root[s->host] != v->work->root[of]) continue;
    if (s->host != of) s->late += apart(v->work, s->host, of);
    if (fabs(s->late) < MOST) list[n++] = s;
  }
  return n;
}

static double trend_of(double *slopes, uint32_t n, double squares, double scatter) {
  double slope = n ? curve_median(slopes, n) : 0, rest = 0;
  for (uint32_t i = 0; i < n; i++) slopes[i] = fabs(slopes[i] - slope);
  if (n > 2) rest = 1.4826 * curve_median(slopes, n) / sqrt(n);
  double error = fmax(rest, (n > 2 ? USUAL : fmin(scatter, 2 * USUAL)) / sqrt(fmax(squares, 1e-9)));
  return fabs(slope) > error ? slope : 0; /* one standard error is enough: even an uncertain trend widens the error */
}

/* Computes scatter and trend of the lateness of ranks, family by family. */
static void take_families(const struct seat **list, uint32_t n, struct lateness *out, struct sums *sums) {
  if (n) qsort(list, n, sizeof *list, by_origin);
  for (uint32_t i = 0, k; i < n; i = k) {
    for (k = i; k < n && list[k]->origin == list[i]->origin;) k++;
    take_family(&(struct family){list + i, k - i}, out, sums);
  }
  out->scatter = sums->n ? 1.4826 * curve_median(sums->room, sums->n) : 0;
  out->trend = trend_of(sums->slopes, sums->n_slopes, sums->squares, fmax(out->scatter, USUAL));
}

/* Measures the lateness of all ranks, after hosts have been placed. */
static bool lateness_find(const struct lateness_view *v, struct arena *arena, struct lateness *out) {
  const struct align_problem *p = v->work->p;
  const size_t hosts = (size_t)p->n_hosts + 1;
  struct seats seats;
  *out = (struct lateness){.own = arena_zeros(arena, hosts, sizeof *out->own), .place = arena_zeros(arena, hosts, sizeof *out->place)};
  if (!out->own || !out->place || !find_seats(p, arena, &seats)) return false;
  uint32_t *count = arena_zeros(arena, hosts, sizeof *count);
  uint32_t *main = arena_alloc(arena, ((size_t)p->n_inputs + 1) * sizeof *main);
  const struct seat **list = arena_alloc(arena, ((size_t)seats.n + 1) * sizeof *list);
  struct sums sums = {.room = arena_alloc(arena, 2 * ((size_t)seats.n + 1) * sizeof *sums.room)};
  if (!count || !main || !list || !sums.room) return false;
  sums.slopes = sums.room + seats.n + 1;
  find_places(&seats, p, out, count);
  for (uint32_t h = 0; h < p->n_hosts; h++) add_host(v, h, &seats);
  take_families(list, measure(v, &seats, count, main, list), out, &sums);
  return true;
}

/* Returns the scatter to assume for a host. If its own ranks scatter far more than the ranks of other hosts, the host itself may be
 * that late. */
static double scatter_on(const struct lateness *late, uint32_t host, double usual) {
  const double most = fmax(usual, late->scatter);
  return late->own[host] > 2.5 * most ? late->own[host] : most;
}

bool lateness_widen(const struct lateness_view *v, struct align_solution *s, double usual) {
  const struct align_work *w = v->work;
  struct arena arena = {.mem = w->p->mem};
  struct lateness late;
  const bool ok = lateness_find(v, &arena, &late);
  for (uint32_t h = 0; ok && h < w->p->n_hosts; h++) {
    struct align_host *o = &s->hosts[h];
    const uint32_t root = w->root[h];
    if (root == h || !o->n_stretches || o->by_messages) continue;
    double own = scatter_on(&late, h, usual), other = scatter_on(&late, root, usual), far = fabs(late.place[h] - late.place[root]);
    double more = (own * own - usual * usual) / v->ranks[h] + (other * other - usual * usual) / v->ranks[root];
    if (isfinite(far)) o->trend_ns = fabs(late.trend) * far;
    stretches_widen(o, hypot(Z95 * sqrt(more), o->trend_ns));
  }
  arena_free(&arena);
  return ok;
}
