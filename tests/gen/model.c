/* model.c - true time: random numbers, clocks, and the plan of each step on all ranks.
 *
 * A step is: forward through the layers, backward through them with one all-reduce per layer on a separate stream, optimizer. The cost
 * of a layer is the same on all ranks except for a few percent (more on a straggler), so the time at which a rank is ready for a
 * collective is a simple sum. The generator of rank 7 can compute the times of the other 4095 ranks without simulating them. A
 * collective ends on all ranks when the last rank has joined, plus its transfer, plus 1 to 7 us that differ per rank; its starts differ
 * as much as the ranks do. Clock alignment may rely on this, and the truth file contains the expected result. */
#include <stdlib.h>
#include <string.h>

#include "gen.h"

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t z = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) + UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

uint64_t rng_next(struct rng *r) { return r->state = mix(r->state, 1); }

int64_t rng_in(struct rng *r, int64_t lo, int64_t hi) {
  return lo + (int64_t)(rng_next(r) % (uint64_t)(hi - lo + 1));
}

/* ---- clocks --------------------------------------------------------------------------------------------------------- */

int host_of(const struct options *o, int rank) { return rank / ((o->ranks + o->hosts - 1) / o->hosts); }
int local_rank(const struct options *o, int rank) { return rank % ((o->ranks + o->hosts - 1) / o->hosts) % GPUS; }

int64_t clock_read(const struct options *o, int host, int64_t t) {
  double late = (double)t - o->slew_at * 1e9;
  int64_t r = JOB_START + t + (int64_t)(o->offset_us[host] * 1000) + (int64_t)((double)t * o->drift_ppm[host] * 1e-6);
  if (host > 0 && o->slew_ppm != 0 && late > 0) r += (int64_t)(late * o->slew_ppm * 1e-6);
  return r;
}

bool write_truth(const struct options *o) {
  FILE *f = strcmp(o->truth, "-") == 0 ? stderr : fopen(o->truth, "w");
  if (!f) return false;
  fprintf(f, "{\"seed\": %llu, \"job_start_ns\": %lld, \"ranks\": %d, \"rank\": %d, \"host\": %d, \"straggler\": %d, \"hosts\": [",
          (unsigned long long)o->seed, (long long)JOB_START, o->ranks, o->rank, host_of(o, o->rank), o->straggler);
  for (int h = 0; h < o->hosts; h++)
    fprintf(f, "%s{\"offset_us\": %.3f, \"drift_ppm\": %.6f, \"slew_ppm\": %.6f, \"slew_at_s\": %.3f}", h ? ", " : "",
            o->offset_us[h], o->drift_ppm[h], h ? o->slew_ppm : 0, o->slew_at);
  fprintf(f, "]}\n");
  return f == stderr || fclose(f) == 0;
}

/* ---- the plan ------------------------------------------------------------------------------------------------------- */

enum { LAUNCH_SLOT = 90000, LAUNCH_TO_START = 30000, UNIT = 1024 };

/* Returns a duration (ns) into which lay() can always fit these rows. */
static int64_t rows_period(const struct row *rows, unsigned n) {
  static const int64_t room[K_FAMILIES] = {0, 150000, 22000, 40000, 50000, 20000, 90000, 16000, 8000};
  int64_t sum = 3000;
  for (unsigned i = 0; i < n; i++) sum += 11000 + 13000 * (rows[i].kernel != 0) + 4000 * rows[i].calls + room[rows[i].kernel];
  return sum;
}

static const struct row *rows_of(unsigned group, enum phase phase, unsigned *n) {
  const struct group *g = &groups[group];
  *n = phase == BACKWARD ? g->n_backward : g->n_forward;
  return phase == BACKWARD ? g->backward : g->forward;
}

/* first_group() and end_group() give the groups of a phase; the last group in the table is the optimizer's. */
static unsigned first_group(enum phase phase) { return phase == OPTIMIZER ? n_groups - 1 : 0; }
static unsigned end_group(enum phase phase) { return phase == OPTIMIZER ? n_groups : n_groups - 1; }

/* Returns a time scale common to all ranks, in 1/UNIT: layers and steps cost up to a quarter more. */
static int64_t group_scale(const struct options *o, int step, int layer, unsigned key) {
  return UNIT + (int64_t)(mix(mix(o->seed, (uint64_t)step << 20 | (unsigned)layer << 8 | key), 11) % 256);
}

static int64_t group_period(const struct options *o, int step, int layer, unsigned group, enum phase phase) {
  unsigned n;
  const struct row *rows = rows_of(group, phase, &n);
  return rows_period(rows, n) * group_scale(o, step, layer, group * 4 + phase) / UNIT;
}

static int64_t layer_period(const struct options *o, int step, int layer, enum phase phase) {
  int64_t sum = 0;
  for (unsigned g = first_group(phase); g < end_group(phase); g++) sum += group_period(o, step, layer, g, phase);
  return sum + (phase == BACKWARD ? LAUNCH_SLOT : 0);
}

/* Returns the time scale of a rank, in 1/UNIT: up to 3% above 1; for the straggler, 12 to 25% more. */
static int64_t rank_scale(const struct options *o, int rank, int step, int layer, enum phase phase) {
  uint64_t h = mix(mix(o->seed, (uint64_t)rank << 32 | (unsigned)step), (unsigned)layer * 4 + phase);
  return UNIT + (int64_t)(h % 31) + (rank == o->straggler ? 123 + (int64_t)(h >> 32) % 133 : 0);
}

bool job_start(struct job *j, const struct options *o) {
  *j = (struct job){.o = o, .at = calloc((size_t)o->ranks, sizeof *j->at), .free = calloc((size_t)o->ranks, sizeof *j->free)};
  for (int r = 0; j->at && r < o->ranks; r++) j->at[r] = 1000000 + (int64_t)(mix(o->seed, (unsigned)r) % 400000);
  return j->at && j->free;
}

void job_end(struct job *j) {
  free(j->at);
  free(j->free);
}

static void job_layers(struct job *j, struct plan *p, enum phase phase, int layer) {
  const struct options *o = j->o;
  int64_t period = layer_period(o, j->step, layer, phase);
  for (int r = 0; r < o->ranks; r++) {
    int64_t scale = rank_scale(o, r, j->step, layer, phase);
    if (r == o->rank) {
      (phase == FORWARD ? p->forward : p->backward)[layer] = j->at[r];
      (phase == FORWARD ? p->scale_forward : p->scale_backward)[layer] = scale;
    }
    j->at[r] += period * scale / UNIT;
  }
}

/* Adds a collective to the plan: all ranks join it, and it ends after the last one has joined. */
static void job_collective(struct job *j, struct plan *p, int layer) {
  const struct options *o = j->o;
  uint64_t h = mix(mix(o->seed, (uint64_t)j->step << 8 | (unsigned)layer), 77);
  int64_t last = 0, start, transfer = 60000 + (int64_t)(h % 300000);
  for (int r = 0; r < o->ranks; r++) {
    start = j->at[r] + LAUNCH_TO_START + (int64_t)(mix(h, (unsigned)r) % 4000);
    if (start < j->free[r] + 900) start = j->free[r] + 900;
    if (r == o->rank) p->collective[layer] = start;
    if (start > last) last = start;
  }
  for (int r = 0; r < o->ranks; r++) j->free[r] = last + transfer + 1000 + (int64_t)(mix(h, (unsigned)r + 5000u) % 6000);
  p->collective_end[layer] = j->free[o->rank];
}

void job_step(struct job *j, struct plan *p) {
  const struct options *o = j->o;
  int64_t period = layer_period(o, j->step, 0, OPTIMIZER);
  memset(p, 0, sizeof *p);
  p->step = j->step;
  p->start = j->at[o->rank];
  for (int r = 0; r < o->ranks; r++) j->at[r] += 60000;
  for (int l = 0; l < o->layers; l++) job_layers(j, p, FORWARD, l);
  p->forward_end = j->at[o->rank];
  for (int r = 0; r < o->ranks; r++) j->at[r] += 40000;
  for (int l = o->layers - 1; l >= 0; l--) {
    job_layers(j, p, BACKWARD, l);
    job_collective(j, p, l);
  }
  p->backward_end = j->at[o->rank];
  for (int r = 0; r < o->ranks; r++) {
    int64_t start = (j->at[r] > j->free[r] ? j->at[r] : j->free[r]) + 20000;
    int64_t scale = rank_scale(o, r, j->step, 0, OPTIMIZER), end = start + period * scale / UNIT;
    if (r == o->rank) {
      p->optimizer = start;
      p->scale_optimizer = scale;
      p->optimizer_end = end;
    }
    j->at[r] = end + 150000 + (int64_t)(mix(mix(o->seed, (unsigned)r), (unsigned)j->step) % 200000);
  }
  p->end = p->optimizer_end + 50000;
  j->step++;
}

/* ---- the walk --------------------------------------------------------------------------------------------------------- */

/* Assigns times to the rows, in preorder: each begins after a little work of its parent, may launch and call, and ends after
 * its last child. Upper bounds: 11 us per row, 13 per launch, 4 per call, so that rows_period holds. */
static unsigned lay(const struct row *rows, unsigned n, int64_t period, struct rng *r, struct slot *s) {
  unsigned open[8], depth = 0, kernels = 0;
  int64_t at = 200, stream = 0;
  for (unsigned i = 0; i < n; i++) kernels += rows[i].kernel != 0;
  for (unsigned i = 0; i <= n; i++) {
    while (depth > 0 && (i == n || depth > rows[i].depth)) s[open[--depth]].end = at += rng_in(r, 300, 1800);
    if (i == n) break;
    s[i] = (struct slot){.row = &rows[i], .start = at += rng_in(r, 200, 2200)};
    open[depth++] = i;
    at += rng_in(r, 900, 6500);
    for (unsigned c = 0; c < rows[i].calls && c < 2; c++) {
      s[i].call[c] = at;
      s[i].call_end[c] = at += rng_in(r, 400, 3300);
      at += rng_in(r, 60, 500);
    }
    if (!rows[i].kernel) continue;
    s[i].launch = at;
    s[i].launch_end = at += rng_in(r, 3800, 11500);
    s[i].kernel = s[i].launch_end + rng_in(r, 1200, 5000);
    if (s[i].kernel < stream + 700) s[i].kernel = stream + 700;
    /* Most kernels take microseconds; a few fill the available time. */
    s[i].kernel_end = (period - 1000 - s[i].kernel) / kernels-- >> rng_in(r, 0, 5);
    s[i].kernel_end = s[i].kernel + 1200 + s[i].kernel_end * rng_in(r, 500, 999) / 1000;
    if (s[i].kernel_end > period - 400) s[i].kernel_end = period - 400;
    stream = s[i].kernel_end;
    at += rng_in(r, 100, 900);
  }
  return n;
}

static void scale_slot(struct slot *s, int64_t base, int64_t scale) {
  int64_t *times[] = {&s->start, &s->end, &s->launch, &s->launch_end, &s->kernel, &s->kernel_end,
                      &s->call[0], &s->call_end[0], &s->call[1], &s->call_end[1]};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) *times[i] = base + *times[i] * scale / (UNIT * UNIT);
}

struct walker {
  const struct options *o;
  const struct plan *p;
  void (*visit)(void *self, const struct piece *p);
  void *self;
};

static void walk_groups(const struct walker *w, enum phase phase, int layer, int64_t at, int64_t scale) {
  struct slot slots[MAX_SLOTS];
  unsigned count = end_group(phase) - first_group(phase);
  for (unsigned i = 0; i < count; i++) {
    unsigned g = phase == BACKWARD ? end_group(phase) - 1 - i : first_group(phase) + i, n;
    const struct row *rows = rows_of(g, phase, &n);
    int64_t period = group_period(w->o, w->p->step, layer, g, phase) * scale / UNIT;
    int64_t both = group_scale(w->o, w->p->step, layer, g * 4 + phase) * scale;
    struct piece p = {.phase = phase, .step = w->p->step, .layer = layer, .group = g, .start = at, .end = at + period};
    struct rng r;
    p.hash = mix(mix(w->o->seed, (uint64_t)w->o->rank << 32 | (unsigned)p.step), (unsigned)layer << 10 | g << 2 | phase);
    r.state = p.hash;
    p.n = lay(rows, n, rows_period(rows, n), &r, slots);
    p.slots = slots;
    p.sequence = ((uint64_t)p.step * (unsigned)w->o->layers + (unsigned)layer) * n_groups + g;
    for (unsigned k = 0; k < p.n; k++) scale_slot(&slots[k], at, both);
    w->visit(w->self, &p);
    at += period;
  }
}

static void walk_collective(const struct walker *w, int layer) {
  const struct plan *q = w->p;
  int64_t end = layer > 0 ? q->backward[layer - 1] : q->backward_end;
  struct piece p = {.phase = COMMUNICATION, .step = q->step, .layer = layer, .start = end - LAUNCH_SLOT, .end = end};
  p.hash = mix(mix(w->o->seed, (unsigned)q->step), (unsigned)layer << 10 | 1023);
  p.sequence = (uint64_t)q->step * (unsigned)w->o->layers + (unsigned)(w->o->layers - 1 - layer);
  p.kernel = q->collective[layer];
  p.kernel_end = q->collective_end[layer];
  w->visit(w->self, &p);
}

void walk(const struct options *o, const struct plan *p, void (*visit)(void *self, const struct piece *p), void *self) {
  struct walker w = {.o = o, .p = p, .visit = visit, .self = self};
  for (int l = 0; l < o->layers; l++) walk_groups(&w, FORWARD, l, p->forward[l], p->scale_forward[l]);
  for (int l = o->layers - 1; l >= 0; l--) {
    walk_groups(&w, BACKWARD, l, p->backward[l], p->scale_backward[l]);
    walk_collective(&w, l);
  }
  walk_groups(&w, OPTIMIZER, 0, p->optimizer, p->scale_optimizer);
}
