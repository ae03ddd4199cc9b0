/* csv.c - reads the CSV files of rocprof and rocprofv3, each of which lists one kind of event:
 *
 *     "Kind","Agent_Id","Queue_Id",..,"Kernel_Name",..,"Start_Timestamp","End_Timestamp",..      dispatches
 *     "Kind","Direction","Source_Agent_Id","Destination_Agent_Id",..                             copies
 *     "Domain","Function","Process_Id","Thread_Id","Correlation_Id",..                           API calls and markers
 *     "Index","KernelName","gpu-id","queue-id",..,"BeginNs","EndNs",..                           dispatches of rocprof
 *
 * Columns are found by the names in the first line, because versions have different columns. Unknown columns become args with the name
 * of the column, so that no value is lost.
 *
 * Agents are written as a number or as "Agent 7" (both count CPUs, too), or as "GPU 3" or "CPU 0". A quote within a string is not
 * escaped in these files, so a string ends at a quote before a comma or at the end of the line.
 *
 * Sources: ROCm/rocm-systems, projects/rocprofiler-sdk, source/lib/output/generateCSV.cpp and source/docs; ROCm/rocprofiler,
 * bin/tblextr.py. */
#include "csv.h"

#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "format/torch_range.h"
#include "graph/args.h"
#include "reader.h"
#include "work.h"

enum { COLUMNS_MOST = 128, LINE_MOST = 1 << 24 };

enum column {
  C_OTHER, C_KIND, C_KERNEL, C_CALL, C_DIRECTION, C_START, C_END, C_AGENT, C_FROM, C_TO, C_QUEUE, C_STREAM, C_PID, C_TID,
  C_CORRELATION, C_DISPATCH, C_GRID_X, C_GRID_Y, C_GRID_Z, C_BLOCK_X, C_BLOCK_Y, C_BLOCK_Z, C_LDS, C_SCRATCH, C_BYTES, C_COUNTER,
  C_VALUE, C_GUID, CSV_COLUMNS
};

static const struct {
  const char *text;
  enum column column;
} HEADERS[] = {
    {"Kind", C_KIND}, {"Domain", C_KIND}, {"Kernel_Name", C_KERNEL}, {"Function", C_CALL}, {"Operation", C_CALL},
    {"Direction", C_DIRECTION}, {"Start_Timestamp", C_START}, {"End_Timestamp", C_END}, {"Agent_Id", C_AGENT},
    {"Source_Agent_Id", C_FROM}, {"Destination_Agent_Id", C_TO}, {"Queue_Id", C_QUEUE}, {"Stream_Id", C_STREAM},
    {"Process_Id", C_PID}, {"Thread_Id", C_TID}, {"Correlation_Id", C_CORRELATION}, {"Dispatch_Id", C_DISPATCH},
    {"Grid_Size_X", C_GRID_X}, {"Grid_Size_Y", C_GRID_Y}, {"Grid_Size_Z", C_GRID_Z}, {"Workgroup_Size_X", C_BLOCK_X},
    {"Workgroup_Size_Y", C_BLOCK_Y}, {"Workgroup_Size_Z", C_BLOCK_Z}, {"LDS_Block_Size", C_LDS}, {"Group_Segment_Size", C_LDS},
    {"Scratch_Size", C_SCRATCH}, {"Private_Segment_Size", C_SCRATCH}, {"Allocation_Size", C_BYTES}, {"Counter_Name", C_COUNTER},
    {"Counter_Value", C_VALUE}, {"Guid", C_GUID},
    /* rocprof 1 */
    {"KernelName", C_KERNEL}, {"gpu-id", C_AGENT}, {"queue-id", C_QUEUE}, {"pid", C_PID}, {"tid", C_TID}, {"Index", C_DISPATCH},
    {"BeginNs", C_START}, {"EndNs", C_END}, {"lds", C_LDS}, {"scr", C_SCRATCH}};

/* A line, split at commas. */
struct fields {
  struct cell cell[COLUMNS_MOST];
  unsigned n;
  bool is_cut; /* the line has more fields */
};

struct csv {
  struct rocm r;
  enum column columns[COLUMNS_MOST]; /* by position in a line */
  tk_id keys[COLUMNS_MOST];          /* names of the columns without a meaning here */
  unsigned n_columns;
  struct cell v[CSV_COLUMNS]; /* the cells of the line that is read */
  struct map kernels;         /* dispatches that were added, in files with a line for each counter */
  bool counts_cpus;           /* agents without a type were noted */
};

/* ---- lines ---- */

static const uint8_t *quoted_end(const uint8_t *p, const uint8_t *end) {
  for (; p < end; p++)
    if (*p == '"' && (p + 1 == end || p[1] == ',')) return p;
  return end;
}

static struct cell cell_of_text(const uint8_t *p, size_t n) {
  struct cell c = {.type = CELL_TEXT, .p = p, .n = n};
  char text[32] = "";
  const uint8_t *end;
  if (n == 0) return (struct cell){.type = CELL_NULL};
  if (n >= sizeof text) return c;
  memcpy(text, p, n);
  const struct num number = num_scan((const uint8_t *)text, &end);
  if (end != (const uint8_t *)text + n) return c;
  if (number.kind == NUM_INT) return (struct cell){.type = CELL_INT, .i = number.mant};
  if (number.kind != NUM_NONE) return (struct cell){.type = CELL_REAL, .d = num_double(text, n)};
  return c;
}

static void split_fields(const uint8_t *p, const uint8_t *end, struct fields *f) {
  if (end > p && end[-1] == '\r') end--;
  for (f->n = 0; p <= end && f->n < COLUMNS_MOST; p++) { /* a comma at the end of the line is followed by an empty field */
    const bool quoted = p < end && *p == '"';
    const uint8_t *const from = p + quoted;
    p = quoted ? quoted_end(from, end) : memchr(p, ',', (size_t)(end - p));
    if (!p) p = end;
    struct cell *c = &f->cell[f->n++];
    *c = quoted ? (struct cell){.type = CELL_TEXT, .p = from, .n = (size_t)(p - from)} : cell_of_text(from, (size_t)(p - from));
    if (quoted && p < end) p++;
  }
  f->is_cut = p <= end;
}

static enum column column_of(const struct cell *c) {
  if (c->type != CELL_TEXT) return C_OTHER;
  for (size_t i = 0; i < sizeof HEADERS / sizeof *HEADERS; i++)
    if (strlen(HEADERS[i].text) == c->n && ascii_equal((const char *)c->p, HEADERS[i].text, c->n)) return HEADERS[i].column;
  return C_OTHER;
}

unsigned csv_bid(const uint8_t *p, size_t n) {
  struct fields f;
  bool has[CSV_COLUMNS] = {false};
  const uint8_t *end = memchr(p, '\n', n);
  if (!end || (*p != '"' && !ascii_letter((char)*p))) return 0;
  split_fields(p, end, &f);
  for (unsigned i = 0; i < f.n; i++) has[column_of(&f.cell[i])] = true;
  return has[C_START] && has[C_END] && (has[C_KERNEL] || has[C_CALL] || has[C_DIRECTION]) ? 300 : 0;
}

/* ---- events ---- */

static tk_id text_of(struct csv *c, enum column column) {
  const struct cell *v = &c->v[column];
  return v->type == CELL_TEXT ? database_string(&c->r.d, v->p, v->n) : 0;
}

static int64_t int_of(const struct csv *c, enum column column) { return c->v[column].type == CELL_INT ? c->v[column].i : 0; }

struct agent {
  int64_t number;
  bool is_cpu, is_gpu; /* both false: the file does not state the type */
};

static struct agent agent_of(struct csv *c, enum column column) {
  const struct cell *v = &c->v[column];
  struct agent a = {.number = int_of(c, column)};
  if (v->type != CELL_TEXT || v->n < 5) return a;
  const uint8_t *digits = v->p + v->n;
  while (digits > v->p && digits[-1] >= '0' && digits[-1] <= '9') digits--;
  const struct cell number = cell_of_text(digits, (size_t)(v->p + v->n - digits));
  a.number = number.type == CELL_INT ? number.i : 0;
  a.is_cpu = ascii_equal((const char *)v->p, "CPU ", 4);
  a.is_gpu = ascii_equal((const char *)v->p, "GPU ", 4);
  if (!a.is_cpu && !a.is_gpu && !c->counts_cpus)
    trace_note(c->r.d.t, TK_NOTE_INFO, UINT64_MAX, "GPUs have the numbers of agents, and CPUs are agents, too");
  c->counts_cpus = c->counts_cpus || (!a.is_cpu && !a.is_gpu);
  return a;
}

static void csv_put(struct csv *c, enum rocm_key key, enum column column) { database_arg(&c->r.d, c->r.key[key], &c->v[column]); }

static void begin_args(struct csv *c, const struct fields *f) {
  args_begin(c->r.d.t);
  csv_put(c, K_CORRELATION, C_CORRELATION);
  csv_put(c, K_STREAM, C_STREAM);
  csv_put(c, K_BYTES, C_BYTES);
  for (unsigned i = 0; i < f->n && i < c->n_columns; i++)
    if (c->columns[i] == C_OTHER) database_arg(&c->r.d, c->keys[i], &f->cell[i]);
}

static tk_id queue_track(struct csv *c, int64_t gpu, int64_t queue, const char *name) {
  struct tk_trace *t = c->r.d.t;
  const int64_t pid = int_of(c, C_PID);
  const tk_id track = work_queue(&c->r, (uint64_t)pid, gpu, queue, name ? trace_text(t, name) : 0);
  if (pid > 0 && pid <= UINT32_MAX) trace_own(t, track, (uint32_t)pid);
  return track;
}

static void add_call(struct csv *c, const struct fields *f, struct tk_event *e) {
  struct tk_trace *t = c->r.d.t;
  const tk_id kind = text_of(c, C_KIND);
  e->track = trace_track(t, TK_TRACK_THREAD, ident_int(int_of(c, C_PID)), ident_int(int_of(c, C_TID)), 0);
  struct torch_range range;
  e->cls = torch_range_class(t, text_of(c, C_CALL), kind, &range);
  if (e->dur == 0 && text_begins(tk_string(t, kind, NULL), "MARKER")) e->kind = TK_EVENT_INSTANT;
  begin_args(c, f);
  torch_range_args(t, &range);
  e->args = args_end(t);
  database_add(&c->r.d, e);
}

/* Adds a copy on the destination if it is a GPU, otherwise on the source. */
static void add_copy(struct csv *c, const struct fields *f, struct tk_event *e) {
  enum { COPIES = -1 };
  struct tk_trace *t = c->r.d.t;
  const tk_id direction = text_of(c, C_DIRECTION);
  const struct agent from = agent_of(c, C_FROM), to = agent_of(c, C_TO);
  const bool to_host = to.is_cpu || (!to.is_gpu && strstr(tk_string(t, direction, NULL), "TO_HOST"));
  const int64_t gpu = to_host ? from.number : to.number;
  e->track = queue_track(c, gpu, COPIES, "copies");
  e->cls = trace_class(t, direction, trace_text(t, "memory_copy"));
  begin_args(c, f);
  args_int(t, c->r.key[K_DEVICE], gpu);
  args_int(t, c->r.key[K_FROM], from.number);
  args_int(t, c->r.key[K_TO], to.number);
  e->args = args_end(t);
  database_add(&c->r.d, e);
}

static void put_sizes(struct csv *c, enum rocm_key key, enum column x) {
  const struct cell *v = &c->v[x];
  if (v[1].type == CELL_INT) database_triple(&c->r.d, c->r.key[key], v);
  else database_arg(&c->r.d, c->r.key[key], v);
}

static void add_dispatch(struct csv *c, const struct fields *f, struct tk_event *e) {
  struct tk_trace *t = c->r.d.t;
  const int64_t gpu = agent_of(c, C_AGENT).number;
  e->track = queue_track(c, gpu, int_of(c, C_QUEUE), NULL);
  e->cls = trace_class(t, text_of(c, C_KERNEL), trace_text(t, "kernel_dispatch"));
  begin_args(c, f);
  args_int(t, c->r.key[K_DEVICE], gpu);
  put_sizes(c, K_GRID, C_GRID_X);
  put_sizes(c, K_BLOCK, C_BLOCK_X);
  csv_put(c, K_DISPATCH, C_DISPATCH);
  csv_put(c, K_LDS, C_LDS);
  csv_put(c, K_SCRATCH, C_SCRATCH);
  e->args = args_end(t);
  database_add(&c->r.d, e);
}

/* Adds a value of a counter, and its dispatch if this is the first value of the dispatch. */
static void add_counted(struct csv *c, const struct fields *f, struct tk_event *e) {
  struct tk_trace *t = c->r.d.t;
  const uint64_t dispatch = hash_pair((uint64_t)int_of(c, C_PID), (uint64_t)int_of(c, C_DISPATCH));
  const tk_time start = e->ts;
  if (!map_get(&c->kernels, dispatch)) add_dispatch(c, f, e);
  map_put(&c->kernels, dispatch, 1);
  const tk_id device = work_device(&c->r, agent_of(c, C_AGENT).number);
  args_begin(t);
  database_arg(&c->r.d, KEY_COUNTER_VALUE, &c->v[C_VALUE]);
  database_sample(&c->r.d, database_counter(&c->r.d, device, text_of(c, C_COUNTER)), start);
}

static void add_line(struct csv *c, const struct fields *f) {
  struct tk_event e = {.depth = 0};
  memset(c->v, 0, sizeof c->v);
  for (unsigned i = 0; i < f->n && i < c->n_columns; i++) c->v[c->columns[i]] = f->cell[i];
  if (!database_span(&c->r.d, &c->v[C_START], &c->v[C_END], &e)) return;
  if (c->v[C_COUNTER].type == CELL_TEXT) add_counted(c, f, &e);
  else if (c->v[C_KERNEL].type == CELL_TEXT) add_dispatch(c, f, &e);
  else if (c->v[C_DIRECTION].type == CELL_TEXT) add_copy(c, f, &e);
  else add_call(c, f, &e);
}

/* ---- the file ---- */

/* True if the key of column i is the key of an earlier column, or of an arg that all of AMD's formats have. */
static bool is_key_taken(const struct csv *c, unsigned i) {
  for (unsigned k = 0; k < i; k++)
    if (c->columns[k] == C_OTHER && c->keys[k] == c->keys[i]) return true;
  for (int k = 0; k < ROCM_KEYS; k++)
    if (c->r.key[k] == c->keys[i]) return true;
  return false;
}

static void take_header(struct csv *c, const struct fields *f) {
  struct tk_trace *t = c->r.d.t;
  c->n_columns = f->n;
  for (unsigned i = 0; i < f->n; i++) {
    const struct cell *name = &f->cell[i];
    c->columns[i] = column_of(name);
    if (c->columns[i] != C_OTHER) continue;
    c->keys[i] = name->type == CELL_TEXT ? database_string(&c->r.d, name->p, name->n) : KEY_EMPTY;
    if (is_key_taken(c, i)) trace_note(t, TK_NOTE_REPAIR, 0, "several columns of the same name: the values of only one are kept");
  }
  if (f->is_cut) trace_note(t, TK_NOTE_REPAIR, 0, "more than 128 columns: the others are lost");
}

static void take_line(struct csv *c, const uint8_t *p, size_t n) {
  struct fields f;
  split_fields(p, p + n, &f);
  if (!c->n_columns) {
    take_header(c, &f);
    return;
  }
  if (f.n < c->n_columns) {
    trace_note(c->r.d.t, TK_NOTE_REPAIR, in_offset(c->r.d.in), "line with fewer values than columns: dropped");
    c->r.d.t->counts.dropped++;
  } else add_line(c, &f);
  c->r.d.t->counts.read++;
}

static bool read_lines(struct csv *c, struct in *in, struct tk_err *err) {
  for (size_t avail, want = 1 << 16;;) {
    const uint8_t *p = in_ahead(in, want, &avail, err);
    if (!p) return false;
    if (!avail) return true;
    const uint8_t *end = memchr(p, '\n', avail);
    if (!end && avail >= want && want < LINE_MOST) {
      want *= 2;
      continue;
    }
    const size_t n = end ? (size_t)(end - p) : avail;
    if (n > 1 || (n == 1 && *p != '\r')) take_line(c, p, n);
    in_consume(in, n + (end != NULL));
    want = 1 << 16;
  }
}

bool csv_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct csv c = {.r = {.d = {.t = t, .opt = opt, .in = in, .err = err}}};
  work_init(&c.r);
  map_init(&c.kernels, &t->store->mem);
  const bool ok = read_lines(&c, in, err);
  map_free(&c.kernels);
  work_free(&c.r);
  t->counts.bytes = in_offset(in);
  return ok && mem_check(&t->store->mem, err);
}
