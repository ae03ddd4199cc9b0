/* kind.c - kinds of events (kind.h), from Kineto's categories and the names of kernels. */
#include "kind.h"

#include <string.h>

#include "base/text.h"
#include "kind_xla.h"

const struct kind_word kind_words[] = {
    {"span", KIND_SPAN},       {"instant", KIND_INSTANT}, {"counter", KIND_COUNTER},   {"async", KIND_ASYNC},
    {"host", KIND_HOST},       {"device", KIND_DEVICE},   {"kernel", KIND_KERNEL},     {"memcpy", KIND_MEMCPY},
    {"memset", KIND_MEMSET},   {"transfer", KIND_TRANSFER}, {"collective", KIND_COLLECTIVE}, {"op", KIND_OP},
    {"module", KIND_MODULE},   {"runtime", KIND_RUNTIME}, {"python", KIND_PYTHON},     {"step", KIND_STEP},
    {"annotation", KIND_ANNOTATION}, {NULL, 0}};

const char *tk_kind_word(size_t i) { return i < sizeof kind_words / sizeof kind_words[0] ? kind_words[i].word : NULL; }

/* Matches kernels of NCCL, RCCL, MSCCL, HCCL, oneCCL and DeepEP, the all-reduces of vLLM, TensorRT-LLM, FlashInfer and PyTorch,
 * and collectives in HLO's spelling, including async halves. */
static bool is_collective(const char *name) {
  static const char *const kernels[] = {"ncclDevKernel", "ncclKernel", "ncclSym", "nccl:", "rcclDevKernel", "rccl:", "mscclKernel",
                                        "mscclpp::", "hcom_", "oneccl_", "deep_ep::", "cross_device_reduce", "ShotAllReduceKernel",
                                        "shot_all_reduce_kernel", "multimem_all_reduce_kernel", "allreduce_fusion_kernel", NULL};
  static const char *const hlo[] = {"all-reduce",         "all-gather",           "reduce-scatter",
                                    "all-to-all",         "ragged-all-to-all",    "collective-permute",
                                    "collective-broadcast", "%all-reduce",        "%all-gather",
                                    "%reduce-scatter",    "%all-to-all",          "%collective-permute", NULL};
  return text_any_holds(name, kernels) || text_any_begins(name, hlo);
}

static unsigned of_category(const char *cat) {
  static const struct {
    const char *cat;
    unsigned kinds;
  } CATEGORIES[] = {{"kernel", KIND_KERNEL | KIND_DEVICE},
                    {"gpu_memcpy", KIND_MEMCPY | KIND_DEVICE},
                    {"gpu_memset", KIND_MEMSET | KIND_DEVICE},
                    {"gpu_user_annotation", KIND_ANNOTATION | KIND_DEVICE},
                    {"user_annotation", KIND_ANNOTATION},
                    {"cpu_op", KIND_OP},
                    {"python_function", KIND_PYTHON},
                    {"Kernel", KIND_KERNEL | KIND_DEVICE}, /* up to PyTorch 1.11 */
                    {"Memcpy", KIND_MEMCPY | KIND_DEVICE},
                    {"Memset", KIND_MEMSET | KIND_DEVICE},
                    {"Operator", KIND_OP},
                    {"Runtime", KIND_RUNTIME}};
  static const char *const runtimes[] = {"cuda_runtime", "cuda_driver", "hip_runtime", "xpu_runtime", "privateuse1_runtime", NULL};
  for (size_t i = 0; i < sizeof CATEGORIES / sizeof *CATEGORIES; i++)
    if (strcmp(cat, CATEGORIES[i].cat) == 0) return CATEGORIES[i].kinds;
  return text_any_begins(cat, runtimes) ? KIND_RUNTIME : 0;
}

static unsigned of_class(const char *name, const char *cat) {
  unsigned k = of_category(cat);
  if (text_begins(name, "Memcpy")) k |= KIND_MEMCPY;
  if (text_begins(name, "Memset")) k |= KIND_MEMSET;
  if (*name == '$') k |= KIND_PYTHON;
  if (text_begins(name, "ProfilerStep#")) k |= KIND_STEP;
  if (is_collective(name)) k |= KIND_COLLECTIVE;
  if (k & KIND_MEMCPY || xla_is_transfer(name)) k |= KIND_TRANSFER;
  return k;
}

bool kinds_init(struct kinds *k, const struct tk_trace *t, struct mem *mem) {
  const uint32_t n_shapes = t->store->n_shapes;
  *k = (struct kinds){.mem = mem, .t = t};
  k->of_class = mem_array(mem, (uint64_t)t->n_classes + 1, sizeof *k->of_class);
  k->of_track = mem_array(mem, (uint64_t)t->n_tracks + 1, sizeof *k->of_track);
  k->of_shape = mem_array(mem, (uint64_t)n_shapes + 1, sizeof *k->of_shape);
  if (!k->of_class || !k->of_track || !k->of_shape) return false;
  for (tk_id i = 1; i <= t->n_classes; i++)
    k->of_class[i] = of_class(tk_string(t, t->classes[i].name, NULL), tk_string(t, t->classes[i].cat, NULL));
  xla_classes(t, k->of_class);
  xla_shapes(t, k->of_shape);
  for (uint32_t i = 1; i <= n_shapes; i++) k->by_shape |= k->of_shape[i] != 0;
  for (tk_id i = 1; k->by_shape && i <= t->n_classes; i++) k->of_class[i] |= k->of_shape[args_shape_of(t, t->classes[i].args)];
  xla_tracks(t, k->of_track);
  return xla_annotations(k);
}

void kinds_free(struct kinds *k) {
  mem_free(k->mem, k->of_class);
  mem_free(k->mem, k->of_track);
  mem_free(k->mem, k->of_shape);
  *k = (struct kinds){0};
}

/* The kind of a line applies to its spans only. A copy in a queue is not a kernel, and a kernel that names its op is not an op.
 */
static unsigned on_track(unsigned kind, unsigned of_track, bool is_span) {
  const unsigned roles = KIND_KERNEL | KIND_OP | KIND_MODULE | KIND_STEP;
  if (!is_span) return kind | (of_track & KIND_DEVICE);
  if (of_track & KIND_DEVICE) kind &= ~(unsigned)KIND_OP;
  if (kind & (KIND_MEMCPY | KIND_MEMSET)) of_track &= ~roles;
  return kind | of_track;
}

unsigned kinds_of(const struct kinds *k, const struct tk_event *e) {
  unsigned kind = k->of_class[e->cls];
  if (k->by_shape && e->args) kind |= k->of_shape[args_shape_of(k->t, e->args)];
  kind = on_track(kind, k->of_track[e->track], e->kind == TK_SPAN);
  kind |= e->kind == TK_SPAN ? KIND_SPAN : e->kind == TK_INSTANT ? KIND_INSTANT : KIND_COUNTER;
  if (e->flags & TK_ASYNC) kind |= KIND_ASYNC;
  return kind & KIND_DEVICE ? kind : kind | KIND_HOST;
}

void kinds_count(const struct kinds *k, uint64_t *counts) {
  uint64_t by_bit[17] = {0};
  for (tk_id i = 1; i <= k->t->n_events; i++)
    for (unsigned kind = kinds_of(k, &k->t->events[i]); kind; kind &= kind - 1) by_bit[__builtin_ctz(kind)]++;
  for (size_t i = 0; kind_words[i].word; i++) counts[i] = by_bit[__builtin_ctz(kind_words[i].kind)];
}
