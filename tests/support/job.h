/* job.h - a simulated job on a cluster: the true events of every rank, and their times on each host's clock.
 *
 *     job_draw: kind, size, jitter, seed -> hosts with clocks, collectives with true times -> job_write: a file for each rank
 *
 * This code is independent of lib/align on purpose: it shares no code and no constant with the code it tests. Times are true
 * time in us since the job's start; job_clock() gives the reading of a host's clock. */
#ifndef SUPPORT_JOB_H
#define SUPPORT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Peculiarity of a job; each kind once caused wrong results. */
enum job_kind {
  JOB_PLAIN,          /* none */
  JOB_REMOVED,        /* 10-40% of the kernels are missing at random */
  JOB_LONG,           /* ten seconds or longer */
  JOB_TPU,            /* XLA programs on hosts that recorded the same executions */
  JOB_PIPELINE,       /* stages that only send and receive */
  JOB_ONE_NAME,       /* two hosts with the same name */
  JOB_DISJOINT,       /* hosts that recorded different steps; half of them XLA */
  JOB_STEP_NUMBERS,   /* one host's step numbers are one too high; no sequence numbers */
  JOB_ONE_MISSING,    /* equal labels; one collective is missing in each step of a rank */
  JOB_ONE_WAY,        /* kernels without args, named Broadcast, Reduce or SendRecv */
  JOB_JUMP,           /* a clock that was set during the job */
  JOB_SLEW,           /* a clock that ran at a different rate for a while */
  JOB_BIAS,           /* the ends on one host are late by 20-300 us */
  JOB_UNNAMED,        /* no host names; hosts 20-200 us apart */
  JOB_TWO_JOBS,       /* two unrelated jobs with the same groups and sequence numbers */
  JOB_CPU_STEPS,      /* steps are marked on the CPU, which runs ahead of the GPU */
  JOB_UNKNOWN_GROUPS, /* the members of groups are unknown, and several groups share a name */
  JOB_TWO_PIPELINES,  /* two unrelated pipelines with the same ranks */
  JOB_TWO_TPU_JOBS,   /* the same program, started twice, on different hosts */
  JOB_CROWD,          /* no host names, and so many hosts within a millisecond that some are a few microseconds apart by
                       * chance */
  JOB_KINDS
};

extern const char *const job_kind_names[JOB_KINDS];

enum { JOB_HOSTS = 4, JOB_RANKS = 16, JOB_CROWDED = 240, JOB_PIECES = 4, JOB_SIZES = 3, JOB_JITTERS = 3 };

/* A clock: reading = t + offset + the integral of its rate. At `from` of each piece the rate changes, and the clock may
 * jump. */
struct job_clock {
  double offset, ppm; /* us */
  unsigned n;
  double from[JOB_PIECES], jump[JOB_PIECES], more_ppm[JOB_PIECES];
};

enum job_class { JOB_BARRIER, JOB_BROADCAST, JOB_REDUCE, JOB_SEND_RECV };

/* One collective, with true times. */
struct job_op {
  enum job_class class;
  uint32_t members; /* ranks, as a bit mask; JOB_ALL in a crowd */
  unsigned group;   /* 0 = all, 1 = ranks of a host, 2 = ranks at one position on all hosts, 3 = a sender and a receiver */
  unsigned name, size, seq, layer;
  int step;
  unsigned job;
  double start[JOB_CROWDED], end[JOB_CROWDED];
  bool lost[JOB_CROWDED];
};

static const uint32_t JOB_ALL = UINT32_MAX;
static inline bool job_has(uint32_t members, unsigned rank) { return members == JOB_ALL || (rank < JOB_RANKS && members >> rank & 1); }

struct job {
  enum job_kind kind;
  unsigned size, jitter;
  uint64_t seed, random;
  unsigned hosts, each, ranks, steps; /* each: ranks per host */
  bool xla, args, numbered, marked, members_known, named;
  unsigned way_of_names;              /* JOB_UNKNOWN_GROUPS: how group information is wrong */
  struct job_clock clock[JOB_CROWDED];
  double bias[JOB_CROWDED], late_end[JOB_CROWDED];
  int step_shift[JOB_CROWDED];
  double ahead[JOB_CROWDED];          /* of the CPU's step marks */
  struct job_op *ops;
  size_t n_ops, cap;
  double begin[2][64], length;        /* begin: steps of both jobs; length: of the whole job */
};

/* Fills in `j`; the same arguments give the same job. Returns false if memory runs out. */
bool job_draw(struct job *j, enum job_kind kind, unsigned size, unsigned jitter, uint64_t seed);
void job_free(struct job *j);

double job_uniform(struct job *j); /* 0..1 */
unsigned job_host(const struct job *j, unsigned rank);
double job_clock(const struct job *j, unsigned host, double t);

/* Nanoseconds since the epoch at which a host's clock reads 0. */
extern const int64_t JOB_EPOCH_NS;

/* Writes a file for each rank, or for each host if the job runs XLA programs. Returns the number of files; 0 on failure. */
unsigned job_write(struct job *j, const char *folder, char paths[JOB_CROWDED][256]);

#endif
