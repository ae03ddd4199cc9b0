/* counters.c - reads samples of GPU metrics, and computes the memory in use on each device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "graph/args.h"
#include "counters.h"
#include "texts.h"
#include "tracks.h"

/* ---- metrics ---- */

struct metrics {
  struct nsys *r;
  struct map names;   /* type and metric -> string id of the name */
  struct map tracks;  /* type and metric -> counter track */
  struct map devices; /* number of the GPU -> process track */
};

enum metric_column { M_TYPE, M_ID, M_NAME, M_TIME = M_NAME, M_VALUE };

static uint64_t metric_key(const struct sqlite_scan *row) { return hash_pair((uint64_t)row->v[M_TYPE].i, (uint64_t)row->v[M_ID].i); }

static void take_metric_name(const struct sqlite_scan *row, void *arg) {
  struct metrics *m = arg;
  if (row->v[M_NAME].type == CELL_TEXT) map_put(&m->names, metric_key(row), texts_of(m->r, &row->v[M_NAME]));
}

/* Returns the process for the metrics of a GPU. The low byte of `type` is the number of the GPU. */
static tk_id metrics_process(struct metrics *m, int64_t type) {
  char name[48];
  uint32_t *known = map_put(&m->devices, (uint64_t)type & 0xff, 0);
  if (!known || *known) return known ? *known : 0;
  snprintf(name, sizeof name, "metrics of GPU %d", (int)(type & 0xff));
  return *known = database_add_process(&m->r->d, name);
}

static tk_id metric_track(struct metrics *m, const struct sqlite_scan *row) {
  struct database *d = &m->r->d;
  uint32_t *known = map_put(&m->tracks, metric_key(row), 0);
  if (!known || *known) return known ? *known : 0;
  const tk_id process = metrics_process(m, row->v[M_TYPE].i);
  const uint32_t *name = map_get(&m->names, metric_key(row));
  return *known = database_counter(d, process, name ? *name : trace_text(d->t, "unnamed metric"));
}

static void take_metric(const struct sqlite_scan *row, void *arg) {
  struct metrics *m = arg;
  struct database *d = &m->r->d;
  const struct cell *value = &row->v[M_VALUE];
  tk_time ts;
  const bool is_number = value->type == CELL_INT || value->type == CELL_REAL;
  if (!is_number || !database_time(d, &row->v[M_TIME], &ts)) {
    trace_note(d->t, TK_NOTE_REPAIR, UINT64_MAX, "samples without a time or a value: skipped");
    return;
  }
  const tk_id track = metric_track(m, row);
  args_begin(d->t);
  database_arg(d, KEY_COUNTER_VALUE, value);
  database_sample(d, track, ts);
}

static bool read_metrics(struct nsys *r) {
  static const char *const NAMES[] = {"typeId", "metricId", "metricName", NULL};
  static const char *const VALUES[] = {"typeId", "metricId", "timestamp", "value", NULL};
  struct mem *mem = &r->d.t->store->mem;
  struct metrics m = {.r = r};
  map_init(&m.names, mem);
  map_init(&m.tracks, mem);
  map_init(&m.devices, mem);
  const bool ok = database_each(&r->d, "TARGET_INFO_GPU_METRICS", NAMES, take_metric_name, &m) &&
    database_each(&r->d, "GPU_METRICS", VALUES, take_metric, &m);
  map_free(&m.names);
  map_free(&m.tracks);
  map_free(&m.devices);
  return ok;
}

/* ---- memory ---- */

/* An allocation or its end. Rows may be in any order; for the sum they must be sorted by time. */
struct change {
  tk_time ts;
  int64_t bytes;
  tk_id track;
};

enum memory_column { MEM_TIME, MEM_PROCESS, MEM_DEVICE, MEM_BYTES, MEM_OPERATION };

struct changes {
  struct nsys *r;
  struct buf all; /* array of struct change */
};

static void take_change(const struct sqlite_scan *row, void *arg) {
  struct changes *to = arg;
  struct nsys *r = to->r;
  enum { DEALLOCATION = 1 }; /* value of ENUM_CUDA_DEV_MEM_EVENT_OPER */
  struct change c = {.bytes = row->v[MEM_BYTES].i};
  if (!database_time(&r->d, &row->v[MEM_TIME], &c.ts)) return;
  const tk_id device = tracks_device(r, nsys_process_of(row->v[MEM_PROCESS].i), row->v[MEM_DEVICE].i);
  c.track = database_counter(&r->d, device, trace_text(r->d.t, "memory in use"));
  if (row->v[MEM_OPERATION].i == DEALLOCATION) c.bytes = (int64_t)(0 - (uint64_t)c.bytes);
  buf_append(&to->all, &c, sizeof c);
}

static int by_track_and_time(const void *pa, const void *pb) {
  const struct change *a = pa, *b = pb;
  if (a->track != b->track) return a->track < b->track ? -1 : 1;
  if (a->ts != b->ts) return a->ts < b->ts ? -1 : 1;
  return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

static bool read_memory(struct nsys *r) {
  static const char *const COLUMNS[] = {"start", "globalPid", "deviceId", "bytes", "memoryOperationType", NULL};
  struct changes changes = {r, {.mem = &r->d.t->store->mem}};
  const tk_id series = trace_text(r->d.t, "bytes");
  const bool ok = database_each(&r->d, "CUDA_GPU_MEMORY_USAGE_EVENTS", COLUMNS, take_change, &changes);
  struct change *v = (struct change *)(void *)changes.all.data;
  const size_t n = changes.all.len / sizeof *v;
  int64_t sum = 0;
  if (n) qsort(v, n, sizeof *v, by_track_and_time);
  for (size_t i = 0; i < n; i++) {
    if (i && v[i].track != v[i - 1].track) sum = 0;
    sum = (int64_t)((uint64_t)sum + (uint64_t)v[i].bytes);
    args_begin(r->d.t);
    args_int(r->d.t, series, sum);
    database_sample(&r->d, v[i].track, v[i].ts);
  }
  buf_free(&changes.all);
  return ok;
}

bool counters_read(struct nsys *r) { return read_metrics(r) && read_memory(r); }
