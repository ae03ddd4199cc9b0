/* kineto.c - PyTorch's dialect of Chrome JSON, as libkineto's C++ exporter prints it for a training job on GPUs.
 *
 * Order of the file, as in real ones: metadata, ops of the backward thread, ops of the main thread, Python frames, GPU
 * activities with their runtime calls, GPU annotations, the profiler's own span. Each is one walk over the job.
 *
 * Compared with a real file, the two-rank A100 trace `nccl_data.json.gz` of facebookresearch/HolisticTraceAnalysis
 * (41 thousand events, torch 2.4), and this generator with `--spans 27000 --ranks 8 --no-stack` (as many):
 *
 *                                real    generated                                  real    generated
 *     bytes an event              241          243      kernel names, mean length     262          223
 *     zlib level 6 / level 1  11.9/9.1     11.1/8.2      distinct kernel names          70           58
 *     shapes of args               14           13      distinct strings              224          173
 *     args a span                 4.4          4.9      kernel us, median / p99    16/426       22/499
 *     cpu_op                      35%          33%      cpu_op us, median / p99    42/529       18/125
 *     ac2g                        31%          30%      runtime us, median / p99     2/17         4/14
 *     cuda_runtime                22%          21%      ac2g whole               3774         3951
 *     kernel                     6.7%         8.6%      ac2g with an end only    4878         4348
 *     fwdbwd                     2.7%         6.4%      ac2g with a start only     88           98
 *     gpu_memcpy, gpu_memset     2.7%         1.1%
 *
 * With frames (the default) a third of the events are python_function, as in torch's own traces with_stack; with --memory there
 * are two allocator instants for each op with a kernel. The short layout was used in GPU files until spring 2026; --lines is
 * the layout of torch 2.15, --compact the layout of its Python exporter. */
#include <stdlib.h>
#include <string.h>

#include "kineto.h"

/* ---- layouts -------------------------------------------------------------------------------------------------------- */

enum { SHORT, LINES, COMPACT };

static int layout(const struct kineto *k) { return k->o->compact ? COMPACT : k->o->lines ? LINES : SHORT; }

static int64_t printed(const struct kineto *k, int64_t t) {
  return clock_read(k->o, host_of(k->o, k->o->rank), t) - (k->o->no_base ? 0 : KINETO_BASE);
}

static void begin(struct kineto *k) {
  static const char *const text[2][3] = {{"  {\n", "  {\n", "{"}, {",\n  {\n", ",\n  {\n", ",\n{"}};
  put(text[k->any][layout(k)]);
  k->any = true;
}

/* Prints a field. The separator before it depends on the layout; `line` starts a new line in the short layout. */
static void field(const struct kineto *k, const char *name, bool first, bool line) {
  int l = layout(k);
  if (!first) put(l == COMPACT ? "," : l == LINES ? ",\n    " : line ? ",\n    " : ", ");
  if (first && l != COMPACT) put("    ");
  put("\"");
  put(name);
  put(l == COMPACT ? "\":" : "\": ");
}

static void text_field(const struct kineto *k, const char *name, const char *value, bool first, bool line) {
  field(k, name, first, line);
  put("\"");
  put(value);
  put("\"");
}

static void place(struct kineto *k, struct where w) {
  field(k, "pid", false, false);
  put_i(w.pid);
  field(k, "tid", false, false);
  put_i(w.tid);
}

static void times(struct kineto *k, int64_t start, int64_t end) {
  int64_t a = printed(k, start), b = printed(k, end);
  field(k, "ts", false, true);
  put_us(a);
  field(k, "dur", false, false);
  put_us(b > a ? b - a : 0);
}

static void open_args(struct kineto *k) {
  static const char *const text[] = {",\n    \"args\": {\n      ", "\n    ,\n    \"args\": {\n      ", ",\"args\":{"};
  put(text[layout(k)]);
}

static void close_args(struct kineto *k) { put(layout(k) == COMPACT ? "}}" : "\n    }\n  }"); }

/* Prints an arg's key after the separator `before`, whose spaces are irregular, as in libkineto's exporter. */
void kineto_key(struct kineto *k, const char *before, const char *key) {
  put(layout(k) == COMPACT ? (*before ? "," : "") : before);
  put("\"");
  put(key);
  put(layout(k) == COMPACT ? "\":" : "\": ");
}

void kineto_span(struct kineto *k, const char *cat, const char *name, struct where w, struct span s) {
  begin(k);
  text_field(k, "ph", "X", true, false);
  text_field(k, "cat", cat, false, false);
  text_field(k, "name", name, false, false);
  place(k, w);
  times(k, s.start, s.end);
  open_args(k);
  k->spans++;
}

void kineto_close(struct kineto *k) { close_args(k); }

void kineto_flow(struct kineto *k, char phase, const char *cat, uint64_t id, struct where w, int64_t at) {
  const char ph[2] = {phase, 0};
  begin(k);
  text_field(k, "ph", ph, true, false);
  field(k, "id", false, false);
  put_u(id);
  place(k, w);
  field(k, "ts", false, false);
  put_us(printed(k, at));
  text_field(k, "cat", cat, false, true);
  text_field(k, "name", cat, false, false);
  if (layout(k) == COMPACT)
    put(phase == 'f' ? ",\"bp\":\"e\"}" : "}");
  else if (layout(k) == LINES)
    put(phase == 'f' ? "\n    , \"bp\": \"e\"\n  }" : "\n    \n  }");
  else
    put(phase == 'f' ? ", \"bp\": \"e\"\n  }" : "\n  }");
}

void kineto_memory(struct kineto *k, struct where w, int64_t at, int64_t bytes, uint64_t address) {
  begin(k);
  text_field(k, "ph", "i", true, false);
  text_field(k, "cat", "cpu_instant_event", false, false);
  text_field(k, "s", "t", false, false);
  text_field(k, "name", "[memory]", false, false);
  place(k, w);
  field(k, "ts", false, true);
  put_us(printed(k, at));
  open_args(k);
  kineto_key(k, "", "Total Reserved"), put_u(UINT64_C(25769803776));
  k->allocated += bytes;
  kineto_key(k, ", ", "Total Allocated"), put_i(k->allocated);
  kineto_key(k, ", ", "Bytes"), put_i(bytes);
  kineto_key(k, ", ", "Device Id"), put_i(k->device);
  kineto_key(k, ", ", "Device Type"), put("1");
  kineto_key(k, ", ", "Addr"), put_u(address);
  kineto_key(k, ", ", "finished"), put("false");
  kineto_key(k, ", ", "Ev Idx"), put_u(k->ev_idx++);
  close_args(k);
}

/* ---- head and foot ------------------------------------------------------------------------------------------------------ */

static void metadata(struct kineto *k, const char *name, struct where w, const char *arg, const char *text,
                     int64_t number) {
  begin(k);
  if (layout(k) == SHORT) {
    text_field(k, "name", name, true, false);
    text_field(k, "ph", "M", false, false);
  } else {
    text_field(k, "ph", "M", true, false);
    text_field(k, "name", name, false, false);
  }
  field(k, "ts", false, false);
  put_us(printed(k, 0));
  place(k, w);
  put(layout(k) == COMPACT ? ",\"args\":{" : ",\n    \"args\": {\n      ");
  kineto_key(k, "", arg);
  if (text) put("\"");
  if (text)
    put(text);
  else
    put_i(number);
  if (text) put("\"");
  close_args(k);
}

static void process(struct kineto *k, int64_t pid, const char *labels, int64_t sort) {
  struct where w = {pid, 0};
  metadata(k, "process_name", w, "name", "python3.12", 0);
  metadata(k, "process_labels", w, "labels", labels, 0);
  metadata(k, "process_sort_index", w, "sort_index", NULL, sort);
}

static void thread(struct kineto *k, struct where w, const char *name) {
  metadata(k, "thread_name", w, "name", name, 0);
  metadata(k, "thread_sort_index", w, "sort_index", NULL, w.tid);
}

static void tracks(struct kineto *k) {
  char text[64];
  process(k, k->main.pid, "CPU", k->main.pid);
  for (int i = 0; i < GPUS; i++) {
    snprintf(text, sizeof text, "GPU %d", i);
    process(k, i, text, 5000000 + i);
  }
  snprintf(text, sizeof text, "stream %d ", COMPUTE_STREAM);
  thread(k, (struct where){k->device, COMPUTE_STREAM}, text);
  snprintf(text, sizeof text, "stream %d ", NCCL_STREAM);
  thread(k, (struct where){k->device, NCCL_STREAM}, text);
  snprintf(text, sizeof text, "thread %lld (python3.12)", (long long)k->main.tid);
  thread(k, k->main, text);
  snprintf(text, sizeof text, "thread %lld (pt_autograd_%d)", (long long)k->backward.tid, k->device);
  thread(k, k->backward, text);
}

static void devices(void) {
  put("  \"deviceProperties\": [\n");
  for (int i = 0; i < GPUS; i++) {
    put("    {\n      \"id\": ");
    put_i(i);
    put(", \"name\": \"NVIDIA A100-SXM4-40GB\", \"totalGlobalMem\": 42297524224,\n"
        "      \"computeMajor\": 8, \"computeMinor\": 0,\n"
        "      \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n"
        "      \"regsPerBlock\": 65536, \"warpSize\": 32,\n"
        "      \"sharedMemPerBlock\": 49152, \"numSms\": 108\n"
        "    , \"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": 166912, \"sharedMemPerMultiprocessor\": 167936\n"
        "    }");
    put(i + 1 < GPUS ? ",\n" : "\n");
  }
  put("  ],\n");
}

void kineto_ranks(const struct kineto *k) {
  put("[");
  for (int r = 0; r < k->o->ranks; r++) {
    if (r) put(", ");
    put_i(r);
  }
  put("]");
}

static void head(struct kineto *k) {
  put("{\n  \"schemaVersion\": 1,\n");
  devices();
  put("  \"cuda_driver_version\": 12040,\n  \"cuda_runtime_version\": 12040,\n");
  if (k->o->stack) put("  \"with_stack\": 1,\n");
  if (k->o->memory) put("  \"profile_memory\": 1,\n");
  put("  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": ");
  put_i(k->o->rank);
  put(", \"world_size\": ");
  put_i(k->o->ranks);
  put(", \"pg_count\": 1, \"pg_config\": [{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"backend_config\": \"cuda:nccl\", "
      "\"pg_size\": ");
  put_i(k->o->ranks);
  put(", \"ranks\": ");
  kineto_ranks(k);
  put("}], \"nccl_version\": \"2.21.5\"},\n  \"displayTimeUnit\": \"ms\",\n");
  if (!k->o->no_base) {
    put("  \"baseTimeNanoseconds\": ");
    put_i(KINETO_BASE);
    put(",\n");
  }
  put("  \"traceEvents\": [\n");
}

static void odd_pid(struct kineto *k, const char *pid, const char *tid) {
  text_field(k, "pid", pid, false, true);
  text_field(k, "tid", tid, false, false);
}

static void global_instant(struct kineto *k, const char *name, const char *pid, const char *tid, int64_t at) {
  begin(k);
  text_field(k, "name", name, true, false);
  text_field(k, "ph", "i", false, false);
  text_field(k, "s", "g", false, false);
  odd_pid(k, pid, tid);
  field(k, "ts", false, false);
  put_us(printed(k, at));
  put(layout(k) == COMPACT ? "}" : "\n  }");
}

static void foot(struct kineto *k) {
  begin(k);
  text_field(k, "ph", "X", true, false);
  text_field(k, "cat", "Trace", false, false);
  times(k, 0, k->end);
  odd_pid(k, "Spans", "PyTorch Profiler");
  text_field(k, "name", "PyTorch Profiler (0)", false, true);
  open_args(k);
  kineto_key(k, "", "Op count");
  put("0");
  close_args(k);
  begin(k);
  text_field(k, "name", "process_sort_index", true, false);
  text_field(k, "ph", "M", false, false);
  field(k, "ts", false, false);
  put_us(printed(k, 0));
  text_field(k, "pid", "Spans", false, true);
  field(k, "tid", false, false);
  put(layout(k) == COMPACT ? "0,\"args\":{\"sort_index\":536870912" : "0,\n    \"args\": {\n      \"sort_index\": 536870912");
  close_args(k);
  global_instant(k, "Iteration Start: PyTorch Profiler", "Traces", "Trace PyTorch Profiler", 0);
  global_instant(k, "Record Window End", "", "", k->end + 30000000);
  put("\n  ],\n  \"traceName\": \"rank");
  put_i(k->o->rank);
  put(".json\"\n}\n");
}

/* ---- the walks ------------------------------------------------------------------------------------------------------ */

static bool each_step(struct kineto *k, void (*visit)(void *self, const struct piece *p),
                      void (*step)(struct kineto *k, const struct plan *p)) {
  struct job j;
  struct plan p;
  if (!job_start(&j, k->o)) return false;
  k->correlation = 57532;
  k->external = 1;
  for (int s = 0; s < k->o->steps; s++) {
    job_step(&j, &p);
    k->end = p.end;
    k->gpu_first = k->gpu_last = k->forward_last = k->optimizer_first = 0;
    if (step && visit != kineto_gpu_marks) step(k, &p);
    walk(k->o, &p, visit, k);
    if (step && visit == kineto_gpu_marks) step(k, &p);
  }
  job_end(&j);
  return true;
}

bool kineto(const struct options *o) {
  static struct kineto k;
  int64_t pid = 30000 + local_rank(o, o->rank) * 113;
  bool ok;
  k.o = o;
  k.device = local_rank(o, o->rank);
  k.main = (struct where){pid, pid};
  k.backward = (struct where){pid, pid + 9503};
  head(&k);
  tracks(&k);
  ok = each_step(&k, kineto_backward, NULL) && each_step(&k, kineto_forward, kineto_step_annotations);
  if (ok && o->memory) ok = each_step(&k, kineto_allocations, NULL);
  if (ok && o->stack) {
    kineto_root_frames(&k);
    ok = each_step(&k, kineto_frames, kineto_step_frames);
  }
  ok = ok && each_step(&k, kineto_gpu, NULL) && each_step(&k, kineto_gpu_marks, kineto_gpu_annotations);
  foot(&k);
  return ok;
}
