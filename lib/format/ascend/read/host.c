/* host.c - reads PYTORCH_API (operators, Python, queues) and CANN_API (runtime calls).
 *
 * A row of PYTORCH_API refers to a set of connections (CONNECTION_IDS): the launches that the operator caused, or the items that were
 * put into or taken out of a queue. A row of CANN_API has one connection; the device task that the call launched has the same one. */
#include "host.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "graph/args.h"

/* ---- connections ---- */

static void take_connection(const struct sqlite_scan *row, void *arg) {
  struct ascend *r = arg;
  if (row->v[0].type != CELL_INT || row->v[1].type != CELL_INT) return;
  uint32_t *first = map_put(&r->connections, (uint64_t)row->v[0].i, 0);
  if (!first) return;
  const struct ascend_link link = {row->v[1].i, *first};
  *first = (uint32_t)(r->links.len / sizeof link) + 1;
  buf_append(&r->links, &link, sizeof link);
}

static const struct ascend_link *link_at(const struct ascend *r, uint32_t at) {
  return at ? (const struct ascend_link *)(const void *)r->links.data + at - 1 : NULL;
}

/* ---- PyTorch ---- */

enum api_type { API_OP = 50001, API_QUEUE = 50002, API_TRACE = 50003, API_MARK = 50004 };
enum pytorch { P_START, P_END, P_TID, P_CONNECTION, P_NAME, P_SEQUENCE, P_FORWARD, P_DTYPES, P_SHAPES, P_TYPE };

static const char *category_of(int64_t type, const char *name) {
  if (type == API_TRACE) return "python_function";
  if (type == API_QUEUE) return text_begins(name, "Dequeue") ? "dequeue" : "enqueue";
  return type == API_MARK ? "user_annotation" : "cpu_op";
}

static tk_id host_thread(struct ascend *r, const struct cell *global) {
  char name[32];
  const int64_t pid = global->type == CELL_INT ? global->i >> 32 : 0, tid = global->type == CELL_INT ? global->i & UINT32_MAX : 0;
  if (!r->pid) r->pid = pid;
  snprintf(name, sizeof name, "Thread %lld", (long long)tid);
  const tk_id process = trace_process(r->d.t, ident_int(pid));
  if (!r->d.t->tracks[process].name) {
    database_name(&r->d, process, trace_text(r->d.t, "Python"));
    r->d.t->tracks[process].labels = trace_text(r->d.t, "CPU");
  }
  return ascend_thread(r, process, tid, name);
}

static void add_number(struct ascend *r, const char *key, const struct cell *c) {
  if (c->type == CELL_INT) args_int(r->d.t, trace_text(r->d.t, key), c->i);
}

static void connect(struct ascend *r, const struct sqlite_scan *row, tk_id event, const char *category) {
  const uint32_t *first = database_find(&r->connections, &row->v[P_CONNECTION]);
  const bool out = strcmp(category, "dequeue") == 0;
  const bool queue = out || strcmp(category, "enqueue") == 0;
  for (const struct ascend_link *l = link_at(r, first ? *first : 0); l; l = link_at(r, l->next)) {
    const uint32_t *from = out ? map_get(&r->queued, (uint64_t)l->connection) : NULL;
    if (from) ascend_link(r, *from, event, "enqueue_to_dequeue", "async_task_queue");
    if (!out) map_put(queue ? &r->queued : &r->ops, (uint64_t)l->connection, event);
  }
}

static void take_pytorch(const struct sqlite_scan *row, void *arg) {
  struct ascend *r = arg;
  struct tk_trace *t = r->d.t;
  struct tk_event e = {.depth = 0};
  if (!database_span(&r->d, &row->v[P_START], &row->v[P_END], &e)) return;
  const tk_id name = database_text(&r->d, &r->texts, &row->v[P_NAME]);
  const char *category = category_of(row->v[P_TYPE].i, tk_string(t, name, NULL));
  e.cls = trace_class(t, name, trace_text(t, category));
  e.track = host_thread(r, &row->v[P_TID]);
  args_begin(t);
  add_number(r, "Sequence number", &row->v[P_SEQUENCE]);
  add_number(r, "Fwd thread id", &row->v[P_FORWARD]);
  database_text_arg(&r->d, &r->texts, trace_text(t, "Input type"), &row->v[P_DTYPES]);
  database_text_arg(&r->d, &r->texts, trace_text(t, "Input Dims"), &row->v[P_SHAPES]);
  e.args = args_end(t);
  connect(r, row, database_add(&r->d, &e), category);
}

/* ---- CANN ---- */

enum cann { C_START, C_END, C_TYPE, C_TID, C_CONNECTION, C_NAME };

/* Returns the name of an API level (a value of ENUM_API_TYPE). trace_view.json writes this name before the name of the call. */
static const char *level_of(int64_t type) {
  static const struct {
    int64_t type;
    const char *word;
  } LEVELS[] = {{20000, "AscendCL"}, {15000, "Model"}, {10000, "Node"}, {5500, "HCCL"}, {5000, "Runtime"}};
  for (size_t i = 0; i < sizeof LEVELS / sizeof *LEVELS; i++)
    if (LEVELS[i].type == type) return LEVELS[i].word;
  return "CANN";
}

static void take_cann(const struct sqlite_scan *row, void *arg) {
  struct ascend *r = arg;
  struct tk_trace *t = r->d.t;
  struct tk_event e = {.depth = 0};
  const int64_t tid = row->v[C_TID].type == CELL_INT ? row->v[C_TID].i : 0;
  char text[200], thread[32];
  if (!database_span(&r->d, &row->v[C_START], &row->v[C_END], &e)) return;
  if (!r->pid) r->pid = tid >> 32;
  const tk_id name = database_text(&r->d, &r->texts, &row->v[C_NAME]);
  const int n = snprintf(text, sizeof text, "%s@%.180s", level_of(row->v[C_TYPE].i), tk_string(t, name, NULL));
  snprintf(thread, sizeof thread, "Thread %lld", (long long)(tid & UINT32_MAX));
  const size_t length = n < (int)sizeof text ? (size_t)n : sizeof text - 1;
  e.cls = trace_class(t, database_string(&r->d, text, length), trace_text(t, "npu_runtime"));
  e.track = ascend_thread(r, ascend_process(r, ROW_CANN, 0, "CANN"), tid & UINT32_MAX, thread);
  args_begin(t);
  if (ascend_is_connection(&row->v[C_CONNECTION])) add_number(r, "connection_id", &row->v[C_CONNECTION]);
  e.args = args_end(t);
  const tk_id id = database_add(&r->d, &e);
  if (ascend_is_connection(&row->v[C_CONNECTION])) map_put(&r->calls, (uint64_t)row->v[C_CONNECTION].i, id);
}

bool ascend_read_host(struct ascend *r) {
  static const char *const CONNECTION[] = {"id", "connectionId", NULL};
  static const char *const PYTORCH[] = {"startNs", "endNs", "globalTid", "connectionId", "name", "sequenceNumber", "fwdThreadId",
                                        "inputDtypes", "inputShapes", "type", NULL};
  static const char *const CANN[] = {"startNs", "endNs", "type", "globalTid", "connectionId", "name", NULL};
  return database_each(&r->d, "CONNECTION_IDS", CONNECTION, take_connection, r) &&
    database_each(&r->d, "PYTORCH_API", PYTORCH, take_pytorch, r) && database_each(&r->d, "CANN_API", CANN, take_cann, r);
}
