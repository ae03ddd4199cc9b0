/* accelerator_events.c - tables of the categories and names by which profilers mark events as device work or calls. See
 * accelerator.h.
 *
 * Most producers name the category after the kind of the event. If a producer has one category for all device work, or for all
 * events of a device, the event's name or its track decides. */
#include "accelerator.h"

#include <string.h>

#include "base/text.h"
#include "kind.h"

/* ---- categories ---- */

static const struct category_row {
  const char *cat;
  unsigned kinds;
} CATEGORIES[] = {
    {"kernel", KIND_KERNEL | KIND_DEVICE}, /* this row and the next three: libkineto, ActivityType.cpp */
    {"user_annotation", KIND_ANNOTATION},
    {"cpu_op", KIND_OP},
    {"python_function", KIND_PYTHON},
    {"fee", KIND_PYTHON}, /* viztracer: functions of Python and C; FEE until 0.13 */
    {"FEE", KIND_PYTHON},
    {"cuda_profiler_range", KIND_DEVICE | KIND_REPEAT | KIND_TALLY}, /* libkineto, CuptiRangeProfiler.cpp */
    {"Kernel", KIND_KERNEL | KIND_DEVICE}, /* libkineto up to PyTorch 1.11 */
    {"Memcpy", KIND_MEMCPY | KIND_DEVICE},
    {"Memset", KIND_MEMSET | KIND_DEVICE},
    {"Operator", KIND_OP},
    {"Runtime", KIND_RUNTIME},
    {"kernel_dispatch", KIND_KERNEL | KIND_DEVICE}, /* this row and the next five: rocprofv3: rocprofiler-sdk, cxx/perfetto.hpp */
    {"memory_copy", KIND_MEMCPY | KIND_DEVICE},
    {"hsa_api", KIND_RUNTIME},
    {"hip_api", KIND_RUNTIME},
    {"rccl_api", KIND_RUNTIME},
    {"marker_api", KIND_ANNOTATION},
    {"KERNELS", KIND_KERNEL | KIND_DEVICE}, /* this row and the next six: rocprof 2, plugin/perfetto/perfetto.cpp */
    {"MEM_COPIES", KIND_MEMCPY | KIND_DEVICE},
    {"HIP_API", KIND_RUNTIME},
    {"HSA_API", KIND_RUNTIME},
    {"ROCTX_MARK", KIND_ANNOTATION},
    {"ROCTX_RANGE_PUSH_POP", KIND_ANNOTATION},
    {"ROCTX_RANGE_START_STOP", KIND_ANNOTATION},
    {"COLL", KIND_COLLECTIVE},                      /* NCCL's example of a profiler plugin: ext-profiler/example/print_event.cc */
    {"CudaRuntime", KIND_RUNTIME},                  /* this row and the next three: Paddle, chrometracing_logger.cc */
    {"OperatorInner", KIND_OP},
    {"DygraphKernelLaunch", KIND_OP},
    {"PythonUserDefined", KIND_ANNOTATION},
    {"Node", KIND_OP},                              /* ONNX Runtime: EventCategory */
    {"operator", KIND_OP | KIND_EITHER},            /* MXNet: src/profiler/profiler.cc; of host and device */
    {"nvtx", KIND_ANNOTATION},                      /* nsys2json.py */
    {"nvtx-kernel", KIND_DEVICE | KIND_REPEAT},     /* nsys2json.py: first to last kernel of an NVTX range */
    {NULL, 0}};
/* Other categories consist of one of these prefixes and one of the words below. */
static const char *const VENDORS[] = {"gpu_",  "cuda_", "hip_",  "rocm_", "xpu_",    "mtia_",         "mlu_",    "gcu_", "npu_", "hpu_",
                                      "musa_", "maca_", "glow_", "neuron_", "privateuse1_", "device_", NULL};
static const struct category_row SUFFIXES[] = {
    {"runtime", KIND_RUNTIME}, /* libkineto, ActivityType.cpp, and its ports: torch_mlu, kineto_mlu */
    {"driver", KIND_RUNTIME},
    {"kernel", KIND_KERNEL | KIND_DEVICE},
    {"memcpy", KIND_MEMCPY | KIND_DEVICE},
    {"memset", KIND_MEMSET | KIND_DEVICE},
    {"user_annotation", KIND_DEVICE | KIND_REPEAT}, /* first to last kernel of an annotation, which the host records itself */
    {"sync", KIND_WAIT | KIND_DEVICE},         /* cuda_sync */
    {"api", KIND_RUNTIME},                     /* cuda_api: nsys2json.py */
    {"runtime_api", KIND_RUNTIME},
    {"kernel_dispatch", KIND_KERNEL | KIND_DEVICE}, /* this row and the next five: rocprofiler-systems, core/categories.hpp */
    {"memory_copy", KIND_MEMCPY | KIND_DEVICE},
    {"hip_api", KIND_RUNTIME}, {"hsa_api", KIND_RUNTIME}, {"rccl_api", KIND_RUNTIME},
    {"marker_api", KIND_ANNOTATION},
    {"hip", KIND_RUNTIME}, /* omnitrace: rocm_hip, rocm_hsa, rocm_roctx */
    {"hsa", KIND_RUNTIME},
    {"roctx", KIND_ANNOTATION},
    {NULL, 0}};
/* Categories shared by all kinds of device work; the event's name decides the kind. */
static const char *const WORK[] = {
    "gpu_op",          /* unitrace */
    "rocm_hip_stream", /* rocprofiler-systems */
    "device_hip",      /* omnitrace */
    "device_hsa",      /* omnitrace */
    "HIP_OPS",         /* rocprof 2 */
    "mtia_ccp_events", /* Kineto on MTIA */
    NULL};
/* Categories that do not reveal the kind of work. */
static const char *const BARE[] = {
    "hpu_op", "cuda", "hip", ACCELERATOR_RENDER_STAGE,
    "Op",                                                                            /* TensorFlow 1, timeline.py */
    "Custom Operator",                                                               /* MXNet */
    "gpu", "GPU", "CUDA", "HIP", "cupti", "CUPTI", /* scripts that convert CUPTI's records; Chrome has "gpu", too */
    "Iteration Time", "FP_BP Time", "Iteration Refresh", "Data_aug Bound", "Reduce", /* Ascend: msprof, step traces */
    NULL};

/* Device families, by the vendor's word in a category. */
static const struct {
  const char *vendor, *family;
} OWN_FAMILIES[] = {{"xpu_", "XPU"}, {"mtia_", "MTIA"}, {"mlu_", "MLU"},   {"gcu_", "GCU"},
                    {"npu_", "NPU"}, {"hpu_", "HPU"},   {"musa_", "MUSA"}, {"neuron_", "Neuron"}};

const char *accelerator_of_categories(const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_classes; i++) {
    const char *cat = tk_string(t, t->classes[i].cat, NULL);
    for (size_t k = 0; k < sizeof OWN_FAMILIES / sizeof *OWN_FAMILIES; k++)
      if (text_begins(cat, OWN_FAMILIES[k].vendor)) return OWN_FAMILIES[k].family;
  }
  return "GPU";
}

static bool is_any(const char *word, const char *const *words) {
  while (*words && strcmp(word, *words) != 0) words++;
  return *words != NULL;
}

static unsigned kinds_in(const struct category_row *rows, const char *cat) {
  while (rows->cat && strcmp(rows->cat, cat) != 0) rows++;
  return rows->kinds;
}

static unsigned of_category(const char *cat) {
  const unsigned kinds = kinds_in(CATEGORIES, cat);
  if (kinds) return kinds;
  for (const char *const *vendor = VENDORS; *vendor; vendor++)
    if (text_begins(cat, *vendor)) return kinds_in(SUFFIXES, cat + strlen(*vendor));
  return 0;
}

/* ---- names ---- */

/* Names of waits, records and markers in a queue, during which the device does no work. */
static const char *const WAITS[] = {
    /* Ascend: msprof, task types */
    "EVENT_WAIT", "EVENT_RECORD", "EVENT_RESET", "Notify_", "Notify ", "NOTIFY_", "Write Value", "WRITE_VALUE", "PROFILING_",
    "PLACE_HOLDER",
    /* Ascend: tasks of a collective; the collective itself has a separate row */
    "SDMA", "Reduce_Inline", "REDUCE_ASYNC", "RDMASend",
    /* Kineto */
    "Stream Sync", "Context Sync", "Event Sync", "Device Sync", "Stream Wait Event",
    /* Kineto on MTIA */
    "event_wait", "event_record",
    /* rocprof */
    "barrier packet", "<barrier packet>",
    /* rpd2tracing.py: lasts from the first kernel of a graph to its last kernel */
    "Graph ",
    /* unitrace, ze_collector */
    "zeCommandListAppendBarrier", "zeCommandListAppendMemoryRangesBarrier", "zeCommandListAppendSignalEvent",
    "zeCommandListAppendWaitOnEvents", "zeCommandListAppendEventReset", NULL};
static const char *const COPIES_BY_NAME[] = {
    "Memcpy",                                                     /* Kineto */
    "MEMCPY_ASYNC", "hcclMemcpy",                                 /* Ascend */
    "MEMCPYHtoD", "MEMCPYDtoH", "MEMCPYDtoD", "MEMCPYPtoP",       /* TensorFlow 1, device_tracer.cc */
    "CopyHostToDevice", "CopyDeviceToHost", "CopyDeviceToDevice", /* rocprof 1 */
    "MEMORY_COPY_",                                               /* rocprofiler-sdk */
    "zeCommandListAppendMemoryCopy", "zeCommandListAppendImageCopy", /* unitrace */
    "dma_request",                                                /* MTIA: between host and device */
    "CopyCPU2GPU", "CopyGPU2CPU", "CopyGPU2GPU", "SyncCopyGPU2CPU", /* MXNet, src/ndarray/ndarray.cc */
    ACCELERATOR_COPIES, NULL};
static const char *const FILLS[] = {"Memset", "FillBuffer", "zeCommandListAppendMemoryFill", ACCELERATOR_FILLS, NULL};

unsigned accelerator_blit(const char *name) {
  if (text_begins(name, "__amd_rocclr_copy")) return KIND_MEMCPY | KIND_TRANSFER;
  return text_begins(name, "__amd_rocclr_fill") ? KIND_MEMSET : 0;
}

/* ---- calls ---- */

/* First words of the calls of CUDA's runtime and driver; HIP has the same words and a few more. Kernels of apex are called
 * cuApplyLayerNorm and cuComputeGradInput. */
static const char *const CUDA_WORDS[] = {
    "Array", "Bind", "Checkpoint", "Choose", "Configure", "Coredump", "Create", "Ctx", "D3D", "Destroy", "Dev", "Device", "Driver",
    "Drv", "EGL", "Event", "Ext", "External", "Flush", "Free", "Func", "GL", "Get", "Graph", "Graphics", "Green", "Host", "Import",
    "Init", "Ipc", "Kernel", "Launch", "Library", "Link", "Logs", "Malloc", "Mem", "Memcpy", "Memset", "Mipmapped", "Module",
    "Multicast", "Occupancy", "Param", "Peek", "Pointer", "Profiler", "Runtime", "Set", "Setup", "Signal", "Stream", "Surf",
    "TensorMap", "Tex", "Thread", "Unbind", "User", "VDPAU", "Wait", NULL};
static const char *const LEVEL_ZERO_WORDS[] = {
    "Command", "Context", "Device", "Driver", "Event", "Fence", "Image", "Init", "Kernel", "Loader", "Mem", "Module", "Physical",
    "RTAS", "Sampler", "Virtual", NULL};
static const char *const UNIFIED_WORDS[] = {
    "Adapter", "Bindless", "Command", "Context", "Device", "Enqueue", "Event", "Kernel", "Loader", "Mem", "Physical", "Platform",
    "Program", "Queue", "Sampler", "USM", "Virtual", NULL};
static const struct api_row {
  const char *begin;
  const char *const *words; /* NULL: any word that begins with a capital letter */
} APIS[] = {
    {"cuda", CUDA_WORDS},     {"cu", CUDA_WORDS}, {"hip", CUDA_WORDS}, {"mcr", CUDA_WORDS},
    {"ze", LEVEL_ZERO_WORDS}, /* oneAPI Level Zero */
    {"ur", UNIFIED_WORDS},    /* oneAPI Unified Runtime */
    {"cnrt", NULL},           {"cnInvoke", NULL}, {"aclrt", NULL},     {"musa", NULL},
};

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/* True if the text begins with one of the words and no lower case letter follows the word. */
static bool has_first_word(const char *text, const char *const *words) {
  for (; *words; words++)
    if (text_begins(text, *words) && !is_lower(text[strlen(*words)])) return true;
  return false;
}

bool accelerator_is_call(const char *name) {
  if (text_begins(name, "AscendCL@") || text_begins(name, "hsa_")) return true;
  for (const struct api_row *api = APIS; api < APIS + sizeof APIS / sizeof *APIS; api++) {
    const char *rest = name + strlen(api->begin);
    if (!text_begins(name, api->begin)) continue;
    if (api->words ? has_first_word(rest, api->words) : *rest >= 'A' && *rest <= 'Z') return true;
  }
  return false;
}

unsigned accelerator_aiu(const char *name) {
  /* IBM's flex runtime, raw traces: aiu_trace_analyzer/dialect.py and pipeline/categorize.py */
  static const struct {
    const char *end;
    unsigned kinds;
  } ROWS[] = {{" Cmpt Exec", KIND_KERNEL | KIND_DEVICE},
              {" Cmpt Prep", KIND_WAIT | KIND_DEVICE},
              {" DmaI", KIND_MEMCPY | KIND_TRANSFER | KIND_DEVICE},
              {" DmaO", KIND_MEMCPY | KIND_TRANSFER | KIND_DEVICE}};
  const size_t n = strlen(name);
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
    const size_t end = strlen(ROWS[i].end);
    if (n <= end || memcmp(name + n - end, ROWS[i].end, end) != 0) continue;
    if (!(ROWS[i].kinds & KIND_MEMCPY) || !strstr(name, "[sync=")) return ROWS[i].kinds;
    return strstr(name, "Set BcList") || strstr(name, "Xseg to rank") ? KIND_WAIT | KIND_DEVICE : KIND_COLLECTIVE | KIND_DEVICE;
  }
  return 0;
}

unsigned accelerator_name(const char *name) {
  const unsigned aiu = accelerator_aiu(name) & ~(unsigned)(KIND_KERNEL | KIND_DEVICE);
  if (aiu) return aiu;
  if (text_any_begins(name, WAITS)) return KIND_WAIT;
  if (text_any_begins(name, COPIES_BY_NAME)) return KIND_MEMCPY | KIND_TRANSFER;
  if (text_any_begins(name, FILLS)) return KIND_MEMSET;
  if (text_begins(name, "aten::") || text_begins(name, "torch_npu::") || text_begins(name, "c10d::")) return KIND_OP;
  return accelerator_is_call(name) ? KIND_RUNTIME : 0;
}

static unsigned of_work(const char *name) {
  static const unsigned NO_KERNEL = KIND_MEMCPY | KIND_MEMSET | KIND_TRANSFER | KIND_WAIT;
  const char *rest = text_begins(name, "Tile #") ? strstr(name, ": ") : NULL; /* unitrace prefixes names with the tile */
  const unsigned kinds = accelerator_name(rest ? rest + 2 : name) & NO_KERNEL;
  return KIND_DEVICE | (kinds ? kinds : KIND_KERNEL);
}

unsigned accelerator_class(const char *name, const char *cat, bool *bare) {
  *bare = !*cat || is_any(cat, BARE);
  if (*bare) return 0;
  if (is_any(cat, WORK)) return of_work(name);
  if (strcmp(cat, "cpu_op") == 0 && accelerator_is_call(name)) return KIND_RUNTIME; /* unitrace: runtime calls */
  const unsigned kinds = of_category(cat);
  *bare = kinds & KIND_EITHER;
  return kinds;
}
