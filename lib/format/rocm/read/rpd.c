/* rpd.c - reads schema 2: API calls (rocpd_api) and operations of devices (rocpd_op), linked by rocpd_api_ops.
 *
 * A file may contain several sessions and processes; their ids do not collide, because the upper half of an id is the session.
 * The process of an operation is not stored, but follows from its session. Two more tables describe the work that
 * a call launched: rocpd_kernelapi for kernels, rocpd_copyapi for copies. ext_autogradapi has a row for each marker that is an
 * operator of PyTorch, with its shapes. */
#include "rpd.h"

#include <string.h>

#include "base/text.h"
#include "format/torch_range.h"
#include "graph/args.h"
#include "work.h"

/* Description of the work that a call launched; the file stores it in a different table from the call. */
struct launch {
  struct cell grid[3], workgroup[3], size;
  tk_id stream, kernel;
};

/* A marker that is an operator: its numbers, if they are integers, and its shapes; 0 = not recorded. */
struct operator {
  struct cell seq, id;
  tk_id sizes;
};

struct rpd {
  struct rocm *r;
  struct map operator_of; /* call id -> index in `operators` */
  struct buf operators;   /* array of struct operator */
  struct map launches; /* call id -> index in `all` */
  struct buf all;      /* array of struct launch */
  struct map call_of;  /* operation id -> index in `calls` */
  struct buf calls;    /* array of int64_t: ids of calls */
  struct map sessions; /* session -> process; 0 = several processes */
};

static struct launch *launch_of(const struct rpd *p, int64_t call) {
  const uint32_t *at = map_get(&p->launches, (uint64_t)call);
  return at ? (struct launch *)(void *)p->all.data + *at : NULL;
}

static void add_launch(struct rpd *p, const struct cell *call, const struct launch *l) {
  if (call->type != CELL_INT || launch_of(p, call->i)) return;
  map_put(&p->launches, (uint64_t)call->i, (uint32_t)(p->all.len / sizeof *l));
  buf_append(&p->all, l, sizeof *l);
}

/* Returns the string of a text; 0 for "", which means that the text was not recorded. */
static tk_id text_in(struct rpd *p, const struct cell *c) {
  return c->type == CELL_TEXT && c->n == 0 ? 0 : database_text(&p->r->d, &p->r->texts, c);
}

static bool has_text(const struct tk_trace *t, tk_id text) { return text && *tk_string(t, text, NULL); }

static void take_kernel(const struct sqlite_scan *row, void *arg) {
  struct rpd *p = arg;
  struct launch l = {.stream = text_in(p, &row->v[1]), .kernel = text_in(p, &row->v[8])};
  memcpy(l.grid, &row->v[2], sizeof l.grid);
  memcpy(l.workgroup, &row->v[5], sizeof l.workgroup);
  add_launch(p, &row->v[0], &l);
}

static void take_copy(const struct sqlite_scan *row, void *arg) {
  struct rpd *p = arg;
  const struct launch l = {.stream = text_in(p, &row->v[1]), .size = row->v[2]};
  add_launch(p, &row->v[0], &l);
}

static void take_link(const struct sqlite_scan *row, void *arg) {
  struct rpd *p = arg;
  if (row->v[0].type != CELL_INT || row->v[1].type != CELL_INT) return;
  map_put(&p->call_of, (uint64_t)row->v[1].i, (uint32_t)(p->calls.len / sizeof(int64_t)));
  buf_append(&p->calls, &row->v[0].i, sizeof(int64_t));
}

static void take_operator(const struct sqlite_scan *row, void *arg) {
  struct rpd *p = arg;
  const struct cell *v = row->v;
  const tk_id sizes = v[3].type == CELL_TEXT && v[3].n ? trace_string(p->r->d.t, (const char *)v[3].p, v[3].n) : 0;
  const struct operator o = {.seq = v[1], .id = v[2], .sizes = sizes};
  if (v[0].type != CELL_INT) return;
  map_put(&p->operator_of, (uint64_t)v[0].i, (uint32_t)(p->operators.len / sizeof o));
  buf_append(&p->operators, &o, sizeof o);
}

/* ---- calls ---- */

static void put_part(struct buf *b, const char *key, const struct cell *number) {
  char digits[24];
  if (number->type != CELL_INT || number->i < 0) return;
  buf_text(b, key);
  buf_append(b, digits, num_put_i64(digits, number->i));
}

/* Returns the class of a marker. If the marker is an operator, writes its numbers and shapes in the form of PyTorch's NVTX ranges
 * ("aten::add, seq = 1, op_id = 2, sizes = ..."), so that torch_range_class and torch_range_args can parse them. */
static tk_id class_of_marker(struct rpd *p, int64_t call, tk_id text, struct torch_range *range) {
  struct tk_trace *t = p->r->d.t;
  static const char *const OPERATORS[] = {"aten::", "_C::", NULL}; /* in files whose operators have no table */
  const bool is_named = text_any_begins(tk_string(t, text, NULL), OPERATORS);
  const tk_id plain = torch_range_class(t, text, trace_text(t, is_named ? "cpu_op" : "marker_api"), range);
  const uint32_t *at = range->text ? NULL : map_get(&p->operator_of, (uint64_t)call);
  struct buf b = {.mem = &t->store->mem};
  if (!at) return plain;
  const struct operator *o = (const struct operator *)(const void *)p->operators.data + *at;
  buf_text(&b, tk_string(t, text, NULL));
  put_part(&b, ", seq = ", &o->seq);
  put_part(&b, ", op_id = ", &o->id);
  buf_text(&b, o->sizes ? ", sizes = " : "");
  buf_text(&b, o->sizes ? tk_string(t, o->sizes, NULL) : "");
  const tk_id cls = torch_range_class(t, trace_string(t, (const char *)b.data, b.len), 0, range);
  buf_free(&b);
  return range->text ? cls : trace_class(t, text, trace_text(t, "cpu_op"));
}

static const char *category_of_call(const char *name) {
  if (text_begins(name, "hip")) return "hip_api";
  return text_begins(name, "hsa_") ? "hsa_api" : "api";
}

/* Stores a call under its id, and its process as the process of its session. */
static void remember_call(struct rpd *p, int64_t id, uint32_t pid, tk_id event) {
  map_put(&p->r->by_id, (uint64_t)id, event);
  uint32_t *process = map_put(&p->sessions, rpd_session(id), pid);
  if (process && *process != pid) *process = 0;
}

/* Adds an API call. The args of a marker (roctx) contain its text; other calls have args such as "ptr=0x7f | size=8". */
static void take_call(const struct sqlite_scan *row, void *arg) {
  struct rpd *p = arg;
  struct tk_trace *t = p->r->d.t;
  struct tk_event e = {.depth = 0};
  struct torch_range range = {.text = 0};
  const struct cell *v = row->v, *id = &v[0];
  if (!database_span(&p->r->d, &v[3], &v[4], &e)) return;
  tk_id name = text_in(p, &v[5]), text = text_in(p, &v[6]);
  const bool is_marker = name && strcmp(tk_string(t, name, NULL), "UserMarker") == 0;
  const tk_id category = trace_text(t, is_marker ? "marker_api" : category_of_call(tk_string(t, name, NULL)));
  if (is_marker && text) name = text, text = 0;
  e.cls = is_marker && id->type == CELL_INT ? class_of_marker(p, id->i, name, &range) : trace_class(t, name, category);
  e.track = trace_track(t, TK_TRACK_THREAD, ident_int(v[1].i), ident_int(v[2].i), 0);
  args_begin(t);
  torch_range_args(t, &range);
  if (has_text(t, text)) args_str(t, p->r->key[K_ARGS], TK_ARG_STR, text);
  if (launch_of(p, id->i)) args_int(t, p->r->key[K_CORRELATION], id->i);
  e.args = args_end(t);
  const tk_id event = database_add(&p->r->d, &e);
  if (id->type == CELL_INT) remember_call(p, id->i, (uint32_t)v[1].i, event);
}

/* ---- operations ---- */

/* Returns the category for a type that rpd_tracer writes for HIP's activity records. */
static const char *category_of_work(const char *type, bool named) {
  if (text_begins(type, "Copy")) return "gpu_memcpy";
  if (text_begins(type, "FillBuffer")) return "gpu_memset";
  if (text_begins(type, "KernelExecution")) return "kernel";
  return named ? "kernel" : "gpu_sync"; /* a Task is either a kernel of a graph, or a barrier */
}

static void work_args(struct rpd *p, const struct launch *l, const struct cell *device, const int64_t *call) {
  struct rocm *r = p->r;
  args_begin(r->d.t);
  database_arg(&r->d, p->r->key[K_DEVICE], device);
  if (l && l->stream) args_str(r->d.t, p->r->key[K_STREAM], TK_ARG_STR, l->stream);
  if (call) args_int(r->d.t, p->r->key[K_CORRELATION], *call);
  if (l) database_triple(&r->d, p->r->key[K_GRID], l->grid);
  if (l) database_triple(&r->d, p->r->key[K_BLOCK], l->workgroup);
  if (l && l->size.type == CELL_INT) database_arg(&r->d, p->r->key[K_BYTES], &l->size);
}

/* Returns the id of the call that launched an operation, or NULL. */
static const int64_t *call_of(const struct rpd *p, const struct cell *operation) {
  const uint32_t *at = database_find(&p->call_of, operation);
  return at ? (const int64_t *)(const void *)p->calls.data + *at : NULL;
}

/* Returns the process of an operation's session; 0 if there are several, or none. */
static uint32_t session_process(const struct rpd *p, const struct cell *operation) {
  const uint32_t *process = operation->type == CELL_INT ? map_get(&p->sessions, rpd_session(operation->i)) : NULL;
  return process ? *process : 0;
}

static void take_work(const struct sqlite_scan *row, void *arg) {
  struct rpd *p = arg;
  struct tk_trace *t = p->r->d.t;
  struct tk_event e = {.depth = 0};
  const int64_t *call = call_of(p, &row->v[0]);
  const struct launch *l = call ? launch_of(p, *call) : NULL;
  if (!database_span(&p->r->d, &row->v[3], &row->v[4], &e)) return;
  const tk_id type = text_in(p, &row->v[6]), said = text_in(p, &row->v[5]);
  const tk_id name = has_text(t, said) ? said : l && has_text(t, l->kernel) ? l->kernel : 0;
  e.cls = trace_class(t, name ? name : type, trace_text(t, category_of_work(tk_string(t, type, NULL), name != 0)));
  const uint32_t process = session_process(p, &row->v[0]);
  e.track = work_queue(p->r, process, row->v[1].i, row->v[2].i, 0);
  if (process) trace_own(t, e.track, process);
  work_args(p, l, &row->v[1], call);
  e.args = args_end(t);
  const tk_id event = database_add(&p->r->d, &e);
  const uint32_t *caller = call ? map_get(&p->r->by_id, (uint64_t)*call) : NULL;
  if (caller) database_link(&p->r->d, *caller, event, p->r->flow_class);
}

/* ---- monitors ---- */

/* Adds a sample (clock, power or temperature), whose value is text. */
static void take_sample(const struct sqlite_scan *row, void *arg) {
  struct rpd *p = arg;
  struct tk_trace *t = p->r->d.t;
  char digits[48] = "";
  tk_time ts;
  const uint8_t *end;
  if (row->v[4].type == CELL_TEXT && row->v[4].n < sizeof digits) memcpy(digits, row->v[4].p, row->v[4].n);
  const struct num n = num_scan((const uint8_t *)digits, &end);
  const bool is_number = row->v[4].type == CELL_INT || ((n.kind == NUM_INT || n.kind == NUM_DEC) && !*end);
  if (!is_number || !database_time(&p->r->d, &row->v[3], &ts)) {
    trace_note(t, TK_NOTE_REPAIR, UINT64_MAX, "samples without a time or a numeric value: skipped");
    return;
  }
  const tk_id name = text_in(p, &row->v[2]), device = work_device(p->r, row->v[1].i);
  args_begin(t);
  if (row->v[4].type == CELL_INT) args_int(t, KEY_COUNTER_VALUE, row->v[4].i);
  else if (n.kind == NUM_INT) args_int(t, KEY_COUNTER_VALUE, n.mant);
  else args_decimal(t, KEY_COUNTER_VALUE, n.mant, n.exp);
  database_sample(&p->r->d, database_counter(&p->r->d, device, name), ts);
}

/* ---- entry points ---- */

bool rpd_knows(const char *table) {
  static const char *const TABLES[] = {"rocpd_api", "rocpd_op", "rocpd_api_ops", "rocpd_kernelapi", "rocpd_copyapi", "rocpd_string",
                                       "rocpd_monitor", "rocpd_metadata", "sqlite_sequence", "ext_autogradapi", NULL};
  for (const char *const *name = TABLES; *name; name++)
    if (strcmp(*name, table) == 0) return true;
  return false;
}

static bool read_tables(struct rpd *p) {
  static const char *const KERNEL[] = {"api_ptr_id", "stream", "gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ",
                                       "kernelName_id", NULL};
  static const char *const COPY[] = {"api_ptr_id", "stream", "size", NULL}, *const LINK[] = {"api_id", "op_id", NULL};
  static const char *const OPERATOR[] = {"api_ptr_id", "seq", "op_id", "sizes", NULL};
  static const char *const CALL[] = {"id", "pid", "tid", "start", "end", "apiName_id", "args_id", NULL};
  static const char *const WORK[] = {"id", "gpuId", "queueId", "start", "end", "description_id", "opType_id", NULL};
  static const char *const SAMPLE[] = {"deviceType", "deviceId", "monitorType", "start", "value", NULL};
  struct database *d = &p->r->d;
  return database_texts_read(d, &p->r->texts, "rocpd_string", "id", "string") &&
    database_each(d, "rocpd_kernelapi", KERNEL, take_kernel, p) && database_each(d, "rocpd_copyapi", COPY, take_copy, p) &&
    database_each(d, "rocpd_api_ops", LINK, take_link, p) && database_each(d, "ext_autogradapi", OPERATOR, take_operator, p) &&
    database_each(d, "rocpd_api", CALL, take_call, p) &&
    database_each(d, "rocpd_op", WORK, take_work, p) && database_each(d, "rocpd_monitor", SAMPLE, take_sample, p);
}

bool rpd_read(struct rocm *r) {
  struct mem *mem = &r->d.t->store->mem;
  struct rpd p = {.r = r, .all.mem = mem, .calls.mem = mem, .operators.mem = mem};
  map_init(&p.launches, mem);
  map_init(&p.call_of, mem);
  map_init(&p.sessions, mem);
  map_init(&p.operator_of, mem);
  const bool ok = read_tables(&p);
  map_free(&p.launches);
  map_free(&p.call_of);
  map_free(&p.sessions);
  map_free(&p.operator_of);
  buf_free(&p.operators);
  buf_free(&p.all);
  buf_free(&p.calls);
  return ok;
}
