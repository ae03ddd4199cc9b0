/* host_names.c - see host_names.h. The tables contain names as profilers write them. */
#include "host_names.h"

#include <string.h>

#include "base/glob.h"
#include "base/text.h"
#include "graph/accelerator.h"
#include "graph/phase_names.h"

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/* True for a Python frame in which a compiler compiles code. Other functions in the same files run at each call and do not count, such
 * as "run" in triton/runtime/jit.py, which launches a kernel. */
static bool is_compiling_frame(const char *name) {
  static const char *const files[] = {"triton/compiler/", "triton/runtime/jit.py(", "_inductor/compile_fx.py(",
                                      "_inductor/async_compile.py(", NULL};
  static const char *const functions[] = {"compile", "_compile", "_do_compile", NULL};
  const char *function = strstr(name, "): ");
  if (!function || !text_any_holds(name, files)) return false;
  for (const char *const *word = functions; *word; word++)
    if (text_begins(function + 3, *word) && !is_lower(function[3 + strlen(*word)])) return true; /* not "compiled_run" */
  return false;
}

static bool continues_word(char c) { return ascii_letter(c) || ascii_digit(c) || c == '_'; }

/* True if the name contains the word, with no letter, digit or underscore on either side. */
static bool has_word(const char *name, const char *word) {
  const size_t n = strlen(word);
  for (const char *at = name; (at = strstr(at, word)); at += n)
    if ((at == name || !continues_word(at[-1])) && !continues_word(at[n])) return true;
  return false;
}

/* True for XLA and TensorFlow functions whose names begin with the word "Compile", such as "CompileToExecutable". */
static bool begins_with_compile(const char *name) {
  static const char *const others[] = {"CompileFree", "CompileOptions", NULL}; /* CompileFree releases compiled code */
  if (!text_begins(name, "Compile") || text_any_begins(name, others)) return false;
  return !is_lower(name[7]) && name[7] != '_';
}

/* True for a function that begins_with_compile accepts, with or without a scope before it: "xla::LocalClient::Compile". */
static bool is_compile_function(const char *name) {
  bool found = begins_with_compile(name);
  for (const char *at = name; !found && (at = strstr(at, "::"));) found = begins_with_compile(at += 2);
  return found;
}

/* True for spans of the compilers of XLA, JAX, Triton and TorchInductor, and for Python frames within these compilers. Spans whose
 * names begin with "Compiled" run code that was compiled before. */
static bool is_compilation(const char *name) {
  static const char *const parts[] = {"XlaCompile", "backend_compile", "BackendCompile", "CompileAndLoad", "RunHloPasses",
                                      "RunBackend", "HloPassPipeline", "CompiledFxGraph.compile", "torch/_dynamo/convert_frame",
                                      "Inductor::compile", "TritonBundler", NULL};
  static const char *const words[] = {"compile_fx", "async_compile", NULL};
  static const char *const first[] = {"XlaBuild", "jit_compile", "triton_compile", NULL};
  if (text_any_holds(name, parts) || is_compiling_frame(name)) return !text_begins(name, "Torch-Compiled");
  if (text_any_holds(name, words) && !strstr(name, ".py(")) return true;
  return text_any_begins(name, first) || is_compile_function(name);
}

/* True for calls of CUDA, HIP, CANN and other runtimes that return only when the device is done, including copies without "Async".
 * `name` must be the name of a runtime call. */
static bool blocks(const char *name) {
  static const char *const whole[] = {"cudaMemcpy", "cudaMemcpy2D", "cuMemcpyDtoH_v2", "cuMemcpyHtoD_v2",
                                      "cuMemcpyDtoH", "cuMemcpyHtoD", "hipMemcpy", "hipMemcpyWithStream", "hipMemcpyDtoH",
                                      "hipMemcpyHtoD", "aclrtMemcpy"};
  if (strstr(name, "Synchronize")) return true;
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
    if (strcmp(name, whole[i]) == 0) return true;
  return false;
}

/* True for calls that submit work to the device: cudaLaunchKernel, hipGraphLaunch, cuMemcpyHtoDAsync_v2, cudaMemsetAsync. */
static bool launches(const char *name) {
  static const char *const parts[] = {"Launch", "MemcpyAsync", "MemsetAsync", "DAsync", "HAsync", "Execute", NULL};
  return text_any_holds(name, parts) && !strstr(name, "HostFunc");
}

/* True for functions that wait for a result of the device: functions of JAX, as frames of its Python tracer (try_to_block is called by
 * block_until_ready before JAX 0.9) or calls of PJRT; and synchronize of PyTorch's streams and events. */
static bool awaits_device(const char *name) {
  static const char *const parts[] = {"block_until_ready", "try_to_block", "BlockUntilReady", "BlockHostUntilReady",
                                      "PjRtBuffer::Await", "built-in method synchronize of torch", NULL};
  return text_any_holds(name, parts);
}

/* True for garbage collections of CPython: calls of gc.collect, and spans that PyTorch and viztracer record. */
static bool is_collection(const char *name) {
  static const char *const parts[] = {"built-in function collect>", "built-in method collect of module", NULL};
  if (strcmp(name, "Python GC") == 0 || strcmp(name, "garbage collection") == 0) return true;
  return has_word(name, "gc.collect") || text_any_holds(name, parts);
}

/* True for Python functions that wait for something other than a device. Kineto, viztracer and JAX record these names. */
static bool waits(const char *name) {
  static const char *const parts[] = {"time.sleep", "built-in method sleep", "$time sleep", "built-in method acquire of",
                                      "lock.acquire", "SemLock.acquire", "SemLock.__enter__", "_ThreadHandle.join", "posix.waitpid",
                                      "built-in method join of _thread._ThreadHandle", "built-in method poll of", "select.poll",
                                      "select.epoll", "select.select", "built-in method select", NULL};
  return text_any_holds(name, parts);
}

/* Categories of calls of the operating system and its libraries. */
static const char *const SYSTEM[] = {
  "osrt",    /* this and the next: Nsight Systems, OS runtime libraries and system calls */
  "syscall",
  "pthread", /* rocprofiler-systems and omnitrace, core/categories.hpp */
};

static bool is_system(const char *cat) {
  for (size_t i = 0; i < sizeof SYSTEM / sizeof *SYSTEM; i++)
    if (strcmp(cat, SYSTEM[i]) == 0) return true;
  return false;
}

/* True for operating system calls that only wait: for time to pass, or for another thread, process or peer. False for reads and writes,
 * because most of them move data. */
static bool system_waits(const char *name) {
  static const char *const globs[] = {
    "*sleep", "pause", "wait", "wait[34]", "waitid", "waitpid", "sigsuspend", "sig*wait*", "futex", "futex_wait*",
    "poll", "ppoll", "select", "pselect*", "epoll_wait", "epoll_pwait*", "accept", "accept4", "flock",
    "pthread_join", "pthread_timedjoin_np", "pthread_clockjoin_np", "pthread_cond_*wait", "pthread_barrier_wait",
    "pthread_mutex_lock", "pthread_mutex_timedlock", "pthread_mutex_clocklock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock",
    "pthread_rwlock_timed*lock", "pthread_rwlock_clock*lock", "pthread_spin_lock", "sem_wait", "sem_timedwait", "sem_clockwait"};
  for (size_t i = 0; i < sizeof globs / sizeof *globs; i++)
    if (glob_matches(globs[i], name)) return true;
  return false;
}

/* Spans that only show that a profiler was active, by category or by name. */
static const struct mark {
  const char *cat, *glob;
} MARKS[] = {
  {"Trace", NULL},               /* Kineto: "PyTorch Profiler (0)" around the whole trace, on a process of its own (output_json.cpp) */
  {NULL, "PyTorch Profiler (*"}, /* the same span in formats without categories */
  {NULL, "$profiler.py:* start_trace"}, /* this row and the next: jax/_src/profiler.py; the call that ends a recording is its last
                                         * frame */
  {NULL, "$profiler.py:* stop_trace"},
};

static bool is_mark(const char *name, const char *cat) {
  for (size_t i = 0; i < sizeof MARKS / sizeof *MARKS; i++)
    if (MARKS[i].cat ? strcmp(cat, MARKS[i].cat) == 0 : glob_matches(MARKS[i].glob, name)) return true;
  return false;
}

enum host_class host_names_class(const char *name, const char *cat) {
  const uint8_t phase = phase_of_name(name, cat);
  if (is_mark(name, cat)) return HOST_MARK;
  if (is_system(cat)) return system_waits(name) ? HOST_WAIT : HOST_SYSTEM;
  if (is_compilation(name) || phase == PHASE_COMPILE) return HOST_COMPILE;
  if (phase == PHASE_DATALOADER) return HOST_INPUT;
  if (is_collection(name)) return HOST_GC;
  if (phase == PHASE_CHECKPOINT) return HOST_CHECKPOINT;
  if (awaits_device(name)) return HOST_SYNC;
  if (blocks(name)) return !*cat && accelerator_is_call(name) ? HOST_SYNC : HOST_BLOCKS;
  if (waits(name)) return HOST_WAIT;
  if (strcmp(cat, "overhead") == 0) return HOST_RUNTIME; /* CUPTI's records of overhead in the driver and in CUPTI itself */
  return launches(name) ? HOST_LAUNCH : HOST_NOTHING;
}

enum host_class host_names_class_of(enum host_class named, unsigned kind) {
  if (named == HOST_MARK) return HOST_NOTHING;
  if (named == HOST_BLOCKS) named = kind & KIND_RUNTIME ? HOST_SYNC : HOST_NOTHING;
  if (kind & KIND_RUNTIME) return named == HOST_SYNC || named == HOST_LAUNCH ? named : HOST_RUNTIME;
  if (named && named != HOST_LAUNCH && (named != HOST_SYNC || kind & KIND_PYTHON || !(kind & KIND_ANNOTATION))) return named;
  if (kind & KIND_PYTHON) return HOST_PYTHON;
  return kind & (KIND_STEP | KIND_ANNOTATION | KIND_MODULE) ? HOST_NOTHING : HOST_OP;
}

bool *host_names_marks(const struct tk_trace *t, struct mem *mem) {
  bool *is = mem_array(mem, (uint64_t)t->n_classes + 1, sizeof *is);
  for (tk_id i = 0; is && i <= t->n_classes; i++)
    is[i] = is_mark(tk_string(t, t->classes[i].name, NULL), tk_string(t, t->classes[i].cat, NULL));
  return is;
}
