/* job.h - a simulated job on a cluster: what every rank truly did, and what each host's clock said of it.
 *
 *     job_draw: kind, size, jitter, seed -> hosts with clocks, collectives with true times -> job_write: a file for each rank
 *
 * This stands apart from lib/align on purpose: it shares no code and no constant with what it judges.  Times are us of true time from
 * the job's begin; what a host's clock reads then is job_clock(). */
#ifndef SUPPORT_JOB_H
#define SUPPORT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is odd about a job, and of which kind of wrong answer it was once the cause. */
enum job_kind {
  JOB_PLAIN,          /* nothing */
  JOB_REMOVED,        /* 10-40% of the kernels are missing at random */
  JOB_LONG,           /* ten seconds and more */
  JOB_TPU,            /* XLA programs, hosts that recorded the same executions */
  JOB_PIPELINE,       /* stages that only send and receive */
  JOB_ONE_NAME,       /* two hosts of one name */
  JOB_DISJOINT,       /* hosts recorded different steps; half of them XLA */
  JOB_STEP_NUMBERS,   /* one host counts its steps from one further; no sequence numbers */
  JOB_ONE_MISSING,    /* equal labels, one of which is missing in each step of a rank */
  JOB_ONE_WAY,        /* kernels without args whose names say Broadcast, Reduce or SendRecv */
  JOB_JUMP,           /* a clock that was set in between */
  JOB_SLEW,           /* a clock that ran at another rate for a while */
  JOB_BIAS,           /* the ends of one host are late by 20-300 us */
  JOB_UNNAMED,        /* no host names; hosts 20-200 us apart */
  JOB_TWO_JOBS,       /* the same groups and sequence numbers, and nothing to do with each other */
  JOB_CPU_STEPS,      /* steps are marked on the CPU, which runs ahead of the GPU */
  JOB_UNKNOWN_GROUPS, /* who is in a group is not told, and groups of one name are several */
  JOB_TWO_PIPELINES,  /* two pipelines of the same ranks, which have nothing to do with each other */
  JOB_TWO_TPU_JOBS,   /* the same program, started twice, on other hosts */
  JOB_CROWD,          /* no host names, and so many hosts within a millisecond that some are within a few microseconds by chance */
  JOB_KINDS
};

extern const char *const job_kind_names[JOB_KINDS];

enum { JOB_HOSTS = 4, JOB_RANKS = 16, JOB_CROWDED = 240, JOB_PIECES = 4, JOB_SIZES = 3, JOB_JITTERS = 3 };

/* A clock: reading = t + offset + the integral of its rate, which changes at `from` of each piece, where it may jump as well. */
struct job_clock {
  double offset, ppm; /* us */
  unsigned n;
  double from[JOB_PIECES], jump[JOB_PIECES], more_ppm[JOB_PIECES];
};

enum job_class { JOB_BARRIER, JOB_BROADCAST, JOB_REDUCE, JOB_SEND_RECV };

/* One collective, truly. */
struct job_op {
  enum job_class class;
  uint32_t members; /* ranks, a bit each; of a crowd JOB_ALL */
  unsigned group;   /* 0 = all, 1 = those of a host, 2 = those of one place on all hosts, 3 = a sender and a receiver */
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
  unsigned hosts, each, ranks, steps; /* each: ranks a host */
  bool xla, args, numbered, marked, members_known, named;
  unsigned way_of_names;              /* JOB_UNKNOWN_GROUPS: how the groups are told badly */
  struct job_clock clock[JOB_CROWDED];
  double bias[JOB_CROWDED], late_end[JOB_CROWDED];
  int step_shift[JOB_CROWDED];
  double ahead[JOB_CROWDED];          /* of the CPU's marks */
  struct job_op *ops;
  size_t n_ops, cap;
  double begin[2][64], length;        /* of the steps of both jobs; of all */
};

/* False when memory runs out. */
bool job_draw(struct job *j, enum job_kind kind, unsigned size, unsigned jitter, uint64_t seed);
void job_free(struct job *j);

double job_uniform(struct job *j); /* 0..1 */
unsigned job_host(const struct job *j, unsigned rank);
double job_clock(const struct job *j, unsigned host, double t);

/* ns since the epoch of a host's reading. */
extern const int64_t JOB_EPOCH_NS;

/* Files: of each rank, or of each host where they are XLA's.  Their number; 0 = they could not be written. */
unsigned job_write(struct job *j, const char *folder, char paths[JOB_CROWDED][256]);

#endif
