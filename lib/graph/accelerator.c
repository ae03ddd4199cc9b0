/* accelerator.c - the rows: families, processes, threads, categories and names of accelerators. See accelerator.h. */
#include "accelerator.h"

#include <string.h>

#include "base/text.h"
#include "kind.h"

/* ---- families ---- */

/* Words of process labels and names, such as "GPU 0". */
static const char *const FAMILIES[] = {
    "GPU",    /* Kineto on CUDA and ROCm; "GPU0" in rocprof */
    "XPU",    /* Kineto on Intel */
    "NPU",    /* Ascend: torch_npu labels its processes so */
    "MTIA",   /* Kineto on Meta's accelerator */
    "HPU",    /* Habana */
    "MLU",    /* Cambricon: torch_mlu */
    "GCU",    /* Enflame */
    "MUSA",   /* Moore Threads: torch_musa */
    "MPS",    /* Apple */
    "TPU",    /* xprof */
    "Neuron", /* AWS */
    "IPU",    /* Graphcore */
    NULL};

/* Parses "GPU", "GPU 0", "GPU0" or "GPU #0"; other text may follow the number after a space or "(". */
static bool parse_family(const char *text, struct accelerator *a) {
  for (const char *const *word = FAMILIES; *word; word++) {
    const uint8_t *end;
    const size_t n = strlen(*word);
    if (!ascii_equal(text, *word, n)) continue;
    const char *p = text + n + strspn(text + n, " #:");
    if (!*p) return *a = (struct accelerator){*word, -1}, true;
    const struct num number = num_scan((const uint8_t *)p, &end);
    if (number.kind != NUM_INT || number.mant < 0 || (*end && *end != ' ' && *end != '(')) return false;
    *a = (struct accelerator){*word, number.mant};
    return true;
  }
  return false;
}

bool accelerator_is_label(const char *label) {
  struct accelerator a;
  return parse_family(label, &a) && a.number >= 0;
}

const char *accelerator_of_type(double type) {
  static const char *const TYPES[] = {[1] = "GPU", [6] = "GPU", [9] = "XLA", [12] = "XPU", [13] = "MPS", [15] = "HPU", [18] = "IPU", [19] = "MTIA"};
  const bool is_known = type >= 0 && type < sizeof TYPES / sizeof *TYPES && TYPES[(int)type];
  return is_known ? TYPES[(int)type] : "device";
}

/* ---- links ---- */

const char *const accelerator_links[ACCELERATOR_LINKS + 1] = {
    "correlation",    /* Kineto */
    "correlation_id", /* XPlane of CUDA and ROCm */
    "corr_id",        /* rocprofv3: rocprofiler-sdk, generatePerfetto.cpp */
    "correlationId",  /* nsys2json */
    "connection_id",  /* msprof, trace_view.json: the launch of a node */
    NULL};

/* ---- processes ---- */

enum part {
  QUEUES,      /* threads are queues of a device */
  COLLECTIVES, /* threads show collectives and the steps of each */
  COPIES,      /* threads are copy engines */
  CALLS,       /* threads of the host: calls of the runtime */
  MARKERS,     /* threads of the host: annotations */
  SUMMARY      /* derived from the other processes */
};

static const struct process_row {
  const char *name, *with; /* `with`: another process that the trace must have, because the name alone is common */
  enum part part;
  const char *family; /* of QUEUES */
} PROCESSES[] = {
    {"Ascend Hardware", NULL, QUEUES, "NPU"},                    /* msprof and torch_npu, trace_view.json */
    {"HCCL", "Ascend Hardware", COLLECTIVES, NULL},              /* the same, up to CANN 8.0 */
    {"Communication", "Ascend Hardware", COLLECTIVES, NULL},     /* the same, later */
    {"CANN", NULL, CALLS, NULL},                                 /* the same */
    {"Overlap Analysis", "Ascend Hardware", SUMMARY, NULL},      /* the same */
    {"COPY", "CPU HIP API", COPIES, "GPU"},                      /* rocprof 1, bin/tblextr.py */
    {"COPY", "CPU HSA API", COPIES, "GPU"},                      /* the same */
    {"CPU HIP API", NULL, CALLS, NULL},                          /* the same */
    {"CPU HSA API", NULL, CALLS, NULL},                          /* the same */
    {"Markers and Ranges", NULL, MARKERS, NULL},                 /* the same */
};
enum { N_PROCESSES = sizeof PROCESSES / sizeof *PROCESSES };

/* A merge puts the rank before the name: "rank 3 - GPU 0". */
static const char *own_name(const struct tk_trace *t, const struct tk_track *k) {
  const char *name = tk_string(t, k->name, NULL), *dash = NULL;
  if (text_begins(name, "rank ")) dash = strstr(name, " - ");
  return dash ? dash + 3 : name;
}

/* msprof computes a pid from that of the process, the kind of row and the device: pid << 10 | row << 5 | device. */
static int64_t ascend_number(const struct tk_track *k) {
  static const int64_t GIVEN_BY_MERGE = 10000000;
  const bool is_own = k->pid.kind == TK_IDENT_INT && k->pid.num > 1024 && !k->renamed;
  if (!is_own || (k->pid.num >= GIVEN_BY_MERGE && k->pid.num < GIVEN_BY_MERGE + 100000)) return -1;
  return k->pid.num & 31;
}

/* Begins with the name, because a merge by another tool may add a number. */
static bool is_named(const char *name, const char *row) {
  const size_t n = strlen(row);
  return text_begins(name, row) && (!name[n] || name[n] == ' ' || name[n] == '(');
}

struct accelerator accelerator_of(const struct tk_trace *t, tk_id process) {
  const struct tk_track *k = &t->tracks[process];
  const char *name = own_name(t, k);
  struct accelerator a = {NULL, -1};
  for (const struct process_row *row = PROCESSES; row < PROCESSES + N_PROCESSES; row++)
    if (row->family && row->part == QUEUES && is_named(name, row->name)) return (struct accelerator){row->family, ascend_number(k)};
  const char *plane = strstr(name, "/device:");
  if (plane && parse_family(plane + 8, &a)) return a;
  if (parse_family(tk_string(t, k->labels, NULL), &a) && a.number >= 0) return a;
  if (parse_family(name, &a) && a.number >= 0) return a;
  if (k->pid.kind == TK_IDENT_STR && parse_family(tk_string(t, k->pid.str, NULL), &a) && a.number >= 0) return a;
  return (struct accelerator){NULL, -1};
}

bool accelerator_is_part(const struct tk_trace *t, tk_id process) {
  const char *name = own_name(t, &t->tracks[process]);
  for (const struct process_row *row = PROCESSES; row < PROCESSES + N_PROCESSES; row++)
    if (row->part == COLLECTIVES && is_named(name, row->name)) return true;
  return false;
}

/* ---- tracks ---- */

/* Names of queues; a thread without a name is one, too. */
static bool is_queue(const char *name) {
  static const char *const WORDS[] = {"stream", "queue", "hw queue", "hwq", "compute", "thread ", NULL};
  for (const char *const *word = WORDS; *word; word++)
    if (ascii_equal(name, *word, strlen(*word))) return true;
  return !*name;
}

static bool has_process(const struct tk_trace *t, const char *name) {
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].kind == TK_PROCESS && is_named(own_name(t, &t->tracks[i]), name)) return true;
  return false;
}

/* Rows whose condition the trace meets. */
static uint32_t valid_rows(const struct tk_trace *t) {
  uint32_t valid = 0;
  for (unsigned i = 0; i < N_PROCESSES; i++)
    if (!PROCESSES[i].with || has_process(t, PROCESSES[i].with)) valid |= UINT32_C(1) << i;
  return valid;
}

static const struct process_row *row_of(const struct tk_trace *t, const struct tk_track *k, uint32_t valid) {
  const char *name = own_name(t, k);
  for (unsigned i = 0; i < N_PROCESSES; i++)
    if (valid >> i & 1 && is_named(name, PROCESSES[i].name)) return &PROCESSES[i];
  return NULL;
}

static unsigned role_of(const struct process_row *row, const char *thread) {
  switch (row->part) {
  case QUEUES: return is_queue(thread) ? KIND_DEVICE | KIND_KERNEL : KIND_DEVICE;
  case COLLECTIVES: return KIND_DEVICE | KIND_KERNEL | KIND_COLLECTIVE;
  case COPIES: return KIND_DEVICE | KIND_MEMCPY | KIND_TRANSFER;
  case CALLS: return KIND_RUNTIME;
  case MARKERS: return KIND_ANNOTATION;
  default: return KIND_DEVICE;
  }
}

bool accelerator_roles(const struct tk_trace *t, uint32_t *roles) {
  const uint32_t valid = valid_rows(t);
  bool any = false;
  roles[0] = 0;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i], *process = &t->tracks[k->parent];
    roles[i] = 0;
    if (k->kind != TK_THREAD || strstr(tk_string(t, process->name, NULL), "/device:")) continue;
    const char *thread = tk_string(t, k->name, NULL);
    const struct process_row *row = row_of(t, process, valid);
    if (row) roles[i] = role_of(row, thread);
    else if (accelerator_of(t, k->parent).family && is_queue(thread)) roles[i] = KIND_DEVICE | KIND_KERNEL;
    any |= roles[i] != 0;
  }
  return any;
}

/* ---- categories ---- */

/* Categories are a vendor's word and one of these: libkineto/include/ActivityType.h and its ports. */
static const char *const VENDORS[] = {"gpu_", "cuda_", "hip_", "rocm_", "xpu_", "mtia_", "mlu_", "gcu_", "npu_", "hpu_", "musa_", "maca_",
                                      "glow_", "neuron_", "privateuse1_", "device_", NULL};
static const struct category_row {
  const char *cat;
  unsigned kinds;
} SUFFIXES[] = {{"runtime", KIND_RUNTIME},
                {"driver", KIND_RUNTIME},
                {"api", KIND_RUNTIME},
                {"runtime_api", KIND_RUNTIME},
                {"kernel", KIND_KERNEL | KIND_DEVICE},
                {"kernel_dispatch", KIND_KERNEL | KIND_DEVICE}, /* rocprofiler-systems: rocm_kernel_dispatch */
                {"memcpy", KIND_MEMCPY | KIND_DEVICE},
                {"memory_copy", KIND_MEMCPY | KIND_DEVICE},
                {"memset", KIND_MEMSET | KIND_DEVICE},
                {"user_annotation", KIND_ANNOTATION | KIND_DEVICE},
                {"ccp_events", KIND_KERNEL | KIND_DEVICE}, /* mtia_ccp_events */
                {"sync", KIND_WAIT | KIND_DEVICE},
                {NULL, 0}};
static const struct category_row CATEGORIES[] = {{"kernel", KIND_KERNEL | KIND_DEVICE},
                                                 {"user_annotation", KIND_ANNOTATION},
                                                 {"cpu_op", KIND_OP},
                                                 {"python_function", KIND_PYTHON},
                                                 {"Kernel", KIND_KERNEL | KIND_DEVICE}, /* up to PyTorch 1.11 */
                                                 {"Memcpy", KIND_MEMCPY | KIND_DEVICE},
                                                 {"Memset", KIND_MEMSET | KIND_DEVICE},
                                                 {"Operator", KIND_OP},
                                                 {"Runtime", KIND_RUNTIME},
                                                 {"gpu_op", KIND_KERNEL | KIND_DEVICE},          /* Intel unitrace */
                                                 {"kernel_dispatch", KIND_KERNEL | KIND_DEVICE}, /* rocprofiler-sdk */
                                                 {"memory_copy", KIND_MEMCPY | KIND_DEVICE},
                                                 {"hsa_api", KIND_RUNTIME},
                                                 {"rccl_api", KIND_RUNTIME},
                                                 {"marker_api", KIND_ANNOTATION},
                                                 {"nvtx", KIND_ANNOTATION}, /* nsys2json */
                                                 {NULL, 0}};
/* Categories that say nothing of the kind of work. */
static const char *const BARE[] = {"hpu_op", "cuda", "hip", NULL};

static unsigned kinds_in(const struct category_row *rows, const char *cat) {
  while (rows->cat && strcmp(rows->cat, cat) != 0) rows++;
  return rows->kinds;
}

unsigned accelerator_category(const char *cat, bool *bare) {
  const unsigned kinds = kinds_in(CATEGORIES, cat);
  *bare = !*cat;
  if (kinds || !*cat) return kinds;
  for (const char *const *word = BARE; *word; word++)
    if (strcmp(cat, *word) == 0) *bare = true;
  for (const char *const *vendor = VENDORS; *vendor; vendor++)
    if (text_begins(cat, *vendor)) return kinds_in(SUFFIXES, cat + strlen(*vendor));
  return 0;
}

/* ---- names ---- */

/* Waits, records and markers in a queue: the device does no work in them. */
static const char *const WAITS[] = {
    "EVENT_WAIT", "EVENT_RECORD", "EVENT_RESET", "Notify_", "Notify ", "NOTIFY_", "Write Value", "WRITE_VALUE", "PROFILING_", "PLACE_HOLDER", /* Ascend */
    "SDMA", "Reduce_Inline", "RDMASend", /* Ascend: tasks of a collective, which its own row shows */
    "Stream Sync", "Context Sync", "Event Sync", "Device Sync", "Stream Wait Event", /* Kineto */
    "barrier packet", "<barrier packet>", /* rocprof */
    NULL};
static const char *const COPIES_BY_NAME[] = {"Memcpy", "MEMCPY_ASYNC", "CopyHostToDevice", "CopyDeviceToHost", "CopyDeviceToDevice", "hcclMemcpy",
                                             "MEMORY_COPY_", "zeCommandListAppendMemoryCopy", NULL};
static const char *const FILLS[] = {"Memset", "FillBuffer", "zeCommandListAppendMemoryFill", NULL};

/* "cudaMemcpyAsync", "hipModuleLaunchKernel", "zeCommandQueueExecuteCommandLists" */
static bool is_call(const char *name) {
  static const char *const APIS[] = {"cuda", "cu", "hip", "hsa_", "ze", "ur", "mcr", "cnrt", "cnInvoke", "aclrt", "musa", NULL};
  if (text_begins(name, "AscendCL@")) return true;
  for (const char *const *api = APIS; *api; api++) {
    const char *rest = name + strlen(*api);
    if (text_begins(name, *api) && ((*rest >= 'A' && *rest <= 'Z') || rest[-1] == '_')) return true;
  }
  return false;
}

unsigned accelerator_name(const char *name) {
  if (text_any_begins(name, WAITS)) return KIND_WAIT;
  if (text_any_begins(name, COPIES_BY_NAME)) return KIND_MEMCPY | KIND_TRANSFER;
  if (text_any_begins(name, FILLS)) return KIND_MEMSET;
  if (text_begins(name, "aten::") || text_begins(name, "torch_npu::") || text_begins(name, "c10d::")) return KIND_OP;
  return is_call(name) ? KIND_RUNTIME : 0;
}
