/* ranks.c - finds the ranks of a report that covers several processes with GPUs.
 *
 * A process that ran a kernel is a rank. MPI_RANKS states the numbers of MPI processes; otherwise, processes are numbered in
 * the order of their GPUs. A process may see its only GPU as number 0, so the number of the machine's GPU is used if a table
 * has it.
 *
 * If each rank was profiled by itself, its report has one such process. The rank is then the one in MPI_RANKS, or in the environment
 * of the process that the profiler started: there, the launcher of the job stores the rank and the number of ranks. */
#include "ranks.h"

#include <string.h>

#include "base/err.h"
#include "reader.h"

/* Environment variables of launchers. */
static const struct launcher_row {
  const char *rank, *size;
} LAUNCHERS[] = {
    {"RANK", "WORLD_SIZE"},                           /* torch.distributed.run, Accelerate, DeepSpeed */
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI's mpirun */
    {"PMI_RANK", "PMI_SIZE"},                         /* MPICH, Intel MPI, Cray MPI */
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},   /* MVAPICH2 */
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"},     /* IBM's jsrun */
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},         /* Slurm's srun */
};
enum { N_LAUNCHERS = sizeof LAUNCHERS / sizeof *LAUNCHERS };

struct ranks {
  struct parts *parts;
  int64_t process; /* process of the first stream */
  bool several;    /* true if streams belong to several processes, or there is no table of streams */
  int64_t stated;  /* rank in MPI_RANKS; -1 = none, -2 = several */
  int64_t launched[N_LAUNCHERS], sizes[N_LAUNCHERS]; /* in the environment, by launcher; -1 = none, -2 = several */
};

static void take_stream(const struct sqlite_scan *row, void *arg) {
  struct ranks *k = arg;
  if (row->v[0].type != CELL_INT) return;
  if (k->process < 0) k->process = row->v[0].i;
  else if (row->v[0].i != k->process) k->several = true;
}

static void take_work(const struct sqlite_scan *row, void *arg) {
  struct ranks *k = arg;
  if (row->v[0].type == CELL_INT) parts_use(k->parts, nsys_pid(nsys_process_of(row->v[0].i)), row->v[1].i);
}

/* Replaces the number that a process gives to a GPU with the number that the machine gives to it. Numbers of the machine are stored
 * as negative numbers until all rows are read, so that no number is replaced twice. */
static void take_device(const struct sqlite_scan *row, void *arg) {
  struct ranks *k = arg;
  struct parts_item *p = row->v[2].type == CELL_INT ? parts_find(k->parts, row->v[2].i) : NULL;
  if (p && row->v[0].type == CELL_INT && row->v[0].i >= 0 && p->device >= 0 && row->v[1].i == p->device) p->device = ~row->v[0].i;
}

/* Stores a number; -2 if another number was stored before. */
static void store_number(int64_t *to, int64_t v) {
  if (v >= 0) *to = *to == -1 || *to == v ? v : -2;
}

static void take_rank(const struct sqlite_scan *row, void *arg) {
  struct ranks *k = arg;
  struct parts_item *p = row->v[0].type == CELL_INT ? parts_find(k->parts, nsys_pid(nsys_process_of(row->v[0].i))) : NULL;
  if (row->v[1].type != CELL_INT || row->v[1].i < 0) return;
  store_number(&k->stated, row->v[1].i);
  if (!p) return;
  p->rank = row->v[1].i;
  k->parts->rank_from = "MPI_RANKS";
}

/* Returns the number that the text NAME=NUMBER assigns to a variable; -1 if it assigns none. */
static int64_t variable_of(const struct cell *text, const char *name) {
  const size_t n = strlen(name);
  int64_t v = 0;
  if (text->type != CELL_TEXT || text->n <= n + 1 || text->n > n + 10 || memcmp(text->p, name, n) != 0 || text->p[n] != '=') return -1;
  for (size_t i = n + 1; i < text->n; i++) {
    if (text->p[i] < '0' || text->p[i] > '9') return -1;
    v = 10 * v + (text->p[i] - '0');
  }
  return v;
}

/* Takes the variables of launchers. Other variables are not used, because they may contain secrets. */
static void take_variable(const struct sqlite_scan *row, void *arg) {
  struct ranks *k = arg;
  static const char END[] = ":ENVIRONMENT_VARIABLE";
  const struct cell *name = &row->v[0];
  const size_t end = sizeof END - 1;
  if (name->type != CELL_TEXT || name->n < end || memcmp(name->p + name->n - end, END, end) != 0) return;
  for (size_t i = 0; i < N_LAUNCHERS; i++) {
    store_number(&k->launched[i], variable_of(&row->v[1], LAUNCHERS[i].rank));
    store_number(&k->sizes[i], variable_of(&row->v[1], LAUNCHERS[i].size));
  }
}

/* Returns the rank on which all launchers with several ranks agree; -1 if there is none. A launcher may start another one. */
static int64_t launched_rank(const struct ranks *k) {
  int64_t rank = -1;
  for (size_t i = 0; i < N_LAUNCHERS; i++) {
    if (k->launched[i] < 0 || k->sizes[i] < 2 || k->launched[i] >= k->sizes[i]) continue;
    if (rank >= 0 && rank != k->launched[i]) return -1;
    rank = k->launched[i];
  }
  return rank;
}

/* Finds the rank of a report that is not divided into several ranks. */
static bool find_rank(struct database *d, struct ranks *k) {
  static const char *const VARIABLE[] = {"name", "value", NULL};
  const bool is_mpi = k->stated != -1;
  if (k->parts->n > 1) return true;
  if (!is_mpi && !database_each(d, "META_DATA_CAPTURE", VARIABLE, take_variable, k)) return false;
  k->parts->rank = is_mpi ? k->stated : launched_rank(k);
  if (k->parts->rank < 0) k->parts->rank = -1;
  else k->parts->rank_from = is_mpi ? "MPI_RANKS" : "environment";
  return true;
}

/* Takes the host's name from the description of the system. Other rows are not used, because they contain the environment of
 * the job. */
static void take_host(const struct sqlite_scan *row, void *arg) {
  struct ranks *k = arg;
  static const char NAME[] = "Hostname";
  const struct cell *name = &row->v[0], *value = &row->v[1];
  if (name->type != CELL_TEXT || name->n != sizeof NAME - 1 || memcmp(name->p, NAME, name->n) != 0) return;
  if (value->type != CELL_TEXT || value->n >= sizeof k->parts->host || memchr(value->p, 0, value->n)) return;
  memcpy(k->parts->host, value->p, value->n);
  k->parts->host[value->n] = 0;
}

static bool find_processes(struct database *d, struct ranks *k) {
  static const char *const STREAM[] = {"processId", NULL}, *const WORK[] = {"globalPid", "deviceId", NULL};
  static const char *const DEVICE[] = {"gpuId", "cudaId", "pid", NULL};
  if (!database_each(d, "TARGET_INFO_CUDA_STREAM", STREAM, take_stream, k)) return false;
  if (k->process >= 0 && !k->several) return true;
  if (!database_each(d, "CUPTI_ACTIVITY_KIND_KERNEL", WORK, take_work, k) ||
      !database_each(d, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", WORK, take_work, k) ||
      !database_each(d, "TARGET_INFO_CUDA_DEVICE", DEVICE, take_device, k))
    return false;
  for (uint32_t i = 0; i < k->parts->n; i++)
    if (k->parts->v[i].device < 0) k->parts->v[i].device = ~k->parts->v[i].device;
  return true;
}

static bool find_names(struct database *d, struct ranks *k) {
  static const char *const RANK[] = {"globalTid", "rank", NULL}, *const HOST[] = {"name", "value", NULL};
  return database_each(d, "MPI_RANKS", RANK, take_rank, k) && database_each(d, "TARGET_INFO_SYSTEM_ENV", HOST, take_host, k);
}

bool nsys_ranks(struct in *in, struct parts *parts, struct tk_err *err) {
  static const struct tk_load_options defaults = {0};
  struct tk_trace *t = trace_new(parts->mem->limit);
  struct ranks k = {.parts = parts, .process = -1, .stated = -1};
  struct database d;
  if (!t) return err_set(err, TK_ELIMIT, "out of memory");
  for (size_t i = 0; i < N_LAUNCHERS; i++) k.launched[i] = k.sizes[i] = -1;
  bool ok = database_open(&d, in, t, &defaults, err);
  if (ok) {
    ok = find_processes(&d, &k) && find_names(&d, &k) && find_rank(&d, &k);
    database_close(&d);
  }
  tk_free(t);
  if (parts->n > 1) parts_sort(parts);
  return ok;
}
