/* cluster.c - simulated clusters: collectives as seen by every rank's clock, and the solver's result.
 *
 *     true times -> late arrivals, noise of ends -> each host's clock (offset, drift, slew) -> anchors -> align_solve -> error
 *
 * Each case runs with many seeds. The result of a run is the worst error of any trusted host at any time within the trace,
 * relative to the simulated clock. A host that is trusted but wrong is a failure regardless of the median. For comparison, the
 * table also contains simple methods in common use: equal trace starts, one barrier, the median of ends without drift. --table
 * prints the table (make bench). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/apply.h"
#include "align/collect/collect.h"

enum { HOSTS = 64, SAMPLES = 50 };

struct scene {
  const char *name;
  double seconds;
  unsigned hosts, gpus, collectives;
  double ppm, quad; /* drift of every host except the first: ppm, and us per s^2 */
  double tails;     /* share of collectives in which one rank ends late, by an exponential delay of 200 us */
  double straggler; /* us by which the last rank arrives after the others */
  double loose;     /* share of collectives whose end is not a barrier */
  double removed;   /* share of events that are missing, independently of each other */
  unsigned chain;   /* hosts share collectives only with their neighbours */
  bool bare;        /* no sequence numbers, only equal labels */
  bool lonely;      /* the last host shares no collective */
  unsigned program; /* collectives of an XLA program: each device numbers its runs itself and starts at a different run */
  bool numbered;    /* true if it also records the number of the run */
  double jitter;    /* us: deviation from the program's otherwise regular period */
  bool vain;        /* no two hosts recorded the same runs, so no host may be trusted */
  double most, wrong; /* us: limit of the median of the worst errors; limit for any trusted host */
  double least;     /* minimum share of hosts that must be trusted */
};

static const struct scene scenes[] = {
    {"0.3 s, 30 collectives, 20 ppm", 0.3, 2, 8, 30, 20, .most = 2, .wrong = 8, .least = 1},
    {"0.3 s, 6 collectives, tails", 0.3, 2, 8, 6, 20, .tails = 0.3, .most = 2, .wrong = 12, .least = 0.8},
    {"30 s, 600, 20 ppm", 30, 2, 8, 600, 20, .most = 0.5, .wrong = 1, .least = 1},
    {"30 s, 600, 20 ppm, tails", 30, 2, 8, 600, 20, .tails = 0.3, .most = 0.5, .wrong = 1, .least = 1},
    {"30 s, one GPU a host, tails", 30, 2, 1, 600, 20, .tails = 0.3, .most = 1, .wrong = 3, .least = 1},
    {"120 s, 1500, NTP slew, tails", 120, 2, 8, 1500, 20, .quad = 0.15, .tails = 0.3, .most = 4, .wrong = 10, .least = 1},
    {"8 hosts, a straggler of 20 ms", 10, 8, 4, 300, 20, .straggler = 20000, .most = 2, .wrong = 5, .least = 1},
    {"64 hosts, 30 s", 30, 64, 2, 300, 20, .tails = 0.1, .most = 2, .wrong = 5, .least = 1},
    {"8 hosts, half alltoallv", 10, 8, 4, 300, 20, .loose = 0.5, .most = 2, .wrong = 5, .least = 1},
    {"16 hosts, a pipeline chain", 30, 16, 2, 1500, 20, .chain = 1, .most = 4, .wrong = 10, .least = 1},
    {"4 hosts, one without collectives", 5, 4, 4, 100, 20, .lonely = true, .most = 2, .wrong = 6, .least = 0.75},
    {"4 hosts, 25% missing", 5, 4, 2, 100, 20, .removed = 0.25, .most = 3, .wrong = 10, .least = 1},
    {"4 hosts, 25% missing, no keys", 5, 4, 2, 100, 20, .removed = 0.25, .bare = true, .most = 3, .wrong = 10, .least = 0.9},
    {"4 hosts, XLA, numbered runs", 10, 4, 4, 600, 20, .program = 12, .numbered = true, .jitter = 100, .most = 2,
     .wrong = 5, .least = 0.95},
    {"4 hosts, XLA, 25% missing", 10, 4, 4, 600, 20, .program = 12, .jitter = 100, .removed = 0.25, .most = 2, .wrong = 5,
     .least = 0.95},
    {"4 hosts, XLA, regular to 5 us", 10, 4, 4, 600, 20, .program = 12, .jitter = 5, .most = 2, .wrong = 5, .least = 0.2},
    {"2 hosts, XLA, no run in common", 10, 2, 4, 600, 20, .program = 12, .jitter = 100, .vain = true, .most = 0,
     .wrong = 0, .least = 0.5},
    {"2 hosts, 8, 25% missing, no keys", 0.02, 2, 1, 8, 0, .removed = 0.25, .bare = true, .most = 6, .wrong = 15, .least = 0.2},
};

/* ---- random numbers ---- */

static uint64_t state;
static double uniform(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) * 0x1p-53;
}
static double exponential(double mean) { return -mean * log(1 - uniform()); }
static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* ---- the simulated job ---- */

struct cluster {
  const struct scene *scene;
  double offset[HOSTS], ppm[HOSTS];           /* us */
  double first_start[HOSTS], first_end[HOSTS]; /* by the host's clock */
  double *ends[2];                             /* collective ends on the first two hosts, for the simple methods */
  unsigned n_ends;
};

static double clock_of(const struct cluster *c, unsigned host, double t) {
  double s = t * 1e-6;
  return t + c->offset[host] + c->ppm[host] * s + (host ? c->scene->quad * s * s : 0);
}

static bool takes_part(const struct scene *s, unsigned host, unsigned collective) {
  if (s->lonely && host == s->hosts - 1) return false;
  if (!s->chain) return true;
  unsigned link = collective % (s->hosts - 1);
  return host == link || host == link + 1;
}

struct stay {
  double start, end;
};

/* True if the device recorded this execution of the program; sets the numbers under which the device records it. */
static bool is_recorded(const struct scene *s, unsigned input, unsigned run, struct align_anchor *v) {
  unsigned host = input / s->gpus, runs = s->collectives / s->program, from = host * 5 % (runs / 3), to = runs - host * 3 % (runs / 4);
  if (s->vain) from = host ? runs / 2 : 0, to = host ? runs : runs / 2;
  v->module = 7;
  v->execution = run + 1;
  v->run = run + 3 + input * 13 % 5;
  v->has_run = s->numbered;
  v->device = input;
  return run >= from && run < to;
}

static bool add(struct align_anchors *a, const struct cluster *c, unsigned input, unsigned i, struct stay stay) {
  const struct scene *s = c->scene;
  unsigned host = input / s->gpus;
  static const int64_t EPOCH = 1795171072000000000;
  struct align_anchor *v;
  if (s->removed > 0 && uniform() < s->removed) return true;
  if (!mem_grow(a->mem, (void **)&a->v, &a->cap, (uint64_t)a->n + 1, sizeof *a->v)) return false;
  v = &a->v[a->n++];
  *v = (struct align_anchor){.label = 1 + i % 3, .input = input, .says = ALIGN_BARRIER};
  if ((i * 2654435761u % 1000) < s->loose * 1000) v->says = 0;
  if (!s->bare && !s->program) v->exact = i + 1;
  if (s->program) v->label = 1 + i % s->program;
  if (s->chain) v->label = hash_mix(v->label, i % (s->hosts - 1)); /* each link has its own groups */
  if (s->program && !is_recorded(s, input, i / s->program, v)) a->n--;
  v->start = EPOCH + (int64_t)(clock_of(c, host, stay.start) * 1000);
  v->end = EPOCH + (int64_t)(clock_of(c, host, stay.end) * 1000);
  return true;
}

/* Simulates one collective: ranks arrive independently, and the last arrival releases all. */
static void collective(struct align_anchors *a, struct cluster *c, unsigned i, double done) {
  const struct scene *s = c->scene;
  bool loose = (i * 2654435761u % 1000) < s->loose * 1000, tail = uniform() < s->tails;
  unsigned last = (unsigned)(uniform() * s->gpus), unlucky = (unsigned)(uniform() * s->hosts);
  for (unsigned h = 0; h < s->hosts; h++) {
    double ends[16], first = 0;
    for (unsigned g = 0; g < s->gpus; g++) {
      bool slow = s->straggler > 0 && h == s->hosts - 1 && g == s->gpus - 1;
      double late = exponential(1500), end = done + uniform() * 7, start = done - 20 - exponential(30) - late;
      if (s->straggler > 0) start = slow ? done - 20 : start - s->straggler;
      if (tail && h == unlucky && g == last) end += exponential(200);
      if (loose) end += exponential(300);
      ends[g] = end;
      if (g == 0 || start < first) first = start;
      if (takes_part(s, h, i)) add(a, c, h * s->gpus + g, i, (struct stay){start, end});
    }
    qsort(ends, s->gpus, sizeof *ends, by_value);
    double end = clock_of(c, h, ends[s->gpus / 2]);
    if (i == 0) c->first_start[h] = clock_of(c, h, first), c->first_end[h] = end;
    if (h < 2) c->ends[h][i] = end;
  }
}

static void simulate(struct align_anchors *a, struct cluster *c, const struct scene *s, unsigned seed) {
  double times[2048];
  state = seed * 7919u + 12345;
  c->scene = s;
  for (unsigned h = 0; h < s->hosts; h++) {
    c->offset[h] = h ? (uniform() - 0.5) * 4e6 : 0;
    c->ppm[h] = h ? s->ppm * (s->hosts == 2 ? 1 : 2 * uniform() - 1) : 0;
  }
  for (unsigned i = 0; i < s->collectives; i++) times[i] = uniform() * s->seconds * 1e6;
  qsort(times, s->collectives, sizeof *times, by_value);
  for (unsigned i = 0; s->program && i < s->collectives; i++) {
    double period = s->seconds * 1e6 * s->program / s->collectives, before = i ? times[i - 1] : 0;
    if (i % s->program == 0) times[i] = before + period * 0.4 + uniform() * s->jitter;
    else times[i] = before + period * 0.6 / (s->program - 1) + uniform() * s->jitter / s->program;
  }
  for (unsigned i = 0; i < s->collectives; i++) collective(a, c, i, times[i] + 1e6);
  c->n_ends = s->collectives;
}

/* ---- errors ---- */

/* Returns the worst error (us) of a host's estimated offset within the trace. `m`: the estimate; NULL = the offset
 * `constant`. */
static double error_of(const struct cluster *c, unsigned host, const struct align_map *m, double constant) {
  double worst = 0;
  for (int i = 0; i <= SAMPLES; i++) {
    double t = 1e6 + c->scene->seconds * 1e6 * i / SAMPLES, reading = clock_of(c, host, t);
    double offset = m ? (double)align_offset(m, 1795171072000000000 + (int64_t)(reading * 1000)) / 1000 : constant;
    worst = fmax(worst, fabs(offset - (reading - t)));
  }
  return worst;
}

static double median_of_ends(struct cluster *c) {
  for (unsigned i = 0; i < c->n_ends; i++) c->ends[0][i] = c->ends[1][i] - c->ends[0][i];
  return curve_median(c->ends[0], c->n_ends);
}

struct outcome {
  double worst, starts, barrier, median;
  unsigned trusted, wrong;
};

static bool run_once(const struct scene *s, unsigned seed, struct outcome *o) {
  struct mem mem = {0};
  struct align_anchors a = {.mem = &mem};
  static double ends[2][2048];
  struct cluster c = {.ends = {ends[0], ends[1]}};
  uint32_t host_of[1024];
  bool known[HOSTS];
  struct align_solution solution;
  struct tk_err err = {0};
  simulate(&a, &c, s, seed);
  for (unsigned i = 0; i < s->hosts * s->gpus; i++) host_of[i] = i / s->gpus;
  for (unsigned h = 0; h < s->hosts; h++) known[h] = true;
  struct align_problem p = {.mem = &mem, .anchors = &a, .host_of = host_of, .known = known};
  p.n_inputs = s->hosts * s->gpus;
  p.n_hosts = s->hosts;
  bool ok = align_solve(&p, &solution, &err);
  *o = (struct outcome){.starts = error_of(&c, 1, NULL, c.first_start[1] - c.first_start[0]),
                        .barrier = error_of(&c, 1, NULL, c.first_end[1] - c.first_end[0]),
                        .median = error_of(&c, 1, NULL, median_of_ends(&c)), .trusted = 1};
  for (unsigned h = 1; ok && h < s->hosts; h++) {
    if (solution.hosts[h].state != ALIGN_GOOD) continue;
    double e = error_of(&c, h, &solution.hosts[h].map, 0);
    o->trusted++;
    o->wrong += e > s->wrong;
    o->worst = fmax(o->worst, e);
  }
  align_solution_free(&solution);
  align_anchors_free(&a);
  return ok && mem.used == 0;
}

/* ---- a case ---- */

static double middle(const struct outcome *o, unsigned n, size_t field) {
  double v[256];
  for (unsigned i = 0; i < n; i++) memcpy(&v[i], (const char *)&o[i] + field, sizeof *v);
  return curve_median(v, n);
}

static bool run_scene(const struct scene *s, unsigned runs, bool table) {
  static struct outcome o[256];
  double most = 0, trusted = 0;
  unsigned wrong = 0;
  bool ok = true;
  for (unsigned i = 0; i < runs; i++) {
    ok = run_once(s, i + 1, &o[i]) && ok;
    most = fmax(most, o[i].worst);
    trusted += (double)o[i].trusted / s->hosts / runs;
    wrong += o[i].wrong;
  }
  double median = middle(o, runs, offsetof(struct outcome, worst));
  if (table)
    printf("%-34s %10.1f %10.1f %10.1f %9.2f %9.2f %8.0f%% %6u\n", s->name, middle(o, runs, offsetof(struct outcome, starts)),
           middle(o, runs, offsetof(struct outcome, barrier)), middle(o, runs, offsetof(struct outcome, median)), median, most,
           100 * trusted, wrong);
  if (ok && median <= s->most && wrong == 0 && trusted >= s->least - 1e-9) return true;
  printf("%s: median of the worst errors %.2f us (at most %.2f), worst %.2f us, %u trusted and wrong, %.0f%% trusted\n", s->name,
         median,
         s->most, most, wrong, 100 * trusted);
  return false;
}

int main(int argc, char **argv) {
  bool table = argc > 1 && strcmp(argv[1], "--table") == 0;
  const char *long_test = getenv("LONG");
  bool brief = !table && (!long_test || !*long_test);
  unsigned passed = 0, n = sizeof scenes / sizeof *scenes;
  if (table)
    printf("worst error within the trace, us (median of 30 runs, of 200 where there are two hosts)\n"
           "%-34s %10s %10s %10s %9s %9s %9s %6s\n", "", "starts", "barrier", "median", "tracekit", "max", "trusted", "wrong");
  for (unsigned i = 0; i < n; i++) {
    unsigned runs = brief ? 8 : scenes[i].hosts > 2 ? 30 : 200;
    passed += run_scene(&scenes[i], runs, table);
  }
  printf("%u passed, %u failed\n", passed, n - passed);
  return passed != n;
}
