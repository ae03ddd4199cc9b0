/* counters.c - samples of GPU metrics, and the memory in use on each device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "graph/args.h"
#include "counters.h"
#include "texts.h"
#include "tracks.h"

static void add_sample(struct nsys *r, tk_id track, tk_time ts, tk_id series, const struct cell *value) {
  args_begin(r->d.t);
  if (value->type == CELL_REAL) args_double(r->d.t, series, value->d);
  else args_int(r->d.t, series, value->i);
  struct tk_event *e = trace_add_event(r->d.t);
  *e = (struct tk_event){.ts = ts, .kind = TK_COUNTER, .track = track, .args = args_end(r->d.t)};
  e->cls = trace_class(r->d.t, r->d.t->tracks[track].name, 0);
}

/* ---- metrics ---- */

struct metrics {
  struct nsys *r;
  struct map names;   /* type and metric -> string */
  struct map tracks;  /* the same -> counter track */
  struct map devices; /* number -> process track */
};

enum metric_column { M_TYPE, M_ID, M_NAME, M_TIME = M_NAME, M_VALUE };

static uint64_t metric_key(const struct sqlite_scan *row) { return hash_pair((uint64_t)row->v[M_TYPE].i, (uint64_t)row->v[M_ID].i); }

static void take_metric_name(const struct sqlite_scan *row, void *arg) {
  struct metrics *m = arg;
  if (row->v[M_NAME].type == CELL_TEXT) map_put(&m->names, metric_key(row), texts_of(m->r, &row->v[M_NAME]));
}

/* The low byte of a type is the number of the GPU. */
static tk_id metrics_process(struct metrics *m, int64_t type) {
  char name[48];
  uint32_t *known = map_put(&m->devices, (uint64_t)type & 0xff, 0);
  if (!known || *known) return known ? *known : 0;
  snprintf(name, sizeof name, "metrics of GPU %d", (int)(type & 0xff));
  return *known = tracks_add_process(m->r, name);
}

static tk_id metric_track(struct metrics *m, const struct sqlite_scan *row) {
  struct tk_trace *t = m->r->d.t;
  uint32_t *known = map_put(&m->tracks, metric_key(row), 0);
  if (!known || *known) return known ? *known : 0;
  const tk_id process = metrics_process(m, row->v[M_TYPE].i);
  const uint32_t *name = map_get(&m->names, metric_key(row));
  *known = trace_track(t, TK_COUNTERS, t->tracks[process].pid, ident_none(), name ? *name : trace_text(t, "unnamed metric"));
  return *known;
}

static void take_metric(const struct sqlite_scan *row, void *arg) {
  struct metrics *m = arg;
  const struct cell *value = &row->v[M_VALUE];
  tk_time ts;
  const bool is_number = value->type == CELL_INT || value->type == CELL_REAL;
  if (is_number && nsys_time(m->r, &row->v[M_TIME], &ts)) add_sample(m->r, metric_track(m, row), ts, KEY_COUNTER_VALUE, value);
  else trace_note(m->r->d.t, TK_NOTE_REPAIR, UINT64_MAX, "samples without a time or a value: skipped");
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

/* An allocation or its end. Rows come in any order, and the sum needs that of time. */
struct change {
  tk_time ts;
  int64_t bytes;
  tk_id track;
};

enum memory_column { MEM_TIME, MEM_PROCESS, MEM_DEVICE, MEM_BYTES, MEM_OPERATION };

struct changes {
  struct nsys *r;
  struct buf all; /* of struct change */
};

static void take_change(const struct sqlite_scan *row, void *arg) {
  struct changes *to = arg;
  struct nsys *r = to->r;
  enum { DEALLOCATION = 1 }; /* ENUM_CUDA_DEV_MEM_EVENT_OPER */
  struct change c = {.bytes = row->v[MEM_BYTES].i};
  if (!nsys_time(r, &row->v[MEM_TIME], &c.ts)) return;
  const tk_id device = tracks_device(r, nsys_process_of(row->v[MEM_PROCESS].i), row->v[MEM_DEVICE].i);
  c.track = trace_track(r->d.t, TK_COUNTERS, r->d.t->tracks[device].pid, ident_none(), trace_text(r->d.t, "memory in use"));
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
    add_sample(r, v[i].track, v[i].ts, series, &(struct cell){.type = CELL_INT, .i = sum});
  }
  buf_free(&changes.all);
  return ok;
}

bool counters_read(struct nsys *r) { return read_metrics(r) && read_memory(r); }
