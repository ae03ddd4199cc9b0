/* job.c - generates a job (job.h): the program, late arrivals, noise of ends, clocks, and the peculiarity of the job's kind. */
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const job_kind_names[JOB_KINDS] = {
    "plain", "removed", "long", "tpu", "pipeline", "one name", "disjoint", "step numbers", "one missing", "one way", "jump", "slew",
    "bias", "unnamed", "two jobs", "cpu steps", "unknown groups", "two pipelines",
    "two tpu jobs", "crowd"};

/* ---- random numbers ---- */

double job_uniform(struct job *j) {
  uint64_t z = j->random += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double between(struct job *j, double low, double high) { return low + (high - low) * job_uniform(j); }
static bool chance(struct job *j, double p) { return job_uniform(j) < p; }
static unsigned below(struct job *j, unsigned n) { return (unsigned)(job_uniform(j) * n); }
static double exponential(struct job *j, double mean) { return -mean * log(1 - job_uniform(j)); }
static double normal(struct job *j) {
  return sqrt(-2 * log(1 - job_uniform(j))) * cos(6.283185307179586 * job_uniform(j));
}
static double sign(struct job *j) { return chance(j, 0.5) ? 1 : -1; }

/* ---- clocks ---- */

unsigned job_host(const struct job *j, unsigned rank) { return rank / j->each; }

double job_clock(const struct job *j, unsigned host, double t) {
  const struct job_clock *c = &j->clock[host];
  double read = t + c->offset + c->ppm * 1e-6 * t;
  for (unsigned i = 0; i < c->n && t >= c->from[i]; i++) {
    double to = i + 1 < c->n && t > c->from[i + 1] ? c->from[i + 1] : t;
    read += c->jump[i] + c->more_ppm[i] * 1e-6 * (to - c->from[i]);
  }
  return read;
}

static void draw_clocks(struct job *j) {
  static const double usual[] = {60, 2500, 9000, 3e6};
  for (unsigned h = 1; h < j->hosts; h++) {
    j->clock[h].offset = sign(j) * between(j, 0.5, 1.5) * usual[below(j, 4)];
    j->clock[h].ppm = between(j, -30, 30);
  }
  for (unsigned r = 0; r < j->ranks; r++) j->bias[r] = chance(j, 0.7) ? between(j, 0, 5) : 0;
  if (j->kind == JOB_BIAS) j->late_end[1] = between(j, 20, 300);
}

/* Applies the clock errors of the kind, once the length of the job is known. */
static void spoil_clocks(struct job *j) {
  struct job_clock *c = &j->clock[1];
  switch (j->kind) {
  case JOB_ONE_NAME: c->offset = sign(j) * between(j, 100, 3e6); break;
  case JOB_JUMP:
    c->n = 1;
    c->from[0] = j->length * (chance(j, 0.5) ? 0.9 : between(j, 0.3, 0.7));
    c->jump[0] = sign(j) * between(j, 80, 450);
    break;
  case JOB_SLEW:
    c->n = 2;
    c->from[0] = j->length * between(j, 0.2, 0.4);
    c->from[1] = j->length * between(j, 0.6, 0.8);
    c->more_ppm[0] = sign(j) * between(j, 20, 200);
    break;
  case JOB_UNNAMED:
    for (unsigned h = 1; h < j->hosts; h++) j->clock[h].offset = sign(j) * between(j, 20, 200);
    break;
  case JOB_TWO_TPU_JOBS:
  case JOB_TWO_PIPELINES:
  case JOB_TWO_JOBS:
    for (unsigned h = j->hosts / 2; h < j->hosts; h++) j->clock[h].offset = between(j, -500, 500);
    break;
  case JOB_CROWD:
    for (unsigned h = 1; h < j->hosts; h++) j->clock[h].offset = between(j, -500, 500);
    break;
  case JOB_STEP_NUMBERS: j->step_shift[1] = chance(j, 0.5) ? 1 : -1; break;
  case JOB_CPU_STEPS:
    for (unsigned h = 0; h < j->hosts; h++) j->ahead[h] = between(j, 0, 1) * 5000;
    break;
  default: break;
  }
}

/* ---- the program ---- */

/* One collective of a step, with the delay after the previous one. */
struct part {
  unsigned name, size, group;
  double after;
};

enum { MOST_PARTS = 64 };

struct program {
  struct part part[MOST_PARTS];
  unsigned n;
  double pause; /* between steps */
};

enum { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER };

static void add_part(struct program *p, unsigned name, unsigned size, unsigned group, double after) {
  if (p->n < MOST_PARTS) p->part[p->n++] = (struct part){name, size, group, after};
}

/* Draws a program: a few large collectives after a backward pass, equal ones layer by layer, or very many small ones. */
static void draw_program(struct job *j, struct program *p) {
  unsigned style = j->kind == JOB_ONE_MISSING ? 1 : below(j, 3), layers = 4u << j->size;
  double gap = style == 0 ? between(j, 1500, 5000) : style == 1 ? between(j, 150, 700) : between(j, 60, 250);
  *p = (struct program){.pause = style == 0 ? between(j, 4000, 9000) : between(j, 400, 4000)};
  if (style == 0) layers = 4 + j->size;
  if (j->kind == JOB_CROWD) layers = 6;
  for (unsigned i = 0; i < layers; i++) {
    add_part(p, style == 1 ? ALL_GATHER : ALL_REDUCE, style == 0 ? 1000 * (i + 1) : 4096, 0, gap);
    if (j->each > 1 && style == 2 && j->kind != JOB_CROWD) add_part(p, ALL_REDUCE, 512, 1, gap * 0.6);
  }
  for (unsigned i = 0; style == 1 && i < layers / 2; i++) add_part(p, REDUCE_SCATTER, 4096, 0, gap * 1.7);
  if (j->kind != JOB_UNKNOWN_GROUPS) return;
  p->n = 0;
  for (unsigned i = 0; i < layers; i++) {
    add_part(p, ALL_REDUCE, 4096, 1, gap);
    if (i % 2) add_part(p, ALL_REDUCE, 4096, 2, gap * 0.5);
  }
}

static struct job_op *add_op(struct job *j, const struct part *part, int step, uint32_t members) {
  if (j->n_ops == j->cap) {
    size_t cap = j->cap ? 2 * j->cap : 256;
    struct job_op *ops = realloc(j->ops, cap * sizeof *ops);
    if (!ops) return NULL;
    j->ops = ops;
    j->cap = cap;
  }
  struct job_op *op = &j->ops[j->n_ops++];
  memset(op, 0, sizeof *op);
  op->members = members;
  op->group = part->group;
  op->name = part->name;
  op->size = part->size;
  op->step = step;
  return op;
}

/* Simulates a collective: all ranks arrive independently, and the last arrival releases all of them. */
static void meet(struct job *j, struct job_op *op, double done, double wait) {
  double transfer = between(j, 15, 50);
  unsigned last = below(j, j->ranks);
  while (!job_has(op->members, last)) last = (last + 1) % j->ranks;
  for (unsigned r = 0; r < j->ranks; r++) {
    if (!job_has(op->members, r)) continue;
    double late = r == last ? 0 : fmin(exponential(j, 0.3 * wait), 0.8 * wait);
    op->start[r] = done - transfer - late;
    op->end[r] = done + between(j, 0, 7) + j->bias[r] + j->late_end[job_host(j, r)];
  }
}

/* Simulates a message: the sender leaves when it has sent, the receiver when it has received; neither needs to wait for the
 * other. */
static void pass_on(struct job *j, struct job_op *op, double done, double wait) {
  unsigned root = op->class == JOB_REDUCE ? j->ranks - 1 : 0;
  double sent = done + between(j, 10, 30), all = -INFINITY;
  for (unsigned r = 0; r < j->ranks; r++) {
    if (!job_has(op->members, r)) continue;
    bool sends = op->class == JOB_REDUCE ? r != root : r == root;
    op->start[r] = done + (sends ? 0 : sign(j) * fmin(exponential(j, 0.3 * wait), 0.6 * wait));
    op->end[r] = sends ? sent + between(j, 0, 5) : fmax(op->start[r], sent) + between(j, 8, 20);
    if (sends) all = fmax(all, op->start[r]);
  }
  if (op->class == JOB_REDUCE) op->end[root] = fmax(op->end[root], all + between(j, 8, 20));
}

/* Returns the groups of the part: all ranks, the ranks of each host, or the ranks at one position on every host. */
static unsigned groups_of(const struct job *j, const struct part *part, uint32_t *masks) {
  uint32_t all = j->kind == JOB_CROWD ? JOB_ALL : (uint32_t)((1ull << j->ranks) - 1), host = (uint32_t)((1ull << j->each) - 1);
  unsigned n = 0;
  if (part->group == 0) masks[n++] = all;
  for (unsigned h = 0; part->group == 1 && h < j->hosts; h++) masks[n++] = host << h * j->each;
  for (unsigned g = 0; part->group == 2 && g < j->each; g++) {
    masks[n] = 0;
    for (unsigned h = 0; h < j->hosts; h++) masks[n] |= 1u << (h * j->each + g);
    n++;
  }
  return n;
}

/* Draws the collectives of a part, one for each group of ranks; groups do not wait for each other. */
static bool draw_part(struct job *j, const struct part *part, int step, double done, double wait) {
  uint32_t masks[JOB_RANKS];
  unsigned n = groups_of(j, part, masks);
  for (unsigned g = 0; g < n; g++) {
    struct job_op *op = add_op(j, part, step, masks[g]);
    if (!op) return false;
    double own = part->group ? done + between(j, 0, 50) : done;
    if (j->kind == JOB_ONE_WAY) op->class = JOB_BROADCAST + j->way_of_names % 3;
    if (op->class) pass_on(j, op, own, wait);
    else meet(j, op, own, wait);
  }
  return true;
}

/* ---- pipelines ---- */

static bool has_two(const struct job *j) {
  return j->kind == JOB_TWO_JOBS || j->kind == JOB_TWO_PIPELINES || j->kind == JOB_TWO_TPU_JOBS;
}
static bool is_pipeline(const struct job *j) { return j->kind == JOB_PIPELINE || j->kind == JOB_TWO_PIPELINES; }

/* Draws the messages of a pipeline: for each micro-batch, activations pass from stage to stage, and gradients pass back. */
static bool draw_messages(struct job *j, unsigned job, int step, double *t, double gap) {
  static const struct part message = {.group = 3, .size = 8192};
  unsigned stages = has_two(j) ? j->hosts / 2 : j->hosts, turn = 2 * (stages - 1), first = job * stages;
  for (unsigned i = 0; i < turn * 3; i++) {
    unsigned way = i % turn, from = way < stages - 1 ? way : turn - way;
    unsigned to = way < stages - 1 ? from + 1 : from - 1, a = (first + from) * j->each, b = (first + to) * j->each;
    double sent = *t += gap * (1 + 0.2 * normal(j) * (j->jitter ? 1 : 0.1)), early = exponential(j, 0.3 * gap);
    struct job_op *op = add_op(j, &message, step, 1u << a | 1u << b);
    if (!op) return false;
    double transfer = between(j, 40, 80);
    op->class = JOB_SEND_RECV;
    op->start[a] = sent;
    op->start[b] = sent + (chance(j, 0.7) ? -early : early * 0.2);
    op->end[a] = sent + transfer + between(j, 0, 3);
    op->end[b] = fmax(op->start[b], sent) + transfer + between(j, 0, 3);
    op->size = a; /* the sender */
  }
  return true;
}

/* ---- all steps ---- */

static bool draw_steps(struct job *j, const struct program *p, unsigned job, double from) {
  static const double jitters[JOB_JITTERS] = {0.1, 1, 5};
  double t = from, sd = 0.03 * jitters[j->jitter];
  size_t first = j->n_ops;
  for (unsigned s = 0; s < j->steps; s++) {
    double slow = j->kind == JOB_LONG || j->kind == JOB_SLEW ? 8 : 1;
    j->begin[job][s] = t;
    t += p->pause * slow * fmax(0.3, 1 + sd * normal(j));
    if (is_pipeline(j) && !draw_messages(j, job, (int)s, &t, 400)) return false;
    for (unsigned i = 0; !is_pipeline(j) && i < p->n; i++) {
      double wait = p->part[i].after * slow * fmax(0.3, 1 + sd * normal(j));
      if (!draw_part(j, &p->part[i], (int)s, t += wait, wait)) return false;
    }
    t += 100;
  }
  j->begin[job][j->steps] = t;
  j->length = fmax(j->length, t);
  for (size_t i = first; i < j->n_ops; i++) j->ops[i].job = job;
  return true;
}

/* Numbers the operations of each group. */
static void number_ops(struct job *j) {
  unsigned n[2][4] = {{0}}, layer = 0;
  uint32_t at[2][4] = {{0}};
  for (size_t i = 0; i < j->n_ops; i++) {
    struct job_op *op = &j->ops[i];
    uint32_t *first = &at[op->job][op->group];
    if (!*first) *first = op->members;
    n[op->job][op->group] += *first == op->members;
    op->seq = n[op->job][op->group];
    layer = i && j->ops[i - 1].step == op->step ? layer + 1 : 0;
    op->layer = layer;
  }
}

/* ---- peculiarities of the recording ---- */

static void lose(struct job *j) {
  double share = between(j, 0.1, 0.4);
  unsigned host = 1 + below(j, j->hosts - 1), which = chance(j, 0.5) ? 0 : below(j, 4u << j->size), half = j->steps / 2;
  for (size_t i = 0; i < j->n_ops; i++) {
    struct job_op *op = &j->ops[i];
    for (unsigned r = 0; r < j->ranks; r++) {
      if (j->kind == JOB_REMOVED) op->lost[r] = chance(j, share);
      if (j->kind == JOB_ONE_MISSING && job_host(j, r) == host) op->lost[r] = op->layer == which;
      if (j->kind == JOB_DISJOINT) op->lost[r] = (job_host(j, r) == 0) != (op->step < (int)half);
      if (has_two(j)) op->lost[r] = (job_host(j, r) >= j->hosts / 2) != (op->job == 1);
    }
  }
}

static void draw_habits(struct job *j) {
  bool keyed = j->kind != JOB_STEP_NUMBERS && j->kind != JOB_ONE_MISSING && j->kind != JOB_ONE_WAY && j->kind != JOB_CPU_STEPS;
  j->args = j->kind != JOB_ONE_WAY && (is_pipeline(j) || j->kind == JOB_UNKNOWN_GROUPS || chance(j, 0.8));
  j->numbered = j->args && keyed && chance(j, 0.5);
  j->marked = j->kind == JOB_STEP_NUMBERS || j->kind == JOB_CPU_STEPS || chance(j, 0.7);
  j->members_known = j->kind != JOB_UNKNOWN_GROUPS;
  j->named = j->kind != JOB_UNNAMED && j->kind != JOB_CROWD;
  j->way_of_names = below(j, 6);
  j->xla = j->kind == JOB_TPU || j->kind == JOB_TWO_TPU_JOBS || (j->kind == JOB_DISJOINT && chance(j, 0.5));
}

static void draw_crowd(struct job *j) {
  static const unsigned ranks[] = {24, 80, JOB_CROWDED};
  j->each = chance(j, 0.5) ? 1 : 1u << below(j, 4);
  j->hosts = ranks[j->size] / j->each;
}

bool job_draw(struct job *j, enum job_kind kind, unsigned size, unsigned jitter, uint64_t seed) {
  static const unsigned hosts[] = {2, 2, 3}, each[] = {1, 2, 4}, steps[] = {4, 8, 12};
  struct program p, q;
  *j = (struct job){.kind = kind, .size = size, .jitter = jitter, .seed = seed};
  j->random = seed * 0x2545f4914f6cdd1d + kind * 77 + size * 7 + jitter;
  bool four = kind == JOB_TWO_PIPELINES || (has_two(j) && size);
  j->hosts = four ? 4 : hosts[size] + (size && chance(j, 0.3));
  j->each = kind == JOB_UNKNOWN_GROUPS && !size ? 2 : is_pipeline(j) ? 1 : each[size];
  if (j->hosts > JOB_HOSTS) j->hosts = JOB_HOSTS;
  if (kind == JOB_CROWD) draw_crowd(j);
  j->ranks = j->hosts * j->each;
  j->steps = kind == JOB_CROWD ? 5 : (kind == JOB_LONG || kind == JOB_SLEW || kind == JOB_JUMP ? 3 : 1) * steps[size];
  draw_habits(j);
  draw_clocks(j);
  draw_program(j, &p);
  if (!draw_steps(j, &p, 0, 0)) return false;
  q = p;
  double later = chance(j, 0.3) ? between(j, 0, 5000) : pow(10, between(j, 3.5, 9.5));
  if (has_two(j) && !draw_steps(j, &q, 1, later)) return false;
  spoil_clocks(j);
  number_ops(j);
  lose(j);
  return true;
}

void job_free(struct job *j) {
  free(j->ops);
  j->ops = NULL;
}
