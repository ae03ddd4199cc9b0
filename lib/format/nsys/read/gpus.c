/* gpus.c - reads TARGET_INFO_GPU, which describes the GPUs of the machine.
 *
 * Events contain the number that CUDA gave to a GPU in their process; it depends on CUDA_VISIBLE_DEVICES. Reports since 2024 state
 * the GPU for each process and number (TARGET_INFO_CUDA_DEVICE). In older ones it is the GPU that has this number outside of the
 * process (cuDevice), which is certain only if all GPUs have the same name. */
#include "gpus.h"

#include "base/num.h"
#include "format/json.h"
#include "graph/keys.h"
#include "texts.h"

enum { ID, ORDINAL, NAME, FIRST_NUMBER };

/* Columns, and the keys of Kineto for the numbers. */
static const char *const COLUMNS[] = {
    "id", "cuDevice", "name", "totalMemory", "smCount", "computeMajor", "computeMinor", "maxThreadsPerBlock", "threadsPerWarp",
    "maxRegistersPerSm", "maxShmemPerSm", "maxRegistersPerBlock", "maxShmemPerBlock", NULL};
static const char *const KEYS[] = {
    "totalGlobalMem", "numSms", "computeMajor", "computeMinor", "maxThreadsPerBlock", "warpSize",
    "regsPerMultiprocessor", "sharedMemPerMultiprocessor", "regsPerBlock", "sharedMemPerBlock"};
enum { N_NUMBERS = sizeof KEYS / sizeof *KEYS };

struct gpu {
  int64_t id, ordinal;
  tk_id name;
  struct cell numbers[N_NUMBERS];
};

struct gpus {
  struct nsys *r;
  struct buf all;     /* array of struct gpu */
  struct map visible; /* process id and number of the device -> id of the GPU + 1 */
};

static void take_gpu(const struct sqlite_scan *row, void *arg) {
  struct gpus *g = arg;
  struct gpu gpu = {.id = row->v[ID].type == CELL_INT ? row->v[ID].i : -1};
  gpu.ordinal = row->v[ORDINAL].type == CELL_INT ? row->v[ORDINAL].i : gpu.id;
  gpu.name = texts_of(g->r, &row->v[NAME]);
  for (unsigned i = 0; i < N_NUMBERS; i++)
    if (row->v[FIRST_NUMBER + i].type == CELL_INT) gpu.numbers[i] = row->v[FIRST_NUMBER + i];
  if (gpu.name) buf_append(&g->all, &gpu, sizeof gpu);
}

static void take_visible(const struct sqlite_scan *row, void *arg) {
  struct gpus *g = arg;
  if (row->v[0].type != CELL_INT || row->v[1].type != CELL_INT || row->v[2].type != CELL_INT) return;
  map_put(&g->visible, hash_pair((uint64_t)row->v[2].i, (uint64_t)row->v[1].i), (uint32_t)row->v[0].i + 1);
}

static bool have_one_name(const struct gpu *v, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (v[i].name != v[0].name) return false;
  return n > 0;
}

/* Returns the GPU of a device; NULL if it is not certain. */
static const struct gpu *find_gpu(const struct gpus *g, const struct nsys_device *d) {
  const struct gpu *v = (const struct gpu *)(const void *)g->all.data;
  const size_t n = g->all.len / sizeof *v;
  const uint32_t *visible = map_get(&g->visible, hash_pair((uint64_t)nsys_pid(d->process), (uint64_t)d->device));
  if (!visible && (g->visible.n || !have_one_name(v, n))) return NULL;
  for (size_t i = 0; i < n; i++)
    if (visible ? v[i].id == (int64_t)*visible - 1 : v[i].ordinal == d->device) return &v[i];
  return visible || !n ? NULL : v;
}

static void put_size(struct buf *b, const char *key, int64_t value) {
  char text[24];
  buf_text(b, ",\"");
  buf_text(b, key);
  buf_text(b, "\":");
  buf_append(b, text, num_put_i64(text, value));
}

/* Appends {"id":PID,"name":"NVIDIA H100 80GB HBM3","totalGlobalMem":...}. */
static void put_gpu(struct buf *b, const struct tk_trace *t, const struct nsys_device *d, const struct gpu *gpu) {
  const struct intern_str *name = trace_str(t, gpu->name);
  char id[24];
  if (t->tracks[d->track].pid.kind != TK_IDENT_INT) return;
  buf_text(b, b->len ? ",{\"id\":" : "[{\"id\":");
  buf_append(b, id, num_put_i64(id, t->tracks[d->track].pid.num));
  buf_text(b, ",\"name\":");
  json_quote(b, (const char *)name->bytes, name->len);
  for (unsigned i = 0; i < N_NUMBERS; i++)
    if (gpu->numbers[i].type == CELL_INT) put_size(b, KEYS[i], gpu->numbers[i].i);
  buf_text(b, "}");
}

static void add_properties(struct gpus *g) {
  struct tk_trace *t = g->r->d.t;
  struct buf text = {.mem = &t->store->mem}, *raw = &t->store->raw;
  const struct nsys_device *v = (const struct nsys_device *)(const void *)g->r->used.data;
  for (size_t i = 0; i < g->r->used.len / sizeof *v; i++) {
    const struct gpu *gpu = find_gpu(g, &v[i]);
    if (gpu) put_gpu(&text, t, &v[i], gpu);
  }
  if (text.len && buf_text(&text, "]")) {
    *trace_add_meta(t) = (struct tk_meta){.key = trace_text(t, "deviceProperties"), .at = raw->len, .size = text.len};
    buf_append(raw, text.data, text.len);
    trace_end_raw(t);
  }
  buf_free(&text);
}

bool gpus_read(struct nsys *r) {
  static const char *const VISIBLE[] = {"gpuId", "cudaId", "pid", NULL};
  struct mem *mem = &r->d.t->store->mem;
  struct gpus g = {.r = r, .all = {.mem = mem}};
  map_init(&g.visible, mem);
  const bool ok = database_each(&r->d, "TARGET_INFO_GPU", COLUMNS, take_gpu, &g) &&
                  database_each(&r->d, "TARGET_INFO_CUDA_DEVICE", VISIBLE, take_visible, &g);
  if (ok) add_properties(&g);
  map_free(&g.visible);
  buf_free(&g.all);
  return ok;
}
