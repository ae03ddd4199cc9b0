/* kind_xla.c - kinds in traces of JAX, TensorFlow and OpenXLA (kind_xla.h).
 *
 * Device planes name their lines: "Stream #7(Compute)" and "XLA Ops" are queues, "Steps" and "XLA Modules" group the work in
 * them. A step of the host has the stat step_num, and an op has the stat hlo_op; these stats keep their names in JSON.
 *
 * No trace marks the spans that programs create with TraceAnnotation. They are on Python's threads among spans that the runtime
 * creates in the same way. Runtime spans are recognised by position: they are inside a span that calls the runtime (a
 * PjitFunction, a DevicePut, any name of a C++ function). If most spans of a name are in that position, all spans of the name
 * belong to the runtime. The remaining spans belong to the program. */
#include "kind_xla.h"

#include <string.h>

#include "base/text.h"

bool kind_xla_is_transfer(const char *name) {
  static const char *const FIRST[] = {"DevicePut",  "copy-start", "copy-done", "%copy-start", "%copy-done", "infeed",
                                      "outfeed",    "%infeed",    "%outfeed",  "batched_copy_array", "BatchedCopyToDevice", NULL};
  static const char *const IN[] = {"TransferToDevice", "TransferFromDevice", "TransferLiteral", "BufferFromHost", "CopyToDevice",
                                   "CopyToHost", "CopyToMemorySpace", "TransferToInfeed", "TransferFromOutfeed", NULL};
  return text_any_begins(name, FIRST) || text_any_holds(name, IN);
}

/* True for an instruction of HLO that moves data between memories or devices, or waits for that, as named on the lines of
 * operations of a TPU: opcodes of XLA (xla/hlo/ir); "async-copy" is a complete asynchronous copy on the line "Async XLA Ops".
 * Other spans may have these names as well, so the line must also be checked. */
static bool is_move(const char *name) {
  static const char *const OPCODES[] = {"async-copy", "copy-start", "copy-done", "slice-start", "slice-done", "dynamic-slice-start",
                                        "dynamic-slice-done", "dynamic-update-slice-start", "dynamic-update-slice-done", "send",
                                        "send-done", "recv", "recv-done", "infeed", "outfeed", NULL};
  name += *name == '%';
  for (size_t i = 0; OPCODES[i]; i++) {
    const size_t n = strlen(OPCODES[i]);
    if (strncmp(name, OPCODES[i], n) == 0 && (!name[n] || name[n] == '.')) return true;
  }
  return false;
}

/* True for a thread of a host's plane. */
static bool is_host(const struct tk_trace *t, const struct tk_track *k) {
  return k->kind == TK_TRACK_THREAD && strstr(tk_string(t, t->tracks[k->parent].name, NULL), "/host:CPU");
}

static bool has_host(const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (is_host(t, &t->tracks[i])) return true;
  return false;
}

/* ---- shapes ---- */

/* Stats that only events of one kind have. */
static const struct {
  const char *key;
  unsigned kind;
  bool plane; /* true if the key counts only in traces that have a host plane */
} STATS[] = {
    {"step_num", KIND_STEP, false},
    {"hlo_op", KIND_OP, false},
    {"is_eager", KIND_OP, true},           /* xla/tsl/profiler/utils/group_events.cc: set for operators of TensorFlow */
    {"correlation_id", KIND_RUNTIME, true}, /* the same file, GetKernelEventType: a launch, even if it is named after the kernel */
    {"memcpy_details", KIND_MEMCPY | KIND_TRANSFER, false}, /* xla/backends/profiler/gpu, collectors of CUDA and ROCm */
    {"memset_details", KIND_MEMSET, false},
};
enum { N_STATS = sizeof STATS / sizeof *STATS };

static unsigned of_key(const tk_id *keys, tk_id key) {
  for (size_t i = 0; i < N_STATS; i++)
    if (keys[i] == key) return STATS[i].kind;
  return 0;
}

void kind_xla_shapes(const struct tk_trace *t, uint32_t *of_shape) {
  const bool plane = has_host(t);
  tk_id keys[N_STATS];
  for (size_t i = 0; i < N_STATS; i++) keys[i] = STATS[i].plane && !plane ? 0 : trace_text_id(t, STATS[i].key);
  for (uint32_t i = 0; i <= t->store->n_shapes; i++) of_shape[i] = 0;
  for (uint32_t i = 1; i <= t->store->n_shapes; i++) {
    const struct tk_arg_shape *s = t->store->shapes[i];
    for (uint32_t j = 0; j < s->n; j++) of_shape[i] |= of_key(keys, s->fields[j].key);
  }
}

/* ---- classes ---- */

/* True for "model/dense/MatMul:MatMul": TensorFlow's executor names its spans after the op and the type of the op. */
static bool is_framework_op(const char *name) {
  const char *type = strrchr(name, ':');
  if (!type || type == name || type[-1] == ':' || strpbrk(name, " ($#")) return false;
  if (type[1] != '_' && (type[1] < 'A' || type[1] > 'Z')) return false;
  for (type++; *type; type++)
    if (*type != '_' && !(*type >= '0' && *type <= '9') && !((*type | 32) >= 'a' && (*type | 32) <= 'z')) return false;
  return true;
}

/* Returns the name under which the event was recorded, if its plane displays another: profilers of OpenXLA display only the type of an
 * op (xla/tsl/profiler/utils/tf_op_utils.cc, TfOpEventName). "" if it has no other name. */
static const char *long_name_of(const struct tk_trace *t, tk_id cls) {
  struct tk_arg arg;
  if (!tk_args_find(t, t->classes[cls].args, "long_name", &arg) || arg.type != TK_ARG_STR) return "";
  return tk_string(t, arg.s, NULL);
}

/* True for "cuLaunchKernel", "cudaMemcpyAsync", "hipModuleLaunchKernel". */
static bool is_driver_call(const char *name) {
  static const char *const FIRST[] = {"cuda", "cu", "hip", NULL};
  for (size_t i = 0; FIRST[i]; i++) {
    const char *rest = name + strlen(FIRST[i]);
    if (text_begins(name, FIRST[i])) return *rest >= 'A' && *rest <= 'Z';
  }
  return false;
}

void kind_xla_classes(const struct tk_trace *t, uint32_t *of_class) {
  for (tk_id i = 1; i <= t->n_classes; i++)
    if (is_move(tk_string(t, t->classes[i].name, NULL))) of_class[i] |= KIND_MOVE;
  if (!has_host(t)) return;
  for (tk_id i = 1; i <= t->n_classes; i++) {
    const char *name = tk_string(t, t->classes[i].name, NULL);
    if (is_framework_op(name) || is_framework_op(long_name_of(t, i))) of_class[i] |= KIND_OP;
    if (is_driver_call(name)) of_class[i] |= KIND_RUNTIME;
  }
}

/* ---- tracks ---- */

static bool ends_in(const char *name, const char *end) {
  const size_t n = strlen(name), m = strlen(end);
  return n >= m && strcmp(name + n - m, end) == 0;
}

/* True for a device plane, also if a merge prepended the rank's label to its name. TensorFlow 1 uses other processes
 * (accelerator.c). */
static bool is_device(const struct tk_trace *t, const struct tk_track *k) {
  const char *name = tk_string(t, t->tracks[k->parent].name, NULL);
  return strstr(name, "/device:") && !ends_in(name, " Compute") && !ends_in(name, " Tensors");
}

/* True for a stream in which only copies ran: "Stream #7(MemcpyD2H)", "Stream #8(MemcpyH2D,MemcpyOther)". */
static bool has_copies_only(const char *name) {
  const char *sort = strchr(name, '(');
  while (sort && text_begins(sort + 1, "Memcpy")) sort = strchr(sort + 1, ',');
  return !sort && strchr(name, '(');
}

/* KIND_MOVE: the queue contains copies only. */
static unsigned of_line(const char *name) {
  if (text_begins(name, "Stream #")) return KIND_KERNEL | (has_copies_only(name) ? KIND_MOVE : 0);
  if (text_begins(name, "XLA Ops")) return KIND_KERNEL | KIND_OP;
  if (text_begins(name, "Async XLA Ops")) return KIND_KERNEL | KIND_OP | KIND_TRANSFER;
  if (text_begins(name, "Framework Ops") || text_begins(name, "TensorFlow Ops")) return KIND_OP;
  if (text_begins(name, "XLA Modules")) return KIND_MODULE;
  return strcmp(name, "Steps") == 0 ? KIND_STEP : 0;
}

/* Lines of a device plane. QUEUES: streams. RECORDED: operations, modules and steps, which a TPU records, but which xprof and tk_derive
 * compute for a GPU from its queues. DERIVED: lines that xprof and tk_derive compute for any device. */
enum lines { QUEUES = 1, RECORDED = 2, DERIVED = 4 };

static uint8_t sort_of_line(const struct tk_trace *t, const struct tk_track *k) {
  static const char *const GROUPS[] = {"XLA Ops", "XLA Modules", "Steps", NULL};
  static const char *const OF_WORK[] = {"Framework Ops", "Framework Name Scope", "TensorFlow Ops", "TensorFlow Name Scope",
                                        "Source code", "Host Offload Ops", NULL};
  const char *name = tk_string(t, k->name, NULL);
  if (text_begins(name, "Stream #")) return QUEUES;
  if (text_any_begins(name, GROUPS)) return RECORDED;
  return text_any_begins(name, OF_WORK) ? DERIVED : 0;
}

/* Marks the lines of device planes that show the work of other lines again. */
static bool mark_repeats(struct kinds *k) {
  const struct tk_trace *t = k->t;
  uint8_t *lines = mem_zeros(k->mem, (uint64_t)t->n_tracks + 1, sizeof *lines); /* by plane: a set of enum lines */
  for (tk_id i = 1; lines && i <= t->n_tracks; i++)
    if (k->of_track[i] & KIND_DEVICE && t->tracks[i].count) lines[t->tracks[i].parent] |= sort_of_line(t, &t->tracks[i]);
  for (tk_id i = 1; lines && i <= t->n_tracks; i++) {
    const uint8_t is = k->of_track[i] & KIND_DEVICE ? sort_of_line(t, &t->tracks[i]) : 0, has = lines[t->tracks[i].parent];
    if ((is == DERIVED && has & (QUEUES | RECORDED)) || (is == RECORDED && has & QUEUES))
      k->of_track[i] = (k->of_track[i] & ~(uint32_t)(KIND_KERNEL | KIND_OP | KIND_TRANSFER)) | KIND_REPEAT;
  }
  mem_free(k->mem, lines);
  return lines != NULL;
}

bool kind_xla_tracks(struct kinds *kinds) {
  const struct tk_trace *t = kinds->t;
  uint32_t *of_track = kinds->of_track;
  of_track[0] = 0;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    of_track[i] = 0;
    if (is_host(t, k)) of_track[i] = KIND_HOST;
    if (k->kind == TK_TRACK_PROCESS || !is_device(t, k)) continue;
    of_track[i] = KIND_DEVICE | (k->kind == TK_TRACK_THREAD ? of_line(tk_string(t, k->name, NULL)) : 0);
  }
  return mark_repeats(kinds);
}

/* ---- annotations ---- */

/* True for a Python thread of a host's plane. Lines are named after operating system threads. */
static bool is_python(const struct tk_trace *t, const struct tk_track *k) {
  return is_host(t, k) && text_begins(tk_string(t, k->name, NULL), "python");
}

/* True if the name shows that the runtime created the span. */
static bool is_runtime(const char *name) {
  static const char *const FIRST[] = {"PjitFunction(", "DevicePut", "ParseArguments", "shard_args", "batched_copy_array", "end: ",
                                      "BatchedCopyToDevice", "Wait for ", "Handle input", "MemoryAllocation", "MemoryDeallocation",
                                      "SessionRun", "FunctionRun", "RunGraph", "EagerExecute", "ExecutorState", "Iterator", NULL};
  return strstr(name, "::") || text_any_begins(name, FIRST);
}

/* Number of a class's spans on Python's threads, inside and outside of runtime spans. */
struct place {
  uint32_t inside, outside;
  bool runtime; /* true if the name shows that the runtime created the span */
};

static void find_places(const struct kinds *k, const struct tk_track *track, struct place *places) {
  const struct tk_trace *t = k->t;
  uint32_t call = UINT32_MAX; /* depth of the enclosing runtime span */
  for (tk_id i = track->first; i < track->first + track->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->depth <= call) call = UINT32_MAX;
    if (k->of_class[e->cls] & KIND_PYTHON || e->kind != TK_EVENT_SPAN) continue;
    if (call != UINT32_MAX) places[e->cls].inside++;
    else if (places[e->cls].runtime) call = e->depth;
    else places[e->cls].outside++;
  }
}

static void mark_annotations(struct kinds *k, const struct place *places) {
  const unsigned others = KIND_OP | KIND_TRANSFER | KIND_MEMSET | KIND_RUNTIME;
  for (tk_id i = 1; i <= k->t->n_classes; i++)
    if (places[i].outside > places[i].inside && !(k->of_class[i] & others)) k->of_class[i] |= KIND_ANNOTATION;
}

bool kind_xla_annotations(struct kinds *k) {
  const struct tk_trace *t = k->t;
  tk_id first = 1;
  while (first <= t->n_tracks && !is_python(t, &t->tracks[first])) first++;
  if (first > t->n_tracks) return true;
  struct place *places = mem_array(k->mem, (uint64_t)t->n_classes + 1, sizeof *places);
  if (!places) return false;
  for (tk_id i = 1; i <= t->n_classes; i++) places[i] = (struct place){.runtime = is_runtime(tk_string(t, t->classes[i].name, NULL))};
  for (tk_id i = first; i <= t->n_tracks; i++)
    if (is_python(t, &t->tracks[i])) find_places(k, &t->tracks[i], places);
  mark_annotations(k, places);
  mem_free(k->mem, places);
  return true;
}
