/* accelerator.c - tables of the names by which profilers mark device work: device families, processes and threads. See
 * accelerator.h. */
#include "accelerator.h"

#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/text.h"
#include "kind.h"

/* ---- families ---- */

/* Words of process labels and names, such as "GPU 0". */
static const char *const FAMILIES[] = {
    "GPU",    /* Kineto on CUDA and ROCm; "GPU0" in rocprof */
    "XPU",    /* Kineto on Intel */
    "NPU",    /* Ascend: the process label that torch_npu writes */
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
    if (!*p) {
      *a = (struct accelerator){*word, -1};
      return true;
    }
    const struct num number = num_scan((const uint8_t *)p, &end);
    if (number.kind != NUM_INT || number.mant < 0 || (*end && *end != ' ' && *end != '(' && *end != '/')) return false;
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
  static const char *const TYPES[] = {[1] = "GPU",  [6] = "GPU",  [9] = "XLA",  [12] = "XPU",
                                      [13] = "MPS", [15] = "HPU", [18] = "IPU", [19] = "MTIA"};
  const bool is_known = type >= 0 && type < sizeof TYPES / sizeof *TYPES && TYPES[(int)type];
  return is_known ? TYPES[(int)type] : "device";
}

/* ---- links ---- */

const char *const accelerator_links[ACCELERATOR_LINKS + 1] = {
    "correlation",    /* Kineto */
    "correlation_id", /* XPlane of CUDA and ROCm */
    "corr_id",        /* rocprofv3: rocprofiler-sdk, generatePerfetto.cpp */
    "correlationId",  /* nsys2json */
    "connection_id",  /* msprof, trace_view.json: links a node to its launch */
    "correlation id", /* Paddle: chrometracing_logger.cc */
    NULL};

/* ---- processes ---- */

enum part {
  QUEUES,      /* its threads are queues of a device */
  COLLECTIVES, /* its threads show collectives and the steps within each collective */
  COPIES,      /* its threads are copy engines */
  CALLS,       /* its threads are host threads with runtime calls */
  MARKERS,     /* its threads are host threads with annotations */
  OPERATORS,   /* its threads are host threads with operators */
  SUMMARY,     /* derived from other processes; shows no work of its own */
  REPEATS,     /* shows spans of other processes again, of hosts and devices */
  COUNTERS     /* counters of a device */
};

static const struct process_row {
  const char *name; /* name of the process, or a glob */
  /* a second process that the trace must contain, if `name` alone is too common; or "cat:" and a category, or "copies:" and a
   * process that must contain copies */
  const char *with;
  enum part part;
  const char *family; /* device family of the process's queues or counters, even if the process is a SUMMARY */
} PROCESSES[] = {
    {"Ascend Hardware", NULL, QUEUES, "NPU"},                /* msprof and torch_npu, trace_view.json */
    {"HCCL", "Ascend Hardware", COLLECTIVES, NULL},          /* Ascend, up to CANN 8.0 */
    {"Communication", "Ascend Hardware", COLLECTIVES, NULL}, /* Ascend, after CANN 8.0 */
    {"CANN", NULL, CALLS, NULL},                             /* Ascend */
    {"Overlap Analysis", "Ascend Hardware", SUMMARY, NULL},  /* Ascend */
    {"AI Core Freq", "Ascend Hardware", COUNTERS, "NPU"},    /* Ascend: this row and the next three */
    {"HBM", "Ascend Hardware", COUNTERS, "NPU"},
    {"LLC", "Ascend Hardware", COUNTERS, "NPU"},
    {"NPU MEM", "Ascend Hardware", COUNTERS, "NPU"},
    {"COPY", "CPU HIP API", COPIES, "GPU"},                  /* rocprof 1, bin/tblextr.py */
    {"COPY", "CPU HSA API", COPIES, "GPU"},                  /* rocprof 1 */
    {"CPU HIP API", NULL, CALLS, NULL},                      /* rocprof 1 */
    {"CPU HSA API", NULL, CALLS, NULL},                      /* rocprof 1 */
    {"Markers and Ranges", NULL, MARKERS, NULL},             /* rocprof 1 */
    {"DEVICE<*>*#*", NULL, QUEUES, "XPU"},                   /* Chrome logger of unitrace (pti-gpu) */
    {"RANK * DEVICE<*>*#*", NULL, QUEUES, "XPU"},            /* unitrace under MPI */
    {"GPU [0-9]*", NULL, QUEUES, "GPU"},                     /* our own name for queues of Perfetto's GpuRenderStageEvent */
    {"CUDA functions", "CPU functions", QUEUES, "GPU"},      /* PyTorch's autograd profiler without Kineto */
    {"CPU functions", "CUDA functions", OPERATORS, NULL},    /* another name that the same profiler uses */
    {"Device *", "cat:cuda", QUEUES, "GPU"},                 /* nsys2json.py, which stores the device name as text in "pid" */
    {"gpu/[0-9]*", "cpu/0", QUEUES, "GPU"},                  /* this row and the next three: MXNet, src/profiler/profiler.cc */
    {"cpu/[0-9]*", "gpu/0", OPERATORS, NULL},
    {"operator", "cpu/0", REPEATS, NULL},
    {"Custom Operator", "cpu/0", REPEATS, NULL},
    /* these 8 rows: TensorFlow 1, python/client/timeline.py */
    {"*/stream:all Compute", "*/stream:[0-9]* Compute", SUMMARY, "GPU"}, /* all streams; the device, if it is alone */
    {"*/memcpy Compute", "copies:*/stream:[0-9]* Compute", SUMMARY, "GPU"}, /* if the streams show the copies, too */
    {"*/device:GPU:*/stream:* Compute", NULL, QUEUES, "GPU"},
    {"*/device:GPU:*/memcpy Compute", NULL, QUEUES, "GPU"},
    {"*/gpu:*/stream:* Compute", NULL, QUEUES, "GPU"}, /* TensorFlow up to 1.2 */
    {"*/gpu:*/memcpy Compute", NULL, QUEUES, "GPU"},
    {"*/device:[CG]PU:* Compute", NULL, OPERATORS, NULL}, /* operators that the executor runs */
    {"*/[cg]pu:* Compute", NULL, OPERATORS, NULL},
};
enum { N_PROCESSES = sizeof PROCESSES / sizeof *PROCESSES };

/* Skips an index that older versions of rocprof put before a label, bin/sqlitedb.py: "2 GPU0". */
static const char *skip_index(const char *name) {
  static const char *const LABELS[] = {"GPU", "COPY", "CPU HIP API", "CPU HSA API", "Markers and Ranges", NULL};
  const size_t n = strspn(name, "0123456789");
  return n && name[n] == ' ' && text_any_begins(name + n + 1, LABELS) ? name + n + 1 : name;
}

/* Returns the track's name without the rank that a merge puts before it: "rank 3 - GPU 0". */
static const char *own_name(const struct tk_trace *t, const struct tk_track *k) {
  const char *name = tk_string(t, k->name, NULL), *dash = NULL;
  if (text_begins(name, "rank ")) dash = strstr(name, " - ");
  return skip_index(dash ? dash + 3 : name);
}

static const char *process_words(const struct tk_trace *t, const struct tk_track *k) {
  const char *name = own_name(t, k);
  return !*name && k->pid.kind == TK_IDENT_STR ? tk_string(t, k->pid.str, NULL) : name;
}

/* Extracts the device from a pid of msprof: host pid << 10 | kind of row << 5 | device. */
static int64_t ascend_number(const struct tk_track *k) {
  static const int64_t GIVEN_BY_MERGE = 10000000;
  const bool is_own = k->pid.kind == TK_IDENT_INT && k->pid.num > 1024 && !k->renamed;
  if (!is_own || (k->pid.num >= GIVEN_BY_MERGE && k->pid.num < GIVEN_BY_MERGE + 100000)) return -1;
  return k->pid.num & 31;
}

/* True if the name matches the row's glob or begins with the row's name: merges by other tools may append a number. */
static bool is_named(const char *name, const char *row) {
  const size_t n = strlen(row);
  if (strchr(row, '*')) return glob_matches(row, name);
  return text_begins(name, row) && (!name[n] || name[n] == ' ' || name[n] == '(');
}

static bool has_process(const struct tk_trace *t, const char *name) {
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].kind == TK_TRACK_PROCESS && is_named(process_words(t, &t->tracks[i]), name)) return true;
  return false;
}

static bool has_category(const struct tk_trace *t, const char *cat) {
  const tk_id id = trace_text_id(t, cat);
  for (tk_id i = 1; id && i <= t->n_classes; i++)
    if (t->classes[i].cat == id) return true;
  return false;
}

/* True if a process with this name contains copies, whose names begin with "MEMCPY" in TensorFlow. */
static bool has_copies(const struct tk_trace *t, const char *name) {
  if (!has_process(t, name)) return false;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (text_begins(tk_string(t, t->classes[e->cls].name, NULL), "MEMCPY") &&
        is_named(process_words(t, &t->tracks[t->tracks[e->track].parent]), name)) return true;
  }
  return false;
}

static bool is_valid(const struct tk_trace *t, const struct process_row *row) {
  if (!row->with) return true;
  if (text_begins(row->with, "cat:")) return has_category(t, row->with + 4);
  return text_begins(row->with, "copies:") ? has_copies(t, row->with + 7) : has_process(t, row->with);
}

/* Parses the device number: 1 in "DEVICE<node1>[Data Center GPU Max 1550] 0:9a:0:0 #1" (the first tile appends ".0"), 2 in
 * "Device 2", 3 in "gpu/3". */
static int64_t number_at_end(const char *name) {
  const char *hash = strrchr(name, '#'), *mark = hash ? hash : strrchr(name, ' ');
  if (!mark) mark = strrchr(name, '/');
  const char *p = mark ? mark + 1 : "";
  const size_t n = strspn(p, "0123456789");
  return n && n < 10 && (!p[n] || (hash && p[n] == '.')) ? strtoll(p, NULL, 10) : -1;
}

/* Finds the device in the name of a plane: "/device:GPU:0", "/gpu:0/stream:13 Compute". */
static bool parse_plane(const char *name, struct accelerator *a) {
  const char *plane = strstr(name, "/device:"), *old = strstr(name, "/gpu:");
  return plane ? parse_family(plane + 8, a) : old && parse_family(old + 1, a);
}

static int64_t accelerator_number_of(const struct tk_trace *t, const struct process_row *row, const struct tk_track *k,
                                     const char *name) {
  struct accelerator a;
  if (parse_plane(name, &a) || (parse_family(tk_string(t, k->labels, NULL), &a) && a.number >= 0)) return a.number;
  return strchr(row->name, '*') ? number_at_end(name) : ascend_number(k);
}

/* Finds the device of a process. `valid`: bit set of the rows to try (valid_rows). */
static struct accelerator of_process(const struct tk_trace *t, const struct tk_track *k, uint64_t valid) {
  const char *name = process_words(t, k);
  struct accelerator a = {NULL, -1}; /* the family is kept even if no number follows */
  for (unsigned i = 0; i < N_PROCESSES; i++) {
    const struct process_row *row = &PROCESSES[i];
    if (!(valid >> i & 1) || !is_named(name, row->name)) continue;
    const bool is_device = row->part == QUEUES || ((row->part == SUMMARY || row->part == COUNTERS) && row->family);
    return is_device ? (struct accelerator){row->family, accelerator_number_of(t, row, k, name)} : (struct accelerator){NULL, -1};
  }
  if (parse_plane(name, &a) || (parse_family(tk_string(t, k->labels, NULL), &a) && a.number >= 0)) return a;
  parse_family(name, &a);
  return a;
}

bool accelerator_is_process(const char *name) {
  bool is_one = false;
  for (unsigned i = 0; i < N_PROCESSES && !is_one; i++) is_one = !strchr(PROCESSES[i].name, '*') && is_named(name, PROCESSES[i].name);
  return is_one;
}

/* True if the process has the name of a row with one of these parts; `mark`: character that the row's name must contain, 0 = any. */
static bool has_part(const struct tk_trace *t, tk_id process, unsigned parts, char mark) {
  const char *name = process_words(t, &t->tracks[process]);
  for (const struct process_row *row = PROCESSES; row < PROCESSES + N_PROCESSES; row++)
    if (parts >> row->part & 1 && (!mark || strchr(row->name, mark)) && is_named(name, row->name)) return true;
  return false;
}

bool accelerator_is_part(const struct tk_trace *t, tk_id process) {
  return has_part(t, process, 1 << COLLECTIVES | 1 << COPIES, 0) || accelerator_spans_is_part(t, process);
}

bool accelerator_is_queue(const struct tk_trace *t, tk_id process) { return has_part(t, process, 1 << QUEUES, ':'); }

/* ---- tracks ---- */

/* True for the name of a queue; unnamed threads are also queues. */
static bool is_queue(const char *name) {
  static const char *const WORDS[] = {"stream", "queue", "hw queue", "hwq", "compute", "thread ", NULL};
  for (const char *const *word = WORDS; *word; word++)
    if (ascii_equal(name, *word, strlen(*word))) return true;
  return !*name;
}

/* Returns the bit set of rows whose `with` condition the trace meets. */
static uint64_t valid_rows(const struct tk_trace *t) {
  uint64_t valid = 0;
  for (unsigned i = 0; i < N_PROCESSES; i++)
    if (is_valid(t, &PROCESSES[i])) valid |= UINT64_C(1) << i;
  return valid;
}

static const struct process_row *accelerator_row_of(const struct tk_trace *t, const struct tk_track *k, uint64_t valid) {
  const char *name = process_words(t, k);
  for (unsigned i = 0; i < N_PROCESSES; i++)
    if (valid >> i & 1 && is_named(name, PROCESSES[i].name)) return &PROCESSES[i];
  return NULL;
}

enum { KERNELS = KIND_DEVICE | KIND_KERNEL, TRANSFERS = KIND_DEVICE | KIND_MEMCPY | KIND_TRANSFER };

/* Threads of host processes that show device work. Profilers that write Perfetto traces create no separate processes for
 * devices. */
static const struct thread_row {
  const char *begin; /* or a glob that matches the whole name */
  bool numbered; /* true if the number after `begin`, or in place of the glob's "[", is the device number */
  const char *family;
  unsigned role; /* kinds of the thread's spans without a category: some viewers export JSON without categories */
} THREADS[] = {
    {"COMPUTE AGENT [", true, "GPU agent", KERNELS},         /* rocprofiler-sdk, generatePerfetto.cpp, up to ROCm 6.3 */
    {"COMPUTE Agent [", true, "GPU agent", KERNELS},         /* the same, after ROCm 6.3; also rocpd, source/perfetto.cpp */
    {"COMPUTE GPU [", true, "GPU", KERNELS},                 /* rocprofiler-sdk with --agent-index type-relative */
    {"STREAM [", false, "GPU", KERNELS},                     /* rocprofiler-sdk, grouped by stream */
    {"COPY to AGENT [", false, "GPU", TRANSFERS},            /* rocprofiler-sdk; the agent may be a CPU */
    {"Dev ", true, "GPU", KERNELS},                          /* rocprof 2, plugin/perfetto/perfetto.cpp: "Dev 0 Queue 1" */
    {"HipStream ", false, "GPU", KERNELS},                   /* rocprof 2 */
    {"MEM COPIES(", false, "GPU", TRANSFERS},                /* rocprof 2 */
    {"GPU Kernel Dispatch [", true, "GPU", KERNELS},         /* rocprofiler-systems, rocprofiler-sdk.cpp */
    {"GPU Memory Copy to Agent [", false, "GPU", TRANSFERS}, /* rocprofiler-systems */
    {"HIP Activity Stream ", false, "GPU", KERNELS},         /* rocprofiler-systems */
    {"HIP Activity Device ", true, "GPU", KERNELS},          /* omnitrace, library/roctracer.cpp */
    {"GPU [0-9]* [Ss]tream*", true, "GPU", KERNELS},         /* scripts that convert CUPTI's records: "GPU 0 stream 7" */
    {NULL, false, NULL, 0}};

static bool has_row_name(const char *name, const struct thread_row *row) {
  return strchr(row->begin, '*') ? glob_matches(row->begin, name) : text_begins(name, row->begin);
}

static const char *thread_words(const struct tk_trace *t, const struct tk_track *k) {
  const char *name = tk_string(t, k->name, NULL);
  if (*name || k->tid.kind != TK_IDENT_STR) return name;
  const char *tid = tk_string(t, k->tid.str, NULL);
  return tid + strspn(tid, "0123456789"); /* MXNet writes tids above 2^63, which the graph stores as text */
}

static const struct thread_row *thread_row(const struct tk_trace *t, const struct tk_track *k) {
  const struct thread_row *row = THREADS;
  const char *name = k->kind == TK_TRACK_THREAD ? thread_words(t, k) : "";
  if (!*name) return NULL;
  while (row->begin && !has_row_name(name, row)) row++;
  return row->begin ? row : NULL;
}

bool accelerator_is_thread(const struct tk_trace *t, tk_id track) { return thread_row(t, &t->tracks[track]) != NULL; }

struct accelerator accelerator_of(const struct tk_trace *t, tk_id track) {
  const struct tk_track *k = &t->tracks[track];
  const struct thread_row *row = thread_row(t, k);
  const uint8_t *end;
  if (!row) return of_process(t, k->kind == TK_TRACK_PROCESS ? k : &t->tracks[k->parent], UINT64_MAX);
  if (!row->numbered) return (struct accelerator){row->family, -1};
  const size_t n = strchr(row->begin, '*') ? strcspn(row->begin, "[") : strlen(row->begin);
  const struct num number = num_scan((const uint8_t *)thread_words(t, k) + n, &end);
  return (struct accelerator){row->family, number.kind == NUM_INT ? number.mant : -1};
}

static unsigned role_of(const struct process_row *row, const char *thread) {
  switch (row->part) {
  case QUEUES: return is_queue(thread) ? KIND_DEVICE | KIND_KERNEL : KIND_DEVICE;
  case COLLECTIVES: return KIND_DEVICE | KIND_KERNEL | KIND_COLLECTIVE;
  case COPIES: return KIND_DEVICE | KIND_MEMCPY | KIND_TRANSFER;
  case CALLS: return KIND_RUNTIME;
  case MARKERS: return KIND_ANNOTATION;
  case OPERATORS: return KIND_OP;
  case REPEATS: return KIND_REPEAT;
  case COUNTERS: return 0;
  default: return KIND_DEVICE | KIND_REPEAT;
  }
}

/* Returns the kinds for spans of a device's thread. If the device has no number (a process called only "GPU"), an unnamed
 * thread does not count as a queue. */
static unsigned role_in(struct accelerator device, const char *thread) {
  const bool is_work = device.family && is_queue(thread) && (device.number >= 0 || *thread);
  return is_work ? KIND_DEVICE | KIND_KERNEL : 0;
}

static bool mark_render_stages(const struct tk_trace *t, uint32_t *roles) {
  if (!has_category(t, ACCELERATOR_RENDER_STAGE)) return false;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (strcmp(tk_string(t, t->classes[e->cls].cat, NULL), ACCELERATOR_RENDER_STAGE) == 0) roles[e->track] = KERNELS;
  }
  return true;
}

bool accelerator_roles(const struct tk_trace *t, uint32_t *roles) {
  const uint64_t valid = valid_rows(t);
  bool any = false;
  roles[0] = 0;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i], *process = &t->tracks[k->parent];
    roles[i] = 0;
    const struct process_row *row = k->hidden ? NULL : accelerator_row_of(t, process, valid);
    if (k->kind == TK_TRACK_ASYNCS && row && row->part == REPEATS) roles[i] = KIND_REPEAT;
    if (k->kind != TK_TRACK_THREAD || k->hidden) continue; /* XPlane has a hidden thread for the counters of a process */
    if (!row && strstr(tk_string(t, process->name, NULL), "/device:")) continue;
    const char *thread = thread_words(t, k);
    if (row) roles[i] = role_of(row, thread);
    else roles[i] = role_in(of_process(t, process, valid), thread);
    const struct thread_row *queue = roles[i] ? NULL : thread_row(t, k);
    if (queue) roles[i] = queue->role;
    any |= roles[i] != 0;
  }
  any |= mark_render_stages(t, roles);
  return accelerator_spans(t, roles) || any;
}

/* ---- suspects ---- */

/* True if the text contains the word in the same case and not as part of a longer word. */
static bool has_word(const char *text, const char *word) {
  const size_t n = strlen(word);
  for (const char *p = text; (p = strstr(p, word)); p += n) {
    const char before = p == text ? ' ' : p[-1], after = p[n];
    const bool begins = !((before | 32) >= 'a' && (before | 32) <= 'z'), ends = !((after | 32) >= 'a' && (after | 32) <= 'z');
    if (begins && ends) return true;
  }
  return false;
}

/* True for text that contains a word for a device. Host threads that serve a GPU (in Chrome, Android, Flutter) do not count, nor
 * does the memory of a device. */
static bool is_suspect(const char *text) {
  static const char *const WORDS[] = {"Gaudi",    "gaudi",       "NeuronCore",  "neuron", "Trainium",
                                      "AI Core", "accelerator", "Accelerator", "AICore", NULL};
  static const char *const HOST[] = {"GPU Process", "GPU completion", "GPU watchdog", "CPU", NULL};
  if (text_any_begins(text, HOST) || has_word(text, "memory")) return false;
  for (const char *const *word = FAMILIES; *word; word++)
    if (has_word(text, *word)) return true;
  for (const char *const *word = WORDS; *word; word++)
    if (has_word(text, *word)) return true;
  return false;
}

static const char *suspect_track(const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i], *process = &t->tracks[k->parent];
    if (k->kind != TK_TRACK_THREAD || !k->count) continue;
    const char *const texts[] = {thread_words(t, k), process_words(t, process), tk_string(t, process->labels, NULL)};
    for (size_t w = 0; w < sizeof texts / sizeof *texts; w++)
      if (is_suspect(texts[w])) return texts[w];
  }
  return NULL;
}

static bool accelerator_has_key(const struct tk_arg_shape *s, tk_id key) {
  uint32_t i = 0;
  while (key && i < s->n && s->fields[i].key != key) i++;
  return key && i < s->n;
}

/* Returns the name of a span that is probably device work: it has the args "device" and "stream", but an unknown category. NULL
 * if there is none. */
static const char *suspect_args(const struct tk_trace *t) {
  const tk_id device = trace_text_id(t, "device"), stream = trace_text_id(t, "stream");
  bool bare;
  for (tk_id i = 1; device && stream && i <= t->n_events; i++) {
    const struct tk_args it = tk_args_of(t, t->events[i].args);
    if (!it.shape || t->events[i].kind != TK_EVENT_SPAN || !accelerator_has_key(it.shape, device) ||
        !accelerator_has_key(it.shape, stream)) continue;
    const struct tk_class *c = &t->classes[t->events[i].cls];
    if (!accelerator_class(tk_string(t, c->name, NULL), tk_string(t, c->cat, NULL), &bare)) return tk_string(t, c->name, NULL);
  }
  return NULL;
}

const char *accelerator_suspect(const struct tk_trace *t) {
  const char *track = suspect_track(t);
  return track ? track : suspect_args(t);
}
