/* gen.h - a generator of synthetic traces: any size, constant memory, the same bytes for the same options.
 *
 *     options -> model (true times of one training job on all ranks) -> clock (readings of a host's clock) -> dialect -> stdout
 *
 * Formats list their events thread by thread, so a dialect walks the model several times and prints one kind of event each
 * time; every random number is a hash of the item it belongs to, so all walks agree. */
#ifndef GEN_H
#define GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MAX_HOSTS = 64, MAX_RANKS = 4096, MAX_LAYERS = 64, MAX_SLOTS = 16, GPUS = 8 };

struct options {
  uint64_t spans, seed;
  int ranks, rank, hosts, steps, layers;
  double offset_us[MAX_HOSTS], drift_ppm[MAX_HOSTS], late_ms[MAX_HOSTS];
  double slew_ppm, slew_at; /* from `slew_at` seconds on, all clocks except the first run this much faster */
  int straggler;            /* rank that is slower; -1 = none */
  bool no_base, compact, lines, stack, memory, tpu, no_run_id, no_hlo;
  const char *truth;        /* file for the true clocks; "-" = stderr */
};

/* ---- random numbers: a hash of five numbers -------------------------------------------------------------------------- */

uint64_t mix(uint64_t a, uint64_t b);
struct rng {
  uint64_t state;
};
uint64_t rng_next(struct rng *r);
/* Random number in lo .. hi, inclusive. */
int64_t rng_in(struct rng *r, int64_t lo, int64_t hi);

/* ---- clocks ----------------------------------------------------------------------------------------------------------- */

/* Start of the job (ns since the epoch, true time), and the time base of Kineto files. */
#define JOB_START INT64_C(1795171072000000000)
#define KINETO_BASE INT64_C(1790857026000000000)

/* Reading (ns since the epoch) of a host's clock at a true time (ns since JOB_START). */
int64_t clock_read(const struct options *o, int host, int64_t t);
int host_of(const struct options *o, int rank);
int local_rank(const struct options *o, int rank);
bool write_truth(const struct options *o);

/* ---- the job ----------------------------------------------------------------------------------------------------------- */

enum phase { FORWARD, BACKWARD, OPTIMIZER, COMMUNICATION };

/* An op of the host. Rows are in preorder, with their depth. `kernel`: family of the kernel that the op launches (0 = none);
 * `calls`: number of its other runtime calls. */
struct row {
  const char *name;
  uint8_t depth, kernel, calls;
};

/* A part of the model's code: its ops in the forward and the backward pass, and its Python frame. */
struct group {
  const char *module, *frame;
  const struct row *forward, *backward;
  uint8_t n_forward, n_backward;
};

extern const struct group groups[];
extern const unsigned n_groups;

/* Kernel families. */
enum { K_NONE, K_GEMM, K_ELEMENT, K_NORM, K_SOFTMAX, K_REDUCE, K_OPTIM, K_COPY, K_FILL, K_FAMILIES };
const char *kernel_name(unsigned family, uint64_t pick, char *text, size_t size);

/* A row with its times (ns since JOB_START). */
struct slot {
  const struct row *row;
  int64_t start, end;
  int64_t launch, launch_end;
  int64_t kernel, kernel_end;
  int64_t call[2], call_end[2];
};

struct piece {
  enum phase phase;
  int step, layer;
  unsigned group;        /* index into groups */
  uint64_t hash;         /* random, depends on the piece and the rank */
  int64_t start, end;
  const struct slot *slots;
  unsigned n;
  uint64_t sequence;     /* ordinal of the collective, or of the forward op to which a backward op belongs */
  int64_t kernel, kernel_end; /* of the collective */
};

/* One step of the generated rank. */
struct plan {
  int step;
  int64_t start, forward_end, backward_end, optimizer, optimizer_end, end;
  int64_t forward[MAX_LAYERS], backward[MAX_LAYERS];           /* starts */
  int64_t scale_forward[MAX_LAYERS], scale_backward[MAX_LAYERS], scale_optimizer;
  int64_t collective[MAX_LAYERS], collective_end[MAX_LAYERS];
};

struct job {
  const struct options *o;
  int step;
  int64_t *at, *free; /* per rank: when its compute and its communication stream are free */
};

bool job_start(struct job *j, const struct options *o);
void job_step(struct job *j, struct plan *p);
void job_end(struct job *j);

/* Calls `visit` for each piece of a step, in time order on its thread. */
void walk(const struct options *o, const struct plan *p, void (*visit)(void *self, const struct piece *p), void *self);

/* ---- text --------------------------------------------------------------------------------------------------------------- */

void put(const char *s);
void put_n(const void *p, size_t n);
void put_u(uint64_t v);
void put_i(int64_t v);
void put_us(int64_t ns); /* microseconds with three decimals */
void put_d(double v);    /* the shortest text that reads back as v */
uint64_t put_bytes(void);
bool put_finish(void);

/* ---- protobuf ------------------------------------------------------------------------------------------------------------- */

/* A message with a few fields, built here and then written or nested. */
struct pb {
  size_t n;
  uint8_t b[4096];
};
void pb_varint(struct pb *m, uint64_t v);
void pb_u(struct pb *m, unsigned field, uint64_t v);
void pb_double(struct pb *m, unsigned field, double v);
void pb_fixed64(struct pb *m, unsigned field, uint64_t v);
void pb_bytes(struct pb *m, unsigned field, const void *p, size_t n);
void pb_text(struct pb *m, unsigned field, const char *s);
void pb_message(struct pb *m, unsigned field, const struct pb *inner);
/* Writes a field directly to the output: a complete message, or only its header. */
void put_message(unsigned field, const struct pb *m);
void put_head(unsigned field, uint64_t n);
uint64_t size_message(uint64_t n); /* including a header with a one-byte tag */

/* Maps names to small numbers, from 1 in order of first use. */
enum { NAMES_MOST = 1 << 17 };
struct names {
  char *text[NAMES_MOST];
  unsigned n;
  uint32_t slot[2 * NAMES_MOST];
};
unsigned name_id(struct names *t, const char *text, bool *fresh);
void names_free(struct names *t);

/* ---- dialects ------------------------------------------------------------------------------------------------------------ */

bool kineto(const struct options *o);
bool xplane(const struct options *o);
bool gecko(const struct options *o);
bool perfetto(const struct options *o);

#endif
