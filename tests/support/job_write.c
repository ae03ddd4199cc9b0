/* job_write.c - writes a simulated job (job.h) to files: Kineto JSON for each rank, or an XLA XSpace for each host. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "job.h"

const int64_t JOB_EPOCH_NS = 1789000000000000000;
static const double BEFORE = 5e12; /* us: the time base of the files is this long before the epoch, so that no time is
                                    * negative */

static double reading(const struct job *j, unsigned host, double t) { return BEFORE + job_clock(j, host, t); }

static bool takes_part(const struct job_op *op, unsigned rank) { return job_has(op->members, rank) && !op->lost[rank]; }

/* ---- Kineto ---- */

/* True if the simulation contains two separate jobs, each of which numbers its ranks from 0. */
static bool has_two(const struct job *j) {
  return j->kind == JOB_TWO_JOBS || j->kind == JOB_TWO_PIPELINES || j->kind == JOB_TWO_TPU_JOBS;
}
static unsigned own_rank(const struct job *j, unsigned rank) {
  unsigned half = j->hosts / 2 * j->each;
  return has_two(j) && rank >= half ? rank - half : rank;
}

static void print_members(FILE *f, const struct job *j, uint32_t members) {
  const char *comma = "";
  fputc('[', f);
  for (unsigned r = 0; r < j->ranks; r++) {
    if (!job_has(members, r) || (has_two(j) && own_rank(j, r) != r)) continue;
    fprintf(f, "%s%u", comma, r);
    comma = ", ";
  }
  fputc(']', f);
}

static uint32_t members_of(const struct job *j, unsigned rank, unsigned group) {
  if (j->kind == JOB_CROWD) return JOB_ALL;
  uint32_t host = (uint32_t)((1ull << j->each) - 1) << job_host(j, rank) * j->each;
  uint32_t all = (uint32_t)((1ull << j->ranks) - 1), place = 0;
  for (unsigned h = 0; h < j->hosts; h++) place |= 1u << (h * j->each + rank % j->each);
  return group == 0 ? all : group == 1 ? host : place;
}

static void print_head(FILE *f, const struct job *j, unsigned rank) {
  fprintf(f, "{\"schemaVersion\":1,\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":%u,\"world_size\":%u", own_rank(j, rank),
          j->ranks);
  if (j->members_known || j->way_of_names % 3 == 2) {
    fputs(",\"pg_config\":[", f);
    for (unsigned g = 0; g < (j->kind == JOB_CROWD ? 1 : 3); g++) {
      fprintf(f, "%s{\"pg_name\":\"%u\",\"ranks\":%s", g ? "," : "", g, j->members_known ? "" : "\"");
      print_members(f, j, members_of(j, rank, g));
      fputs(j->members_known ? "}" : "\"}", f);
    }
    fputc(']', f);
  }
  fprintf(f, "},\"baseTimeNanoseconds\":%lld,\"traceEvents\":[\n", (long long)(JOB_EPOCH_NS - (int64_t)(BEFORE * 1000)));
  fprintf(f, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"tid\":0,\"args\":{\"name\":\"python\"}}", 1000 + rank);
}

/* Prints microseconds with three decimals, whatever the locale of the process. */
static void print_us(FILE *f, const char *key, double us) {
  long long ns = llround(us * 1000), size = ns < 0 ? -ns : ns;
  fprintf(f, "\"%s\":%s%lld.%03lld", key, ns < 0 ? "-" : "", size / 1000, size % 1000);
}

static void print_span(FILE *f, const struct job *j, unsigned rank, double start, double end) {
  double from = reading(j, job_host(j, rank), start), to = reading(j, job_host(j, rank), end);
  print_us(f, "ts", from);
  fputc(',', f);
  print_us(f, "dur", fmax(to - from, 0.001));
}

static void print_steps(FILE *f, struct job *j, unsigned rank) {
  unsigned host = job_host(j, rank), job = has_two(j) && host >= j->hosts / 2;
  double ahead = j->ahead[host], next = ahead * job_uniform(j);
  for (unsigned s = 0; j->marked && s < j->steps; s++) {
    double early = next;
    int number = (int)s + 7 + j->step_shift[host];
    next = ahead * job_uniform(j);
    if (j->kind == JOB_DISJOINT && (host == 0) != (s < j->steps / 2)) continue;
    fprintf(f, ",\n{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%d\",\"pid\":%u,\"tid\":1,", number, 1000 + rank);
    print_span(f, j, rank, j->begin[job][s] - early, fmax(j->begin[job][s + 1] - next, j->begin[job][s] - early + 1));
    fputc('}', f);
    if (j->kind == JOB_CPU_STEPS) continue;
    fprintf(f, ",\n{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"ProfilerStep#%d\",\"pid\":0,\"tid\":20,", number);
    print_span(f, j, rank, j->begin[job][s], j->begin[job][s + 1] - 0.5);
    fputc('}', f);
  }
}

static const char *kernel_of(const struct job_op *op) {
  static const char *const barriers[] = {"AllReduce_Sum_bf16_RING_LL", "AllGather_RING_LL", "ReduceScatter_Sum_bf16_RING_LL"};
  static const char *const others[] = {[JOB_BROADCAST] = "Broadcast_RING_LL", [JOB_REDUCE] = "Reduce_Sum_bf16_RING_LL",
                                       [JOB_SEND_RECV] = "SendRecv"};
  return op->class ? others[op->class] : barriers[op->name];
}

static void print_message(FILE *f, const struct job *j, const struct job_op *op, unsigned rank) {
  unsigned other = own_rank(j, (unsigned)__builtin_ctz(op->members & ~(1u << rank)));
  bool sends = rank == op->size;
  fprintf(f, ",\"Collective name\":\"%s\",\"In msg nelems\":8192,\"Out msg nelems\":8192,\"Group size\":2,\"dtype\":\"BFloat16\","
          "\"Process Group Name\":\"0\",\"Process Group Description\":\"pp\",\"%s\":%u", sends ? "send" : "recv",
          sends ? "Dst Rank" : "Src Rank", other);
}

static unsigned size_of(const struct job *j, const struct job_op *op) {
  return op->members == JOB_ALL ? j->ranks : (unsigned)__builtin_popcount(op->members);
}

static void print_args(FILE *f, const struct job *j, const struct job_op *op) {
  static const char *const names[] = {"allreduce", "_allgather_base", "_reduce_scatter_base"};
  fprintf(f, ",\"Collective name\":\"%s\",\"In msg nelems\":%u,\"Out msg nelems\":%u,\"Group size\":%u,\"dtype\":\"BFloat16\","
          "\"Process Group Name\":\"%u\"", names[op->name], op->size, op->size, size_of(j, op), op->group);
  if (j->members_known || j->way_of_names % 3 == 0) {
    fputs(",\"Process Group Ranks\":\"", f);
    if (j->members_known) print_members(f, j, op->members);
    else fprintf(f, "[%d, ..., ...]", __builtin_ctz(op->members));
    fputc('"', f);
  }
  if (j->numbered) fprintf(f, ",\"Seq\":%u", op->seq);
}

/* Prints a kernel, and the call that launched it. */
static void print_kernel(FILE *f, const struct job *j, const struct job_op *op, unsigned rank, unsigned id) {
  double launched = op->start[rank] - 30 - j->ahead[job_host(j, rank)];
  fprintf(f, ",\n{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernelExC\",\"pid\":%u,\"tid\":1,", 1000 + rank);
  print_span(f, j, rank, launched, launched + 5);
  fprintf(f, ",\"args\":{\"correlation\":%u}},\n{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":"
          "\"ncclDevKernel_%s(ncclDevKernelArgsStorage<4096ul>)\",\"pid\":0,\"tid\":20,", id, kernel_of(op));
  print_span(f, j, rank, op->start[rank], op->end[rank]);
  fprintf(f, ",\"args\":{\"correlation\":%u,\"stream\":20", id);
  if (j->args && op->class == JOB_SEND_RECV && op->group == 3) print_message(f, j, op, rank);
  else if (j->args && !op->class) print_args(f, j, op);
  fputs("}}", f);
}

static bool write_kineto(struct job *j, unsigned rank, const char *path) {
  FILE *f = fopen(path, "w");
  if (!f) return false;
  print_head(f, j, rank);
  print_steps(f, j, rank);
  for (size_t i = 0; i < j->n_ops; i++)
    if (takes_part(&j->ops[i], rank)) print_kernel(f, j, &j->ops[i], rank, (unsigned)i + 1);
  fputs("\n]}\n", f);
  return fclose(f) == 0;
}

/* ---- XSpace ---- */

/* A message under construction with its buffer: hand-written proto3. */
struct message {
  size_t n;
  uint8_t *v;
};
#define SMALL ((struct message){0, (uint8_t[512]){0}})

static void put_varint(struct message *m, uint64_t v) {
  for (; v > 127; v >>= 7) m->v[m->n++] = (uint8_t)(v | 128);
  m->v[m->n++] = (uint8_t)v;
}
static void put_number(struct message *m, unsigned field, uint64_t v) {
  put_varint(m, field << 3);
  put_varint(m, v);
}
static void put_bytes(struct message *m, unsigned field, const void *p, size_t n) {
  put_varint(m, field << 3 | 2);
  put_varint(m, n);
  memcpy(m->v + m->n, p, n);
  m->n += n;
}
static void put_text(struct message *m, unsigned field, const char *text) { put_bytes(m, field, text, strlen(text)); }

enum { STAT_RUN = 1, STAT_START = 2, MODULE = 900 };

static void put_stat(struct message *to, unsigned field, unsigned stat, uint64_t v) {
  struct message m = SMALL;
  put_number(&m, 1, stat);
  put_number(&m, 3, v);
  put_bytes(to, field, m.v, m.n);
}

/* Adds an entry of a map from ids to metadata with a name. */
static void put_name(struct message *to, unsigned field, unsigned id, const char *name) {
  struct message entry = SMALL, meta = SMALL;
  put_number(&meta, 1, id);
  put_text(&meta, 2, name);
  put_number(&entry, 1, id);
  put_bytes(&entry, 2, meta.v, meta.n);
  put_bytes(to, field, entry.v, entry.n);
}

struct profile {
  const struct job *j;
  unsigned rank;
  double zero; /* the clock's reading when the profile began */
};

static void put_event(struct message *line, const struct profile *p, unsigned id, double from, double to, int64_t run) {
  struct message m = SMALL;
  unsigned host = job_host(p->j, p->rank);
  double start = reading(p->j, host, from) - p->zero, end = reading(p->j, host, to) - p->zero;
  put_number(&m, 1, id);
  put_number(&m, 2, (uint64_t)(start * 1e6));
  put_number(&m, 3, (uint64_t)((end - start) * 1e6));
  if (run >= 0) put_stat(&m, 4, STAT_RUN, (uint64_t)run);
  put_bytes(line, 4, m.v, m.n);
}

static bool has_step(const struct profile *p, unsigned step) {
  for (size_t i = 0; i < p->j->n_ops; i++)
    if (p->j->ops[i].step == (int)step && takes_part(&p->j->ops[i], p->rank)) return true;
  return false;
}

static void put_modules(struct message *plane, const struct profile *p) {
  static uint8_t room[1 << 17];
  struct message line = {0, room};
  const double *begin = p->j->begin[has_two(p->j) && job_host(p->j, p->rank) >= p->j->hosts / 2];
  put_number(&line, 1, 1);
  put_text(&line, 2, "XLA Modules");
  for (unsigned s = 0; s < p->j->steps; s++)
    if (has_step(p, s))
      put_event(&line, p, MODULE, begin[s], begin[s + 1] - 1, p->j->numbered ? (int64_t)(s + 3 + p->rank * 5) : -1);
  put_bytes(plane, 3, line.v, line.n);
}

static void put_ops(struct message *plane, const struct profile *p) {
  static uint8_t room[1 << 17];
  struct message line = {0, room};
  put_number(&line, 1, 2);
  put_text(&line, 2, "XLA Ops");
  for (size_t i = 0; i < p->j->n_ops; i++) {
    const struct job_op *op = &p->j->ops[i];
    if (op->group == 0 && takes_part(op, p->rank)) put_event(&line, p, op->layer + 1, op->start[p->rank], op->end[p->rank], -1);
  }
  put_bytes(plane, 3, line.v, line.n);
}

static void put_plane(struct message *space, const struct profile *p) {
  static uint8_t room[1 << 18];
  struct message plane = {0, room};
  char text[256];
  put_number(&plane, 1, p->rank + 2);
  snprintf(text, sizeof text, "/device:TPU:%u", p->rank % p->j->each);
  put_text(&plane, 2, text);
  put_modules(&plane, p);
  put_ops(&plane, p);
  for (unsigned i = 1; i <= 128; i++) {
    snprintf(text, sizeof text, "%%all-reduce.%u = f32[8]{0} all-reduce(f32[8]{0} %%p.%u), replica_groups={}, to_apply=%%add", i, i);
    put_name(&plane, 4, i, text);
  }
  put_name(&plane, 4, MODULE, "jit_step(12190760917235803885)");
  put_name(&plane, 5, STAT_RUN, "run_id");
  put_bytes(space, 1, plane.v, plane.n);
}

static bool write_xspace(const struct job *j, unsigned host, const char *path) {
  static uint8_t room[1 << 20];
  struct message space = {0, room};
  struct message environment = SMALL;
  FILE *f = fopen(path, "wb");
  if (!f) return false;
  struct profile p = {.j = j, .zero = floor(reading(j, host, (has_two(j) && host >= j->hosts / 2 ? j->begin[1][0] : 0) - 500))};
  for (unsigned g = 0; g < j->each; g++) {
    p.rank = host * j->each + g;
    put_plane(&space, &p);
  }
  put_text(&environment, 2, "Task Environment");
  put_name(&environment, 5, STAT_START, "profile_start_time");
  put_stat(&environment, 6, STAT_START, (uint64_t)(JOB_EPOCH_NS + (int64_t)((p.zero - BEFORE) * 1000)));
  put_bytes(&space, 1, environment.v, environment.n);
  bool ok = fwrite(space.v, 1, space.n, f) == space.n;
  return fclose(f) == 0 && ok;
}

/* ---- files ---- */

unsigned job_write(struct job *j, const char *folder, char paths[JOB_CROWDED][256]) {
  unsigned n = j->xla ? j->hosts : j->ranks;
  for (unsigned i = 0; i < n; i++) {
    unsigned host = j->xla ? i : job_host(j, i);
    if (j->xla) snprintf(paths[i], 256, "%s/node%u.xplane.pb", folder, host);
    else if (!j->named) snprintf(paths[i], 256, "%s/input%u.json", folder, i);
    else if (j->kind == JOB_ONE_NAME && host < 2) snprintf(paths[i], 256, "%s/localhost_%u.1.pt.trace.json", folder, 100 + i);
    else snprintf(paths[i], 256, "%s/node%u_%u.1.pt.trace.json", folder, host, 100 + i);
    if (!(j->xla ? write_xspace(j, host, paths[i]) : write_kineto(j, i, paths[i]))) return 0;
  }
  return n;
}
