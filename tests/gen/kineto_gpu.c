/* kineto_gpu.c - kernels, copies, runtime calls and their flows in the Kineto dialect. */
#include <string.h>

#include "kineto.h"

static struct where stream(const struct kineto *k, int64_t id) { return (struct where){k->device, id}; }

/* Prints a ratio with "%f", as fmt prints a float. */
static void put_ratio(double v) {
  char text[32];
  snprintf(text, sizeof text, "%.6f", v);
  put(text);
}

static void dimensions(int64_t x, int64_t y) {
  put("[");
  put_i(x);
  put(", ");
  put_i(y);
  put(", 1]");
}

struct launch {
  uint64_t external, correlation, pick;
  struct where from, on;
  int64_t at, end;      /* of the call */
  struct span activity; /* on the GPU */
  unsigned family;
};

static void kernel_args(struct kineto *k, const struct launch *l, bool nccl) {
  static const int64_t blocks[] = {64, 128, 256, 512};
  int64_t grid = nccl ? 8 : 1 + (int64_t)(l->pick >> 8 & 2047), block = nccl ? 544 : blocks[l->pick >> 20 & 3];
  double per_sm = (double)grid / 108;
  kineto_key(k, "", "External id"), put_u(l->external);
  kineto_key(k, ",      ", "queued"), put("0");
  kineto_key(k, ", ", "device"), put_i(k->device);
  kineto_key(k, ", ", "context"), put("1");
  kineto_key(k, ",      ", "stream"), put_i(l->on.tid);
  kineto_key(k, ", ", "correlation"), put_u(l->correlation);
  kineto_key(k, ",      ", "registers per thread"), put_u(nccl ? 96 : 16 + (l->pick >> 24 & 15) * 8);
  kineto_key(k, ",      ", "shared memory"), put_u(nccl ? 87568 : l->family == K_GEMM ? 73728 : (l->pick >> 28 & 3) * 400);
  kineto_key(k, ",      ", "blocks per SM"), put_ratio(per_sm);
  kineto_key(k, ",      ", "warps per SM"), put_ratio(per_sm * (double)block / 32);
  kineto_key(k, ",      ", "grid"), dimensions(grid, 1);
  kineto_key(k, ",      ", "block"), dimensions(block, 1);
  kineto_key(k, ",      ", "est. achieved occupancy %"), put_u(nccl ? 0 : (uint64_t)(per_sm * (double)block / 20.48) % 101);
}

static void copy_args(struct kineto *k, const struct launch *l) {
  int64_t ns = l->activity.end - l->activity.start, bytes = 64 * (1 + ns * (1 + (int64_t)(l->pick % 7)) / 100);
  kineto_key(k, "", "External id"), put_u(l->external);
  kineto_key(k, ",      ", "device"), put_i(k->device);
  kineto_key(k, ", ", "context"), put("1");
  kineto_key(k, ",      ", "stream"), put_i(l->on.tid);
  kineto_key(k, ", ", "correlation"), put_u(l->correlation);
  kineto_key(k, ",      ", "bytes"), put_i(bytes);
  kineto_key(k, ", ", "memory bandwidth (GB/s)"), put_d((double)bytes / (double)ns);
}

static void collective_args(struct kineto *k, const struct piece *p) {
  kineto_key(k, ", ", "Collective name"), put("\"allreduce\"");
  kineto_key(k, ", ", "In msg nelems"), put_i(kineto_elements(p));
  kineto_key(k, ", ", "Out msg nelems"), put_i(kineto_elements(p));
  kineto_key(k, ", ", "Group size"), put_i(k->o->ranks);
  kineto_key(k, ", ", "dtype"), put("\"Float\"");
  kineto_key(k, ", ", "In split size"), put("\"[]\"");
  kineto_key(k, ", ", "Out split size"), put("\"[]\"");
  kineto_key(k, ", ", "Process Group Name"), put("\"0\"");
  kineto_key(k, ", ", "Process Group Description"), put("\"default_pg\"");
  kineto_key(k, ", ", "Process Group Ranks"), put("\""), kineto_ranks(k), put("\"");
  kineto_key(k, ", ", "Seq"), put_u(p->sequence + 1);
}

static void runtime(struct kineto *k, const struct launch *l, const char *name, unsigned cbid) {
  kineto_span(k, "cuda_runtime", name, l->from, (struct span){l->at, l->end});
  kineto_key(k, "", "External id"), put_u(l->external);
  kineto_key(k, ",      ", "cbid"), put_u(cbid);
  kineto_key(k, ", ", "correlation"), put_u(l->correlation);
  kineto_close(k);
}

/* Prints the GPU activity, its flow end, the call, its flow start: the order in real files. */
static void activity(struct kineto *k, const struct launch *l) {
  static const char *const calls[K_FAMILIES] = {[K_COPY] = "cudaMemcpyAsync", [K_FILL] = "cudaMemsetAsync"};
  const char *call = calls[l->family] ? calls[l->family] : "cudaLaunchKernel";
  bool plain = l->family != K_COPY && l->family != K_FILL;
  char name[600];
  kernel_name(l->family, l->pick, name, sizeof name);
  kineto_span(k, plain ? "kernel" : l->family == K_COPY ? "gpu_memcpy" : "gpu_memset", name, l->on, l->activity);
  if (plain)
    kernel_args(k, l, false);
  else
    copy_args(k, l);
  kineto_close(k);
  kineto_flow(k, 'f', "ac2g", l->correlation, l->on, l->activity.start);
  runtime(k, l, call, plain ? 211 : l->family == K_COPY ? 41 : 51);
  kineto_flow(k, 's', "ac2g", l->correlation, l->from, l->at);
}

/* Prints a call without GPU activity. The exporter adds a flow end without a start to each of these calls; a few have a start without
 * an end. */
static void bare_call(struct kineto *k, const struct launch *l) {
  static const struct {
    const char *name;
    unsigned cbid;
  } calls[] = {{"cudaEventRecord", 135},         {"cudaStreamIsCapturing", 317}, {"cudaStreamGetPriority", 203},
               {"cudaDeviceGetStreamPriorityRange", 205}, {"cudaFuncSetAttribute", 273},  {"cudaStreamWaitEvent", 147},
               {"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 221}};
  unsigned i = (unsigned)(l->pick % (sizeof calls / sizeof *calls));
  runtime(k, l, calls[i].name, calls[i].cbid);
  kineto_flow(k, l->pick % 50 == 0 ? 's' : 'f', "ac2g", l->correlation, l->from, l->at);
}

static void collective(struct kineto *k, const struct piece *p) {
  struct launch l = {.external = k->external, .correlation = k->correlation++, .from = k->backward,
                     .on = stream(k, NCCL_STREAM), .at = p->start + 30000, .end = p->start + 42000};
  kineto_span(k, "kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", l.on,
              (struct span){p->kernel, p->kernel_end});
  kernel_args(k, &l, true);
  collective_args(k, p);
  kineto_close(k);
  kineto_flow(k, 'f', "ac2g", l.correlation, l.on, p->kernel);
  runtime(k, &l, "cudaLaunchKernelExC", 430);
  kineto_flow(k, 's', "ac2g", l.correlation, l.from, l.at);
}

void kineto_gpu(void *self, const struct piece *p) {
  struct kineto *k = self;
  if (p->phase == COMMUNICATION) collective(k, p);
  for (unsigned i = 0; i < p->n; i++) {
    const struct slot *s = &p->slots[i];
    struct launch l = {.external = k->external + i, .from = p->phase == BACKWARD ? k->backward : k->main,
                       .on = stream(k, COMPUTE_STREAM), .family = s->row->kernel};
    for (unsigned c = 0; c < s->row->calls; c++) {
      l.correlation = k->correlation++;
      l.pick = mix(p->hash, 100 + i * 4 + c);
      l.at = s->call[c];
      l.end = s->call_end[c];
      bare_call(k, &l);
    }
    if (!s->row->kernel) continue;
    l.correlation = k->correlation++;
    /* A model runs the same few kernels for an op, so the choice depends only on the op's position. */
    l.pick = mix(p->group * 16 + i, (uint64_t)p->layer % 3);
    l.at = s->launch;
    l.end = s->launch_end;
    l.activity = (struct span){s->kernel, s->kernel_end};
    activity(k, &l);
  }
  k->external += p->phase == COMMUNICATION ? 2 : p->n;
}

/* Range of the host's annotations on the GPU: from the first kernel launched inside them to the last. */
void kineto_gpu_marks(void *self, const struct piece *p) {
  struct kineto *k = self;
  for (unsigned i = 0; i < p->n; i++) {
    const struct slot *s = &p->slots[i];
    if (!s->row->kernel) continue;
    if (!k->gpu_first) k->gpu_first = s->kernel;
    if (p->phase == FORWARD) k->forward_last = s->kernel_end;
    if (p->phase == OPTIMIZER && !k->optimizer_first) k->optimizer_first = s->kernel;
    k->gpu_last = s->kernel_end;
  }
}

static void gpu_annotation(struct kineto *k, const char *name, int64_t start, int64_t end) {
  if (end <= start) return;
  kineto_span(k, "gpu_user_annotation", name, stream(k, COMPUTE_STREAM), (struct span){start - 1, end});
  kineto_key(k, "", "External id"), put_u(k->external++);
  kineto_close(k);
}

void kineto_gpu_annotations(struct kineto *k, const struct plan *p) {
  char name[32];
  snprintf(name, sizeof name, "ProfilerStep#%d", p->step + 10);
  gpu_annotation(k, name, k->gpu_first, k->gpu_last);
  gpu_annotation(k, "DistributedDataParallel.forward", k->gpu_first, k->forward_last);
  gpu_annotation(k, "Optimizer.step#AdamW.step", k->optimizer_first, k->gpu_last);
}
