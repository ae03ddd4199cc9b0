/* kind.c - kinds of events (kind.h). */
#include "kind.h"

#include <string.h>

const struct kind_word kind_words[] = {
    {"span", KIND_SPAN},       {"instant", KIND_INSTANT}, {"counter", KIND_COUNTER},       {"async", KIND_ASYNC},
    {"kernel", KIND_KERNEL},   {"memcpy", KIND_MEMCPY},   {"memset", KIND_MEMSET},         {"collective", KIND_COLLECTIVE},
    {"runtime", KIND_RUNTIME}, {"python", KIND_PYTHON},   {"step", KIND_STEP},             {"annotation", KIND_ANNOTATION},
    {NULL, 0}};

static bool begins(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }
static bool any_in(const char *s, const char *const *words) {
  for (; *words; words++)
    if (strstr(s, *words)) return true;
  return false;
}
static bool any_begin(const char *s, const char *const *words) {
  for (; *words; words++)
    if (begins(s, *words)) return true;
  return false;
}

/* NCCL and RCCL kernels; collectives as HLO spells them, async halves included. */
static bool is_collective(const char *name) {
  static const char *const kernels[] = {"ncclDevKernel", "ncclKernel", "nccl:", "rcclDevKernel", "rccl:", NULL};
  static const char *const hlo[] = {"all-reduce",         "all-gather",           "reduce-scatter",
                                    "all-to-all",         "ragged-all-to-all",    "collective-permute",
                                    "collective-broadcast", "%all-reduce",        "%all-gather",
                                    "%reduce-scatter",    "%all-to-all",          "%collective-permute", NULL};
  return any_in(name, kernels) || any_begin(name, hlo);
}

static unsigned kind_of_class(const char *name, const char *cat) {
  static const char *const runtimes[] = {"cuda_runtime", "cuda_driver", "hip_runtime", "xpu_runtime", "privateuse1_runtime", NULL};
  unsigned k = 0;
  if (strcmp(cat, "kernel") == 0) k |= KIND_KERNEL;
  if (strcmp(cat, "gpu_memcpy") == 0 || begins(name, "Memcpy")) k |= KIND_MEMCPY;
  if (strcmp(cat, "gpu_memset") == 0 || begins(name, "Memset")) k |= KIND_MEMSET;
  if (any_begin(cat, runtimes)) k |= KIND_RUNTIME;
  if (strcmp(cat, "python_function") == 0 || *name == '$') k |= KIND_PYTHON;
  if (begins(name, "ProfilerStep#")) k |= KIND_STEP;
  if (strcmp(cat, "user_annotation") == 0 || strcmp(cat, "gpu_user_annotation") == 0) k |= KIND_ANNOTATION;
  if (is_collective(name)) k |= KIND_COLLECTIVE;
  return k;
}

/* XLA's device planes name their queues: "Stream #7(Compute)", "XLA Ops"; "Steps" and "XLA Modules" are summaries beside them.  Before
 * the name of a plane a merge puts that of its rank. */
static bool is_queue(const struct tk_trace *t, const struct tk_track *k) {
  const char *process = tk_string(t, t->tracks[k->parent].name, NULL), *thread = tk_string(t, k->name, NULL);
  if (k->kind != TK_THREAD || !strstr(process, "/device:")) return false;
  return begins(thread, "Stream #") || begins(thread, "XLA Ops") || begins(thread, "Async XLA Ops");
}

bool kinds_init(struct kinds *k, const struct tk_trace *t, struct mem *mem) {
  *k = (struct kinds){.mem = mem, .t = t, .n_classes = t->n_classes, .n_tracks = t->n_tracks};
  k->of_class = mem_array(mem, (uint64_t)k->n_classes + 1, sizeof *k->of_class);
  k->on_device = mem_array(mem, (uint64_t)k->n_tracks + 1, 1);
  if (!k->of_class || !k->on_device) return false;
  for (tk_id i = 1; i <= t->n_classes; i++)
    k->of_class[i] = (uint16_t)kind_of_class(tk_string(t, t->classes[i].name, NULL), tk_string(t, t->classes[i].cat, NULL));
  for (tk_id i = 1; i <= t->n_tracks; i++) k->on_device[i] = is_queue(t, &t->tracks[i]);
  return true;
}

void kinds_free(struct kinds *k) {
  mem_free(k->mem, k->of_class);
  mem_free(k->mem, k->on_device);
  *k = (struct kinds){0};
}

unsigned kinds_of(const struct kinds *k, const struct tk_event *e) {
  unsigned kind = k->of_class[e->cls];
  kind |= e->kind == TK_SPAN ? KIND_SPAN : e->kind == TK_INSTANT ? KIND_INSTANT : KIND_COUNTER;
  if (e->flags & TK_ASYNC) kind |= KIND_ASYNC;
  if (k->on_device[e->track] && e->kind == TK_SPAN && !(kind & (KIND_MEMCPY | KIND_MEMSET))) kind |= KIND_KERNEL;
  return kind;
}
