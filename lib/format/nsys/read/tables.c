/* tables.c - converts tables of spans and instants to events. To support another table, add a row to TABLES.
 *
 * Columns are identified by name. A few determine the track and times of the event; the others become args, under Kineto's
 * names if Kineto has such args. */
#include "tables.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/text.h"
#include "graph/args.h"
#include "chains.h"
#include "nccl.h"
#include "texts.h"
#include "tracks.h"

enum place { ON_THREAD, ON_STREAM };

struct table_row {
  const char *name;     /* name of the table, or the start of the name followed by '*' */
  enum place on;
  const char *category;
  const char *call;     /* column with the event's name: a string, an id of StringIds, or a value of `labels` */
  const char *labels;   /* ENUM_ table; NULL = none */
  const char *pattern;  /* pattern for the event's name, with %s for the value of `call`; NULL = the value itself */
  enum nsys_lane lane;  /* for ON_STREAM: lane of the stream */
};

/* The host's tables come first, because devices can only be numbered when all processes are known, and calls must be known before the
 * work that they launch. */
static const struct table_row TABLES[] = {
    {"CUPTI_ACTIVITY_KIND_RUNTIME", ON_THREAD, "cuda_runtime", "nameId", NULL, NULL, LANE_WORK}, /* eventClass 1: driver calls */
    {"CUDA_GRAPH_NODE_EVENTS", ON_THREAD, "cuda_graph", "nameId", NULL, NULL, LANE_WORK}, /* nsys --cuda-graph-trace=node */
    {"CUDNN_EVENTS", ON_THREAD, "cudnn", "nameId", NULL, NULL, LANE_WORK},
    {"CUBLAS_EVENTS", ON_THREAD, "cublas", "nameId", NULL, NULL, LANE_WORK},
    {"CUSOLVER_EVENTS", ON_THREAD, "cusolver", "nameId", NULL, NULL, LANE_WORK},
    {"CUSPARSE_EVENTS", ON_THREAD, "cusparse", "nameId", NULL, NULL, LANE_WORK},
    {"OSRT_API", ON_THREAD, "osrt", "nameId", NULL, NULL, LANE_WORK},
    {"NVMEDIA_EVENTS", ON_THREAD, "nvmedia", "nameId", NULL, NULL, LANE_WORK},
    {"NVVIDEO_ENCODER_API", ON_THREAD, "nvvideo", "nameId", NULL, NULL, LANE_WORK},
    {"NVVIDEO_DECODER_API", ON_THREAD, "nvvideo", "nameId", NULL, NULL, LANE_WORK},
    {"NVVIDEO_JPEG_API", ON_THREAD, "nvvideo", "nameId", NULL, NULL, LANE_WORK},
    {"SYSCALL", ON_THREAD, "syscall", "nameId", NULL, NULL, LANE_WORK},
    {"OPENACC_DATA_EVENTS", ON_THREAD, "openacc", "nameId", NULL, NULL, LANE_WORK},
    {"OPENACC_LAUNCH_EVENTS", ON_THREAD, "openacc", "nameId", NULL, NULL, LANE_WORK},
    {"OPENACC_OTHER_EVENTS", ON_THREAD, "openacc", "nameId", NULL, NULL, LANE_WORK},
    {"OPENMP_EVENT_KIND_*", ON_THREAD, "openmp", "nameId", NULL, NULL, LANE_WORK},
    {"MPI_P2P_EVENTS", ON_THREAD, "mpi", "textId", NULL, NULL, LANE_WORK},
    {"MPI_COLLECTIVES_EVENTS", ON_THREAD, "mpi", "textId", NULL, NULL, LANE_WORK},
    {"MPI_START_WAIT_EVENTS", ON_THREAD, "mpi", "textId", NULL, NULL, LANE_WORK},
    {"MPI_OTHER_EVENTS", ON_THREAD, "mpi", "textId", NULL, NULL, LANE_WORK},
    {"UCP_EVENTS", ON_THREAD, "ucx", "textId", NULL, NULL, LANE_WORK},
    {"UCP_SUBMIT_EVENTS", ON_THREAD, "ucx", "textId", NULL, NULL, LANE_WORK},
    {"UCP_PROGRESS_EVENTS", ON_THREAD, "ucx", "textId", NULL, NULL, LANE_WORK},
    {"PROFILER_OVERHEAD", ON_THREAD, "overhead", "nameId", NULL, NULL, LANE_WORK},
    {"CUPTI_ACTIVITY_KIND_OVERHEAD", ON_THREAD, "overhead", "nameId", NULL, NULL, LANE_WORK},
    {"CUPTI_ACTIVITY_KIND_KERNEL", ON_STREAM, "kernel", "demangledName", NULL, NULL, LANE_WORK},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", ON_STREAM, "gpu_memcpy", "copyKind", "ENUM_CUDA_MEMCPY_OPER", "[CUDA memcpy %s]", LANE_WORK},
    {"CUPTI_ACTIVITY_KIND_MEMSET", ON_STREAM, "gpu_memset", NULL, NULL, "[CUDA memset]", LANE_WORK},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", ON_STREAM, "kernel", "graphId", NULL, "CUDA graph %s", LANE_WORK},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", ON_STREAM, "cuda_sync", "syncType", "ENUM_CUPTI_SYNC_TYPE", NULL, LANE_SYNC},
    {"CUPTI_ACTIVITY_KIND_CUDA_EVENT", ON_STREAM, "cuda_event", "eventId", NULL, "CUDA event %s", LANE_SYNC},
};
enum { N_TABLES = sizeof TABLES / sizeof *TABLES };

/* ---- columns ---- */

enum role { ROLE_ARG, ROLE_PLACE, ROLE_TEXT, ROLE_TRIPLE, ROLE_LINK, ROLE_CHAIN };

static const struct column_row {
  const char *name;
  enum role role;
  const char *key; /* key of the arg; NULL = no arg, "" = the name of the column */
} COLUMNS[] = {
    {"start", ROLE_PLACE, NULL},
    {"timestamp", ROLE_PLACE, NULL},
    {"end", ROLE_PLACE, NULL},
    {"globalTid", ROLE_PLACE, NULL},
    {"globalPid", ROLE_PLACE, NULL},
    {"eventClass", ROLE_PLACE, NULL},
    {"deviceId", ROLE_ARG, "device"},
    {"contextId", ROLE_ARG, "context"},
    {"streamId", ROLE_ARG, "stream"},
    {"correlationId", ROLE_LINK, "correlation"},
    {"demangledName", ROLE_TEXT, "demangledName"},
    {"shortName", ROLE_TEXT, "short name"},
    {"mangledName", ROLE_TEXT, "mangled name"},
    {"callchainId", ROLE_CHAIN, "callchain"},
    {"nameId", ROLE_TEXT, "name"},
    {"textId", ROLE_TEXT, "text"},
    {"registersPerThread", ROLE_ARG, "registers per thread"},
    {"gridX", ROLE_TRIPLE, "grid"},
    {"gridY", ROLE_PLACE, NULL},
    {"gridZ", ROLE_PLACE, NULL},
    {"blockX", ROLE_TRIPLE, "block"},
    {"blockY", ROLE_PLACE, NULL},
    {"blockZ", ROLE_PLACE, NULL},
    {"clusterX", ROLE_TRIPLE, "cluster"},
    {"clusterY", ROLE_PLACE, NULL},
    {"clusterZ", ROLE_PLACE, NULL},
    {"graphId", ROLE_ARG, "graph id"},
    {"graphNodeId", ROLE_ARG, "graph node id"},
    {"originalGraphNodeId", ROLE_ARG, "original graph node id"},
    {NULL, ROLE_ARG, ""}};

struct column {
  enum role role;
  tk_id key;
};

/* State while a table is read. */
struct reading {
  struct nsys *r;
  const struct table_row *table;
  const struct sqlite_table *columns;
  struct column column[SQLITE_COLUMNS];
  int start, end, thread, process, call, class, device, stream, correlation; /* indices of columns; -1 = the table lacks it */
  tk_id category, driver, fixed_name;
};

static const struct column_row *row_of_column(const char *name) {
  const struct column_row *row = COLUMNS;
  while (row->name && strcmp(row->name, name) != 0) row++;
  return row;
}

static void describe(struct nsys *r, struct reading *x) {
  for (uint32_t i = 0; i < x->columns->n_columns && i < SQLITE_COLUMNS; i++) {
    const char *name = x->columns->columns[i].name;
    const struct column_row *row = row_of_column(name);
    const char *key = row->key && !*row->key ? name : row->key;
    x->column[i] = (struct column){row->role, key ? trace_text(r->d.t, key) : 0};
    if (x->table->call && strcmp(name, x->table->call) == 0) x->column[i].role = ROLE_PLACE;
  }
  x->start = sqlite_column(x->columns, "start");
  if (x->start < 0) x->start = sqlite_column(x->columns, "timestamp");
  x->end = sqlite_column(x->columns, "end");
  x->thread = sqlite_column(x->columns, "globalTid");
  x->process = sqlite_column(x->columns, "globalPid");
  x->call = x->table->call ? sqlite_column(x->columns, x->table->call) : -1;
  x->class = sqlite_column(x->columns, "eventClass");
  x->device = sqlite_column(x->columns, "deviceId");
  x->stream = sqlite_column(x->columns, "streamId");
  x->correlation = sqlite_column(x->columns, "correlationId");
  x->category = trace_text(r->d.t, x->table->category);
  x->driver = trace_text(r->d.t, "cuda_driver");
  x->fixed_name = x->table->pattern && !strstr(x->table->pattern, "%s") ? trace_text(r->d.t, x->table->pattern) : 0;
}

static int64_t number_in(const struct sqlite_scan *row, int column, int64_t otherwise) {
  return column >= 0 && row->v[column].type == CELL_INT ? row->v[column].i : otherwise;
}

/* ---- names ---- */

/* Removes the version from a name: cudaLaunchKernel_v7000 -> cudaLaunchKernel. CUPTI appends the version that introduced the
 * call; Kineto does not. */
static tk_id without_version(struct nsys *r, tk_id name) {
  size_t n, digits = 0;
  const char *text = tk_string(r->d.t, name, &n);
  while (digits < n && ascii_digit(text[n - 1 - digits])) digits++;
  if (digits < 4 || digits + 2 >= n || text[n - digits - 1] != 'v' || text[n - digits - 2] != '_') return name;
  r->text.len = 0;
  if (!buf_append(&r->text, text, n - digits - 2)) return name;
  return trace_string(r->d.t, r->text.data, r->text.len);
}

static tk_id name_of(struct nsys *r, const struct reading *x, const struct sqlite_scan *row) {
  char text[128], number[24];
  const struct cell *c = x->call >= 0 ? &row->v[x->call] : NULL;
  if (x->fixed_name || !c) return x->fixed_name;
  tk_id name = x->table->labels && c->type == CELL_INT ? texts_label(r, x->table->labels, c->i) : 0;
  if (!name && (x->table->labels || x->table->pattern) && c->type == CELL_INT) {
    snprintf(number, sizeof number, "%lld", (long long)c->i);
    name = trace_text(r->d.t, number);
  }
  if (!name) name = texts_of(r, c);
  if (!x->table->pattern) return x->table->on == ON_THREAD ? without_version(r, name) : name;
  const char *at = strstr(x->table->pattern, "%s");
  snprintf(text, sizeof text, "%.*s%.80s%s", (int)(at - x->table->pattern), x->table->pattern, tk_string(r->d.t, name, NULL), at + 2);
  return trace_text(r->d.t, text);
}

/* ---- args ---- */

/* Adds the correlation id as an arg. Each process numbers its launches independently, but code that links launches by args compares a
 * single number. Therefore the upper half of the arg is the number of the process (0 = the first). The profiler's own overhead gets
 * another key, because it is not a launch. */
static void add_link(struct nsys *r, const struct reading *x, const struct sqlite_scan *row, tk_id key) {
  const int64_t id = number_in(row, x->correlation, 0);
  const int64_t thread = number_in(row, x->thread, 0);
  const uint64_t process = x->table->on == ON_THREAD ? nsys_process_of(thread) : nsys_process_of(number_in(row, x->process, 0));
  const uint32_t *number = map_put(&r->processes, process, r->processes.n);
  if (row->v[x->correlation].type != CELL_INT || !number) return;
  if (strcmp(x->table->category, "overhead") == 0) key = trace_text(r->d.t, "correlation of call");
  args_int(r->d.t, key, id ? (int64_t)((uint64_t)id | (uint64_t)*number << 32) : 0);
}

static void add_chain(struct nsys *r, const struct reading *x, const struct cell *id, tk_id key) {
  const tk_id text = id->type == CELL_INT ? chains_text(r, x->columns->name, id->i) : 0;
  if (text) args_str(r->d.t, key, TK_ARG_JSON, text);
}

/* Returns the key of a launch. Correlation ids are only unique within a process, so the id alone would link kernels of one process to
 * calls of another. */
static uint64_t link_key(uint64_t process, int64_t correlation) { return hash_pair(process, (uint64_t)correlation); }

/* Returns the call that launched work; 0 = unknown. */
static tk_id call_of(const struct nsys *r, const struct reading *x, const struct sqlite_scan *row) {
  const int64_t correlation = number_in(row, x->correlation, 0);
  const uint64_t key = link_key(nsys_process_of(number_in(row, x->process, 0)), correlation);
  const uint32_t *call = correlation && x->table->lane == LANE_WORK ? map_get(&r->calls, key) : NULL;
  return call ? *call : 0;
}

static uint32_t row_args(struct nsys *r, const struct reading *x, const struct sqlite_scan *row, tk_id name) {
  args_begin(r->d.t);
  for (uint32_t i = 0; i < x->columns->n_columns && i < SQLITE_COLUMNS; i++) {
    const struct column *c = &x->column[i];
    if (c->role == ROLE_ARG) database_arg(&r->d, c->key, &row->v[i]);
    if (c->role == ROLE_CHAIN) add_chain(r, x, &row->v[i], c->key);
    if (c->role == ROLE_LINK) add_link(r, x, row, c->key);
    if (c->role == ROLE_TEXT) database_text_arg(&r->d, &r->texts, c->key, &row->v[i]);
    const bool is_whole = i + 2 < x->columns->n_columns && i + 2 < SQLITE_COLUMNS;
    if (c->role == ROLE_TRIPLE && is_whole) database_triple(&r->d, c->key, &row->v[i]);
  }
  if (x->table->on == ON_STREAM) nccl_args(r, name, call_of(r, x, row));
  return args_end(r->d.t);
}

/* ---- flows ---- */

static void note_call(struct nsys *r, const struct reading *x, const struct sqlite_scan *row, tk_id event) {
  const int64_t correlation = number_in(row, x->correlation, 0);
  if (!correlation || strcmp(x->table->category, "cuda_runtime") != 0) return;
  map_put(&r->calls, link_key(nsys_process_of(number_in(row, x->thread, 0)), correlation), event);
}

/* Links work to its launch by a flow. A call that replays a graph launches many kernels, so its flow has one start and many
 * ends. */
static void link_work(struct nsys *r, const struct reading *x, const struct sqlite_scan *row, tk_id event) {
  const tk_id call = call_of(r, x, row);
  const uint64_t key = link_key(nsys_process_of(number_in(row, x->process, 0)), number_in(row, x->correlation, 0));
  uint32_t *flow = call ? map_put(&r->linked, key, 0) : NULL;
  if (!flow) return;
  const bool starts = *flow == 0;
  if (starts) *flow = r->linked.n;
  const int64_t id = *flow;
  if (starts) database_point(&r->d, call, TK_FLOW_START, id, r->flow_class);
  database_point(&r->d, event, TK_FLOW_END, id, r->flow_class);
}

/* ---- events ---- */

static tk_id track_of(struct nsys *r, const struct reading *x, const struct sqlite_scan *row) {
  enum { UNIFIED_FIRST = 11, UNIFIED_LAST = 13 }; /* values of ENUM_CUDA_MEMCPY_OPER */
  if (x->table->on == ON_THREAD) return tracks_thread(r, number_in(row, x->thread, 0));
  struct nsys_place p = {.process = nsys_process_of(number_in(row, x->process, 0)), .device = number_in(row, x->device, 0),
                         .stream = number_in(row, x->stream, 0), .lane = x->table->lane};
  const int64_t kind = x->table->labels && p.lane == LANE_WORK ? number_in(row, x->call, 0) : 0;
  if (kind >= UNIFIED_FIRST && kind <= UNIFIED_LAST) p.lane = LANE_UNIFIED, p.stream = 0;
  return tracks_stream(r, &p);
}

static void take_row(const struct sqlite_scan *row, void *arg) {
  const struct reading *x = arg;
  struct nsys *r = x->r;
  static const struct cell NONE = {.type = CELL_NULL};
  struct tk_event e = {.depth = 0};
  if (!database_span(&r->d, x->start < 0 ? &NONE : &row->v[x->start], x->end < 0 ? &NONE : &row->v[x->end], &e)) return;
  if (x->end < 0) e.kind = TK_EVENT_INSTANT;
  e.track = track_of(r, x, row);
  const tk_id name = name_of(r, x, row);
  e.cls = trace_class(r->d.t, name, number_in(row, x->class, 0) == 1 ? x->driver : x->category);
  e.args = row_args(r, x, row, name);
  const tk_id id = database_add(&r->d, &e);
  if (x->table->on == ON_THREAD) note_call(r, x, row, id);
  else link_work(r, x, row, id);
}

/* ---- entry points ---- */

static bool is_row_of(const struct table_row *row, const char *table) {
  const size_t n = strlen(row->name);
  if (row->name[n - 1] == '*') return strncmp(table, row->name, n - 1) == 0;
  return strcmp(row->name, table) == 0;
}

bool tables_know(const char *table) {
  for (size_t i = 0; i < N_TABLES; i++)
    if (is_row_of(&TABLES[i], table)) return true;
  return false;
}

/* Counts the kernels of groups of NCCL calls, because a group is described only if it launched one kernel. */
static void count_kernel(const struct sqlite_scan *row, void *arg) {
  struct nsys *r = arg;
  if (row->v[0].type != CELL_INT || row->v[1].type != CELL_INT) return;
  const uint32_t *call = map_get(&r->calls, link_key(nsys_process_of(row->v[0].i), row->v[1].i));
  if (call) nccl_count(r, texts_of(r, &row->v[2]), *call);
}

static bool count_kernels(struct nsys *r, const char *table) {
  static const char *const COLUMN[] = {"globalPid", "correlationId", "demangledName", NULL};
  const bool is_needed = strcmp(table, "CUPTI_ACTIVITY_KIND_KERNEL") == 0 && nccl_has_groups(r);
  return !is_needed || database_each(&r->d, table, COLUMN, count_kernel, r);
}

static bool read_table(struct nsys *r, const struct table_row *row, const struct sqlite_table *table) {
  struct reading x = {.r = r, .table = row, .columns = table};
  describe(r, &x);
  return count_kernels(r, table->name) && database_each_whole(&r->d, table, take_row, &x);
}

bool tables_read(struct nsys *r) {
  const struct sqlite_table *table;
  r->flow_class = trace_class(r->d.t, trace_text(r->d.t, "ac2g"), trace_text(r->d.t, "ac2g")); /* the name that Kineto uses */
  for (size_t i = 0; i < N_TABLES; i++)
    for (size_t k = 0; (table = sqlite_row(r->d.db, k)) != NULL; k++)
      if (is_row_of(&TABLES[i], table->name) && !read_table(r, &TABLES[i], table)) return false;
  return true;
}
