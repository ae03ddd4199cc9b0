/* device.c - reads collectives, and tasks on the streams of devices.
 *
 * The name of a task is its name in COMPUTE_TASK_INFO, or its task type if that table does not list the task. The tasks of a collective
 * overlap on their stream, so they are moved to the process Communication, with one thread per plane, as in trace_view.json. A task
 * that only contains other tasks (FFTS+) does no work of its own: trace_view.json omits it, and this reader gives it the category of a
 * wait. */
#include "device.h"

#include <stdio.h>

#include "graph/args.h"

enum { PLANES_FROM = 1, GROUPS_EVERY = 100 }; /* tid of a group: number * GROUPS_EVERY; tid of its plane p: that + PLANES_FROM + p */

/* Description of a task in COMPUTE_TASK_INFO or COMMUNICATION_TASK_INFO. */
struct task_info {
  tk_id name;
  int64_t plane; /* plane of the collective; -1 = compute task */
  tk_id group;
  uint32_t args;
};

struct device {
  struct ascend *r;
  struct buf infos; /* array of struct task_info */
  struct map whole; /* connections of tasks that contain other tasks */
  int64_t number;   /* device of the last task, used for collectives: their tables have no device column */
};

static void add_info(struct device *d, const struct cell *task, const struct task_info *info) {
  if (task->type != CELL_INT) return;
  map_put(&d->r->tasks, (uint64_t)task->i, (uint32_t)(d->infos.len / sizeof *info));
  buf_append(&d->infos, info, sizeof *info);
}

static tk_id text_in(struct device *d, const struct cell *c) {
  return c->type == CELL_NULL ? 0 : database_text(&d->r->d, &d->r->texts, c);
}

static void add_words(struct device *d, const char *key, const struct cell *c) {
  database_text_arg(&d->r->d, &d->r->texts, trace_text(d->r->d.t, key), c);
}

static void add_number(struct device *d, const char *key, const struct cell *c) {
  database_arg(&d->r->d, trace_text(d->r->d.t, key), c);
}

/* ---- descriptions of tasks ---- */

static void take_compute(const struct sqlite_scan *row, void *arg) {
  struct device *d = arg;
  struct task_info info = {.name = text_in(d, &row->v[1]), .plane = -1};
  args_begin(d->r->d.t);
  add_words(d, "Op Type", &row->v[2]);
  add_number(d, "Block Dim", &row->v[3]);
  add_words(d, "Input Shapes", &row->v[4]);
  add_words(d, "Output Shapes", &row->v[5]);
  info.args = args_end(d->r->d.t);
  add_info(d, &row->v[0], &info);
}

static void take_part(const struct sqlite_scan *row, void *arg) {
  struct device *d = arg;
  struct task_info info = {.name = text_in(d, &row->v[1]), .plane = row->v[2].type == CELL_INT ? row->v[2].i : 0};
  info.group = text_in(d, &row->v[3]);
  args_begin(d->r->d.t);
  add_number(d, "src rank", &row->v[4]);
  add_number(d, "dst rank", &row->v[5]);
  add_number(d, "size(Byte)", &row->v[6]);
  info.args = args_end(d->r->d.t);
  add_info(d, &row->v[0], &info);
}

/* ---- tracks ---- */

static uint32_t group_of(struct device *d, tk_id group) {
  const uint32_t *number = map_put(&d->r->groups, group, d->r->groups.n);
  return number ? *number : 0;
}

static tk_id communication_row(struct device *d, tk_id group, int64_t plane) {
  char name[48];
  const uint32_t number = group_of(d, group);
  if (plane < 0) snprintf(name, sizeof name, "Group %u Communication", number);
  else snprintf(name, sizeof name, "Plane %lld", (long long)plane);
  const tk_id process = ascend_process(d->r, ROW_COMMUNICATION, d->number, "Communication");
  const uint64_t tid = (uint64_t)number * GROUPS_EVERY + (plane < 0 ? 0 : PLANES_FROM + (uint64_t)plane);
  return ascend_thread(d->r, process, (int64_t)tid, name);
}

static tk_id stream_row(struct device *d, int64_t device, int64_t stream) {
  char name[48];
  snprintf(name, sizeof name, "Stream %lld", (long long)stream);
  return ascend_thread(d->r, ascend_process(d->r, ROW_HARDWARE, device, "Ascend Hardware"), stream, name);
}

/* ---- tasks ---- */

enum task { T_START, T_END, T_DEVICE, T_CONNECTION, T_ID, T_TYPE, T_STREAM, T_TASK, T_PID, T_CONTEXT };

static bool is_part(const struct cell *context) { return context->type == CELL_INT && context->i >= 0 && context->i != UINT32_MAX; }

static void take_parts(const struct sqlite_scan *row, void *arg) {
  struct device *d = arg;
  if (is_part(&row->v[T_CONTEXT]) && row->v[T_CONNECTION].type == CELL_INT)
    map_put(&d->whole, (uint64_t)row->v[T_CONNECTION].i, 1);
}

/* Returns the category of a task: compute if COMPUTE_TASK_INFO describes it, wait if it only contains other tasks, otherwise NULL. */
static const char *category_of(struct device *d, const struct sqlite_scan *row, const struct task_info *info) {
  if (info) return info->plane < 0 ? "npu_kernel" : NULL;
  const bool whole = !is_part(&row->v[T_CONTEXT]) && ascend_is_connection(&row->v[T_CONNECTION]);
  return whole && map_get(&d->whole, (uint64_t)row->v[T_CONNECTION].i) ? "npu_sync" : NULL;
}

static void link_work(struct ascend *r, const struct cell *connection, tk_id work) {
  if (!ascend_is_connection(connection)) return;
  const uint32_t *call = map_get(&r->calls, (uint64_t)connection->i), *op = map_get(&r->ops, (uint64_t)connection->i);
  if (call) ascend_link(r, *call, work, "HostToDevice", "HostToDevice");
  if (op) ascend_link(r, *op, work, "torch_to_npu", "async_npu");
}

static void copy_args(struct tk_trace *t, uint32_t args) {
  struct tk_args it = tk_args_of(t, args);
  struct tk_arg arg;
  while (tk_args_next(&it, &arg)) args_copy(t, &arg);
}

static int64_t number_in(const struct cell *c) { return c->type == CELL_INT ? c->i : 0; }

static uint32_t args_of_task(struct device *d, const struct cell *v, const struct task_info *info) {
  struct tk_trace *t = d->r->d.t;
  args_begin(t);
  add_words(d, "Task Type", &v[T_TYPE]);
  add_number(d, "Task Id", &v[T_TASK]);
  if (ascend_is_connection(&v[T_CONNECTION])) add_number(d, "connection_id", &v[T_CONNECTION]);
  if (info && info->plane >= 0 && info->name) args_str(t, trace_text(t, "collective"), TK_ARG_STR, info->name);
  if (info) copy_args(t, info->args);
  return args_end(t);
}

static void take_task(const struct sqlite_scan *row, void *arg) {
  struct device *d = arg;
  struct ascend *r = d->r;
  struct tk_trace *t = r->d.t;
  struct tk_event e = {.depth = 0};
  const uint32_t *at = database_find(&r->tasks, &row->v[T_ID]);
  const struct task_info *info = at ? (const struct task_info *)(const void *)d->infos.data + *at : NULL;
  if (!database_span(&r->d, &row->v[T_START], &row->v[T_END], &e)) return;
  if (!r->pid) r->pid = number_in(&row->v[T_PID]);
  d->number = number_in(&row->v[T_DEVICE]);
  const tk_id type = text_in(d, &row->v[T_TYPE]);
  const char *category = category_of(d, row, info);
  const bool computes = info && info->plane < 0, is_plane = info && !computes;
  e.cls = trace_class(t, computes && info->name ? info->name : type, category ? trace_text(t, category) : 0);
  e.track = is_plane ? communication_row(d, info->group, info->plane) : stream_row(d, d->number, number_in(&row->v[T_STREAM]));
  e.args = args_of_task(d, row->v, info);
  const tk_id id = database_add(&r->d, &e);
  if (!is_plane && (computes || !category)) link_work(r, &row->v[T_CONNECTION], id);
}

/* ---- collectives ---- */

enum collective { O_NAME, O_START, O_END, O_CONNECTION, O_GROUP, O_COUNT, O_ALGORITHM, O_TYPE };

/* Adds the element type, with the name that trace_view.json uses. TYPES is indexed by the values of the table ENUM_HCCL_DATA_TYPE. */
static void add_element_type(struct device *d, const struct cell *type) {
  static const char *const TYPES[] = {"INT8",   "INT16",  "INT32",  "FP16", "FP32", "INT64", "UINT64", "UINT8",
                                      "UINT16", "UINT32", "FP64",   "BFP16", "INT128"};
  struct tk_trace *t = d->r->d.t;
  if (type->type != CELL_INT || type->i < 0 || type->i >= (int64_t)(sizeof TYPES / sizeof *TYPES)) return;
  args_str(t, trace_text(t, "data_type"), TK_ARG_STR, trace_text(t, TYPES[type->i]));
}

static void take_collective(const struct sqlite_scan *row, void *arg) {
  struct device *d = arg;
  struct tk_trace *t = d->r->d.t;
  struct tk_event e = {.depth = 0};
  if (!database_span(&d->r->d, &row->v[O_START], &row->v[O_END], &e)) return;
  e.cls = trace_class(t, text_in(d, &row->v[O_NAME]), 0);
  e.track = communication_row(d, text_in(d, &row->v[O_GROUP]), -1);
  args_begin(t);
  if (ascend_is_connection(&row->v[O_CONNECTION])) add_number(d, "connection_id", &row->v[O_CONNECTION]);
  add_number(d, "count", &row->v[O_COUNT]);
  add_element_type(d, &row->v[O_TYPE]);
  add_words(d, "alg_type", &row->v[O_ALGORITHM]);
  add_words(d, "group", &row->v[O_GROUP]);
  e.args = args_end(t);
  link_work(d->r, &row->v[O_CONNECTION], database_add(&d->r->d, &e));
}

bool ascend_read_device(struct ascend *r) {
  static const char *const COMPUTE[] = {"globalTaskId", "name", "opType", "blockDim", "inputShapes", "outputShapes", NULL};
  static const char *const PART[] = {"globalTaskId", "name", "planeId", "groupName", "srcRank", "dstRank", "size", NULL};
  static const char *const TASK[] = {"startNs", "endNs", "deviceId", "connectionId", "globalTaskId", "taskType", "streamId", "taskId",
                                     "globalPid", "contextId", NULL};
  static const char *const OP[] = {"opName", "startNs", "endNs", "connectionId", "groupName", "count", "algType", "dataType", NULL};
  struct device d = {.r = r, .infos.mem = &r->d.t->store->mem};
  map_init(&d.whole, &r->d.t->store->mem);
  const bool ok = database_each(&r->d, "COMPUTE_TASK_INFO", COMPUTE, take_compute, &d) &&
    database_each(&r->d, "COMMUNICATION_TASK_INFO", PART, take_part, &d) && database_each(&r->d, "TASK", TASK, take_parts, &d) &&
    database_each(&r->d, "TASK", TASK, take_task, &d) && database_each(&r->d, "COMMUNICATION_OP", OP, take_collective, &d);
  buf_free(&d.infos);
  map_free(&d.whole);
  return ok;
}
