/* ranks.c - finds the ranks of a report that covers several processes with GPUs.
 *
 * A process that ran a kernel is a rank. MPI_RANKS states the numbers of MPI processes; otherwise, processes are numbered in
 * the order of their GPUs. A process may see its only GPU as number 0, so the number of the machine's GPU is used if a table
 * has it. */
#include "ranks.h"

#include <string.h>

#include "base/err.h"
#include "reader.h"

struct ranks {
  struct parts *parts;
  int64_t process; /* process of the first stream */
  bool several;    /* true if streams belong to several processes, or there is no table of streams */
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

static void take_rank(const struct sqlite_scan *row, void *arg) {
  struct ranks *k = arg;
  struct parts_item *p = row->v[0].type == CELL_INT ? parts_find(k->parts, nsys_pid(nsys_process_of(row->v[0].i))) : NULL;
  if (!p || row->v[1].type != CELL_INT || row->v[1].i < 0) return;
  p->rank = row->v[1].i;
  k->parts->rank_from = "MPI_RANKS";
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
  struct ranks k = {.parts = parts, .process = -1};
  struct database d;
  if (!t) return err_set(err, TK_ELIMIT, "out of memory");
  bool ok = database_open(&d, in, t, &defaults, err);
  if (ok) {
    ok = find_processes(&d, &k) && find_names(&d, &k);
    database_close(&d);
  }
  tk_free(t);
  parts_sort(parts);
  return ok;
}
