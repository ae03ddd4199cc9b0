/* rocprof.c - reads the JSON of rocprofv3: for each process, API calls of threads, kernel dispatches, copies and counters.
 *
 *     {"rocprofiler-sdk-tool":[{"metadata":{"pid":..},"agents":[..],"counters":[..],"strings":{..},"kernel_symbols":[..],
 *       "callback_records":{"counter_collection":[..]},"buffer_records":{"kernel_dispatch":[..],"hip_api":[..],..}}]}
 *
 * A record refers to its operation by two indices into strings.buffer_records, to a kernel by an id in kernel_symbols, and to the text
 * of a roctx range by its correlation id in strings.marker_api. A call and the work that it launched have the same internal correlation
 * id. Command line and environment, which metadata contains, are never read. Any other list of buffer_records becomes spans of threads,
 * so that lists of later versions are also read.
 *
 * Source: ROCm/rocm-systems, projects/rocprofiler-sdk, source/lib/output/generateJSON.cpp and cxx/serialization.hpp. */
#include "rocprof.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/text.h"
#include "format/json_walk.h"
#include "format/torch_range.h"
#include "graph/args.h"
#include "reader.h"
#include "work.h"

static const char TOP[] = "\"rocprofiler-sdk-tool\"";

unsigned rocprof_bid(const uint8_t *p, size_t n) {
  size_t i = 0;
  while (i < n && json_is_space(p[i])) i++;
  if (i == n || p[i] != '{') return 0;
  for (i++; i < n && json_is_space(p[i]);) i++;
  return n - i > sizeof TOP - 1 && memcmp(p + i, TOP, sizeof TOP - 1) == 0 ? 300 : 0;
}

/* A text of the file, which becomes a string of the graph when an event first refers to it. */
struct lazy {
  struct json_value value;
  tk_id id;
};

struct lazy_list {
  struct map index; /* number -> place in `all` */
  struct buf all;   /* array of struct lazy */
};

/* A GPU and the string id of its product's name. */
struct product {
  int64_t gpu;
  tk_id name;
};

enum rocprof_list { OPERATIONS, SYMBOLS, MARKERS, COUNTER_NAMES, LISTS };

struct rocprof {
  struct rocm r;
  struct mem *mem;
  struct lazy_list lists[LISTS];
  struct map gpus; /* handle of an agent -> number of the GPU + 1; other agents are absent */
  struct buf products; /* array of struct product */
  uint64_t process;
  int64_t pid;
  int64_t kind, operation; /* kind and number of the operation that is listed next */
  uint64_t n_counted;      /* number of elements that count_element has counted */
  bool has_kernels;        /* the list of dispatches is not empty */
  tk_id category; /* category of the list that is being read */
};

typedef void rocprof_take(struct rocprof *p, struct json_walk *w, const struct json_value *v);

/* ---- values ---- */

static void each_element(struct rocprof *p, struct json_walk *w, const struct json_value *list, rocprof_take *take) {
  struct json_value v;
  if (!list->p || list->type != JSON_ARRAY) return;
  struct json_walk in = json_walk_into(w, list);
  if (json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &v)) take(p, &in, &v);
  json_walk_free(&in);
}

static struct json_value member(struct json_walk *w, const struct json_value *object, const char *key) {
  struct json_value v;
  const struct json_place places[] = {{key, &v}, {NULL, NULL}};
  json_walk_object(w, object, places);
  return v;
}

static struct cell cell_of(const struct json_value *v) {
  struct cell c = {.type = CELL_INT};
  if (!json_walk_whole(v, &c.i)) c.type = CELL_NULL;
  return c;
}

static int64_t whole_of(const struct json_value *v) {
  int64_t number;
  return json_walk_whole(v, &number) ? number : 0;
}

/* Returns the number in {"handle":1}, which identifies agents, queues and streams. */
static int64_t handle_of(struct json_walk *w, const struct json_value *v) {
  const struct json_value handle = member(w, v, "handle");
  return whole_of(&handle);
}

static tk_id string_of(struct rocprof *p, struct json_walk *w, const struct json_value *v) {
  size_t n = 0;
  if (!v->p || v->type != JSON_STRING) return 0;
  const uint8_t *text = json_string_text(&w->j, &v->str, &n);
  return n ? database_string(&p->r.d, text, n) : 0;
}

/* ---- names ---- */

static void lazy_add(struct rocprof *p, enum rocprof_list list, uint64_t number, const struct json_value *value) {
  struct lazy_list *l = &p->lists[list];
  const struct lazy item = {.value = *value};
  map_put(&l->index, number, (uint32_t)(l->all.len / sizeof item));
  buf_append(&l->all, &item, sizeof item);
}

static tk_id lazy_text(struct rocprof *p, struct json_walk *w, enum rocprof_list list, uint64_t number) {
  const uint32_t *at = map_get(&p->lists[list].index, number);
  if (!at) return 0;
  struct lazy *item = (struct lazy *)(void *)p->lists[list].all.data + *at;
  if (!item->id) item->id = string_of(p, w, &item->value);
  return item->id;
}

static uint64_t operation_key(int64_t kind, int64_t operation) { return hash_pair((uint64_t)kind, (uint64_t)operation); }

static void take_operation(struct rocprof *p, struct json_walk *w, const struct json_value *v) {
  (void)w;
  lazy_add(p, OPERATIONS, operation_key(p->kind, p->operation++), v);
}

static void take_kind(struct rocprof *p, struct json_walk *w, const struct json_value *v) {
  const struct json_value operations = member(w, v, "operations");
  p->operation = 0;
  each_element(p, w, &operations, take_operation);
  p->kind++;
}

static void take_symbol(struct rocprof *p, struct json_walk *w, const struct json_value *v) {
  struct json_value id, formatted, plain;
  const struct json_place places[] = {
      {"kernel_id", &id}, {"formatted_kernel_name", &formatted}, {"kernel_name", &plain}, {NULL, NULL}};
  json_walk_object(w, v, places);
  lazy_add(p, SYMBOLS, (uint64_t)whole_of(&id), formatted.p ? &formatted : &plain);
}

static void take_marker(struct rocprof *p, struct json_walk *w, const struct json_value *v) {
  const struct json_value key = member(w, v, "key"), value = member(w, v, "value");
  lazy_add(p, MARKERS, (uint64_t)whole_of(&key), &value);
}

static void take_counter(struct rocprof *p, struct json_walk *w, const struct json_value *v) {
  const struct json_value id = member(w, v, "id"), name = member(w, v, "name");
  lazy_add(p, COUNTER_NAMES, (uint64_t)handle_of(w, &id), &name);
}

static void take_agent(struct rocprof *p, struct json_walk *w, const struct json_value *v) {
  enum { GPU = 2 };
  struct json_value id, type, number, product;
  const struct json_place places[] = {
      {"id", &id}, {"type", &type}, {"logical_node_type_id", &number}, {"product_name", &product}, {NULL, NULL}};
  json_walk_object(w, v, places);
  if (whole_of(&type) != GPU) return;
  map_put(&p->gpus, (uint64_t)handle_of(w, &id), (uint32_t)whole_of(&number) + 1);
  const struct product found = {whole_of(&number), string_of(p, w, &product)};
  if (found.name) buf_append(&p->products, &found, sizeof found);
}

/* Appends {"id":PID,"name":"AMD Instinct MI350X"} for a device that has events. */
static void put_product(struct rocprof *p, const struct product *product, struct buf *raw) {
  const struct tk_trace *t = p->r.d.t;
  const uint32_t *device = map_get(&p->r.devices, (uint64_t)product->gpu);
  const struct intern_str *name = trace_str(t, product->name);
  char id[24];
  if (!device || !*device || t->tracks[*device].pid.kind != TK_IDENT_INT) return;
  buf_text(raw, raw->len ? ",{\"id\":" : "[{\"id\":");
  buf_append(raw, id, num_put_i64(id, t->tracks[*device].pid.num));
  buf_text(raw, ",\"name\":");
  json_quote(raw, (const char *)name->bytes, name->len);
  buf_text(raw, "}");
}

/* Records the products of devices in the form in which Kineto describes devices. Each process lists all devices again. */
static void add_products(struct rocprof *p) {
  struct tk_trace *t = p->r.d.t;
  struct buf text = {.mem = p->mem}, *raw = &t->store->raw;
  const struct product *v = (const struct product *)(const void *)p->products.data;
  const size_t n = p->products.len / sizeof *v;
  struct map seen;
  map_init(&seen, p->mem);
  for (size_t i = 0; i < n; i++) {
    uint32_t *times = map_put(&seen, (uint64_t)v[i].gpu, 0);
    if (times && !(*times)++) put_product(p, &v[i], &text);
  }
  map_free(&seen);
  if (text.len && buf_text(&text, "]")) {
    *trace_add_meta(t) = (struct tk_meta){.key = trace_text(t, "deviceProperties"), .at = raw->len, .size = text.len};
    buf_append(raw, text.data, text.len);
    trace_end_raw(t);
  }
  buf_free(&text);
}

/* Returns the number of a GPU, or -1 for another agent. */
static int64_t gpu_of(struct rocprof *p, int64_t agent) {
  const uint32_t *number = map_get(&p->gpus, (uint64_t)agent);
  return number ? (int64_t)*number - 1 : -1;
}

/* ---- records ---- */

struct record {
  struct json_value kind, operation, thread, correlation, start, end, dispatch, stream, to, from, bytes, allocated;
  int64_t id; /* internal correlation id; 0 = none */
};

static struct record record_of(struct json_walk *w, const struct json_value *v) {
  struct record e = {.id = 0};
  const struct json_place places[] = {
      {"kind", &e.kind}, {"operation", &e.operation}, {"thread_id", &e.thread}, {"correlation_id", &e.correlation},
      {"start_timestamp", &e.start}, {"end_timestamp", &e.end}, {"dispatch_info", &e.dispatch}, {"stream_id", &e.stream},
      {"dst_agent_id", &e.to}, {"src_agent_id", &e.from}, {"bytes", &e.bytes}, {"allocation_size", &e.allocated}, {NULL, NULL}};
  json_walk_object(w, v, places);
  const struct json_value internal = member(w, &e.correlation, "internal");
  e.id = whole_of(&internal);
  return e;
}

static bool times_of(struct rocprof *p, const struct record *e, struct tk_event *event) {
  const struct cell start = cell_of(&e->start), end = cell_of(&e->end);
  return database_span(&p->r.d, &start, &end, event);
}

static void put_number(struct rocprof *p, enum rocm_key key, const struct json_value *v) {
  const struct cell c = cell_of(v);
  database_arg(&p->r.d, p->r.key[key], &c);
}

static void begin_args(struct rocprof *p, const struct record *e) {
  args_begin(p->r.d.t);
  if (e->id) args_int(p->r.d.t, p->r.key[K_CORRELATION], e->id);
}

static uint64_t launch_key(const struct rocprof *p, int64_t id) { return hash_pair(p->process, (uint64_t)id); }

static void take_call(struct rocprof *p, struct json_walk *w, const struct json_value *v) {
  const struct record e = record_of(w, v);
  struct tk_event event = {.depth = 0};
  struct torch_range range = {.text = 0};
  struct tk_trace *t = p->r.d.t;
  if (!times_of(p, &e, &event)) return;
  const uint64_t operation = operation_key(whole_of(&e.kind), whole_of(&e.operation));
  const bool is_marker = strcmp(tk_string(t, p->category, NULL), "marker_api") == 0;
  const tk_id text = is_marker ? lazy_text(p, w, MARKERS, (uint64_t)e.id) : 0;
  event.track = trace_track(t, TK_TRACK_THREAD, ident_int(p->pid), ident_int(whole_of(&e.thread)), 0);
  event.cls = text ? torch_range_class(t, text, p->category, &range)
                   : trace_class(t, lazy_text(p, w, OPERATIONS, operation), p->category);
  if (is_marker && event.dur == 0 && event.kind == TK_EVENT_SPAN) event.kind = TK_EVENT_INSTANT;
  begin_args(p, &e);
  torch_range_args(t, &range);
  put_number(p, K_BYTES, &e.allocated);
  event.args = args_end(t);
  const tk_id id = database_add(&p->r.d, &event);
  if (e.id) map_put(&p->r.by_id, launch_key(p, e.id), id);
}

static void add_work(struct rocprof *p, const struct record *e, struct tk_event *event) {
  event->args = args_end(p->r.d.t);
  const tk_id work = database_add(&p->r.d, event);
  const uint32_t *call = e->id ? map_get(&p->r.by_id, launch_key(p, e->id)) : NULL;
  if (call) database_link(&p->r.d, *call, work, p->r.flow_class);
}

static tk_id queue_of(struct rocprof *p, int64_t gpu, int64_t queue, const char *name) {
  const tk_id track = work_queue(&p->r, p->process, gpu, queue, name ? trace_text(p->r.d.t, name) : 0);
  trace_own(p->r.d.t, track, (uint32_t)p->pid);
  return track;
}

/* Adds the arg "[x,y,z]" from an object {"x":1,"y":1,"z":1}. */
static void put_triple(struct rocprof *p, struct json_walk *w, enum rocm_key key, const struct json_value *v) {
  struct json_value xyz[3] = {{.p = NULL}, {.p = NULL}, {.p = NULL}};
  const struct json_place places[] = {{"x", &xyz[0]}, {"y", &xyz[1]}, {"z", &xyz[2]}, {NULL, NULL}};
  if (!v->p || v->type != JSON_OBJECT) return;
  json_walk_object(w, v, places);
  const struct cell cells[3] = {cell_of(&xyz[0]), cell_of(&xyz[1]), cell_of(&xyz[2])};
  database_triple(&p->r.d, p->r.key[key], cells);
}

/* ---- kernels and copies ---- */

struct dispatch {
  struct json_value agent, queue, kernel, id, lds, scratch, block, grid;
};

static struct dispatch dispatch_of(struct json_walk *w, const struct json_value *v) {
  struct dispatch d = {.agent = {.p = NULL}};
  const struct json_place places[] = {
      {"agent_id", &d.agent}, {"queue_id", &d.queue}, {"kernel_id", &d.kernel}, {"dispatch_id", &d.id},
      {"group_segment_size", &d.lds}, {"private_segment_size", &d.scratch}, {"workgroup_size", &d.block}, {"grid_size", &d.grid},
      {NULL, NULL}};
  json_walk_object(w, v, places);
  return d;
}

static bool add_dispatch(struct rocprof *p, struct json_walk *w, const struct record *e, tk_id *device, tk_time *start) {
  const struct dispatch d = dispatch_of(w, &e->dispatch);
  const int64_t gpu = gpu_of(p, handle_of(w, &d.agent)), number = gpu < 0 ? 0 : gpu;
  struct tk_event event = {.depth = 0};
  struct tk_trace *t = p->r.d.t;
  if (!times_of(p, e, &event)) return false;
  event.track = queue_of(p, number, handle_of(w, &d.queue), NULL);
  event.cls = trace_class(t, lazy_text(p, w, SYMBOLS, (uint64_t)whole_of(&d.kernel)), trace_text(t, "kernel_dispatch"));
  begin_args(p, e);
  args_int(t, p->r.key[K_DEVICE], number);
  if (e->stream.p) args_int(t, p->r.key[K_STREAM], handle_of(w, &e->stream));
  put_triple(p, w, K_GRID, &d.grid);
  put_triple(p, w, K_BLOCK, &d.block);
  put_number(p, K_DISPATCH, &d.id);
  put_number(p, K_LDS, &d.lds);
  put_number(p, K_SCRATCH, &d.scratch);
  add_work(p, e, &event);
  *device = work_device(&p->r, number);
  *start = event.ts;
  return true;
}

static void take_dispatch(struct rocprof *p, struct json_walk *w, const struct json_value *v) {
  const struct record e = record_of(w, v);
  tk_id device;
  tk_time start;
  add_dispatch(p, w, &e, &device, &start);
}

/* Adds a copy, on the destination if it is a GPU, otherwise on the source. */
static void take_copy(struct rocprof *p, struct json_walk *w, const struct json_value *v) {
  enum { COPIES = -1 };
  const struct record e = record_of(w, v);
  const int64_t to = gpu_of(p, handle_of(w, &e.to)), from = gpu_of(p, handle_of(w, &e.from));
  const int64_t gpu = to >= 0 ? to : from >= 0 ? from : 0;
  struct tk_event event = {.depth = 0};
  struct tk_trace *t = p->r.d.t;
  if (!times_of(p, &e, &event)) return;
  event.track = queue_of(p, gpu, COPIES, "copies");
  const uint64_t operation = operation_key(whole_of(&e.kind), whole_of(&e.operation));
  event.cls = trace_class(t, lazy_text(p, w, OPERATIONS, operation), p->category);
  begin_args(p, &e);
  args_int(t, p->r.key[K_DEVICE], gpu);
  if (e.stream.p) args_int(t, p->r.key[K_STREAM], handle_of(w, &e.stream));
  put_number(p, K_BYTES, &e.bytes);
  if (from >= 0) args_int(t, p->r.key[K_FROM], from);
  if (to >= 0) args_int(t, p->r.key[K_TO], to);
  add_work(p, &e, &event);
}

/* ---- counters ---- */

/* Sums of the counters of one dispatch over all instances of a counter, such as shader engines. Hardware measures a few dozen counters
 * at a time. */
struct sums {
  struct {
    uint64_t counter;
    double value;
  } row[128];
  unsigned n;
  uint64_t n_left; /* number of values of counters for which `row` has no room */
};

static void take_value(struct sums *s, struct json_walk *w, const struct json_value *v) {
  const struct json_value id = member(w, v, "counter_id"), value = member(w, v, "value");
  const uint64_t counter = (uint64_t)handle_of(w, &id);
  unsigned i = 0;
  if (!value.p || value.type != JSON_NUMBER) return;
  while (i < s->n && s->row[i].counter != counter) i++;
  if (i == sizeof s->row / sizeof *s->row) {
    s->n_left++;
    return;
  }
  if (i == s->n) s->row[s->n++].counter = counter;
  s->row[i].value += num_double((const char *)value.p, (size_t)(value.end - value.p));
}

static void add_values(struct rocprof *p, struct json_walk *w, const struct json_value *records, tk_id device, tk_time start) {
  struct sums s = {.n = 0};
  struct json_value v;
  struct json_walk in = json_walk_into(w, records);
  if (json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &v)) take_value(&s, &in, &v);
  json_walk_free(&in);
  if (s.n_left)
    trace_notes(p->r.d.t, TK_NOTE_REPAIR, UINT64_MAX, "dispatch with more than 128 counters: the others are lost", s.n_left);
  for (unsigned i = 0; i < s.n; i++) {
    const tk_id name = lazy_text(p, w, COUNTER_NAMES, s.row[i].counter);
    args_begin(p->r.d.t);
    args_double(p->r.d.t, KEY_COUNTER_VALUE, s.row[i].value);
    database_sample(&p->r.d, database_counter(&p->r.d, device, name), start);
  }
}

/* Reads a dispatch with its counters. The kernel is added here only if the list of dispatches is empty, as without --kernel-trace. */
static void take_counted(struct rocprof *p, struct json_walk *w, const struct json_value *v) {
  const struct json_value data = member(w, v, "dispatch_data"), records = member(w, v, "records");
  const struct record e = record_of(w, data.p ? &data : v);
  tk_id device = 0;
  tk_time start = 0;
  if (p->has_kernels) {
    const struct dispatch d = dispatch_of(w, &e.dispatch);
    const int64_t gpu = gpu_of(p, handle_of(w, &d.agent));
    const struct cell at = cell_of(&e.start);
    if (!database_time(&p->r.d, &at, &start)) return;
    device = work_device(&p->r, gpu < 0 ? 0 : gpu);
  } else if (!add_dispatch(p, w, &e, &device, &start)) return;
  if (records.p && records.type == JSON_ARRAY) add_values(p, w, &records, device, start);
}

/* ---- lists of records ---- */

static void count_element(struct rocprof *p, struct json_walk *w, const struct json_value *v) {
  (void)w, (void)v;
  p->n_counted++;
}

static uint64_t count(struct rocprof *p, struct json_walk *w, const struct json_value *list) {
  p->n_counted = 0;
  each_element(p, w, list, count_element);
  return p->n_counted;
}

static void note_unread(struct rocprof *p, struct json_walk *w, const struct json_value *list, const char *key) {
  char text[160];
  const uint64_t n = count(p, w, list);
  snprintf(text, sizeof text, "records of %.80s are not read", key);
  if (!n) return;
  trace_notes(p->r.d.t, TK_NOTE_FACT, UINT64_MAX, text, n);
  trace_mark_unread(p->r.d.t, key);
}

typedef void rocprof_take_list(struct rocprof *p, struct json_walk *w, const struct json_value *list, const char *key);

static bool is_work(const char *key) { return strcmp(key, "kernel_dispatch") == 0 || strcmp(key, "memory_copy") == 0; }

static void read_work(struct rocprof *p, struct json_walk *w, const struct json_value *list, const char *key) {
  if (is_work(key)) each_element(p, w, list, strcmp(key, "memory_copy") == 0 ? take_copy : take_dispatch);
}

static void read_calls(struct rocprof *p, struct json_walk *w, const struct json_value *list, const char *key) {
  if (text_begins(key, "pc_sample")) note_unread(p, w, list, key);
  else if (!is_work(key)) each_element(p, w, list, take_call);
}

static void read_callbacks(struct rocprof *p, struct json_walk *w, const struct json_value *list, const char *key) {
  if (strcmp(key, "counter_collection") == 0) each_element(p, w, list, take_counted);
  else note_unread(p, w, list, key);
}

static void each_list(struct rocprof *p, struct json_walk *w, const struct json_value *lists, rocprof_take_list *take) {
  struct json_string key;
  struct json_value v;
  char name[64];
  if (!lists->p || lists->type != JSON_OBJECT) return;
  struct json_walk in = json_walk_into(w, lists);
  if (json_walk_enter(&in, '{'))
    while (json_walk_key(&in, &key) && json_walk_value(&in, &v)) {
      snprintf(name, sizeof name, "%.*s", (int)(key.n < sizeof name ? key.n : sizeof name - 1), (const char *)key.p);
      p->category = trace_text(p->r.d.t, name);
      take(p, &in, &v, name);
    }
  json_walk_free(&in);
}

/* ---- processes ---- */

static void read_names(struct rocprof *p, struct json_walk *w, const struct json_value *strings, const struct json_value *symbols) {
  struct json_value operations = member(w, strings, "buffer_records"), markers = member(w, strings, "marker_api");
  p->kind = 0;
  each_element(p, w, &operations, take_kind);
  each_element(p, w, &markers, take_marker);
  each_element(p, w, symbols, take_symbol);
}

static void begin_process(struct rocprof *p, struct json_walk *w, const struct json_value *metadata) {
  const struct json_value pid = member(w, metadata, "pid");
  p->pid = whole_of(&pid);
  p->process++;
  for (int i = 0; i < LISTS; i++) {
    map_free(&p->lists[i].index);
    map_init(&p->lists[i].index, p->mem);
    p->lists[i].all.len = 0;
  }
  map_free(&p->gpus);
  map_init(&p->gpus, p->mem);
}

static void take_process(struct rocprof *p, struct json_walk *w, const struct json_value *v) {
  struct json_value metadata, agents, counters, strings, symbols, callbacks, buffers;
  const struct json_place places[] = {
      {"metadata", &metadata}, {"agents", &agents}, {"counters", &counters}, {"strings", &strings}, {"kernel_symbols", &symbols},
      {"callback_records", &callbacks}, {"buffer_records", &buffers}, {NULL, NULL}};
  if (v->type != JSON_OBJECT) return;
  json_walk_object(w, v, places);
  begin_process(p, w, &metadata);
  read_names(p, w, &strings, &symbols);
  each_element(p, w, &agents, take_agent);
  each_element(p, w, &counters, take_counter);
  each_list(p, w, &buffers, read_calls); /* first, because work refers to them */
  each_list(p, w, &buffers, read_work);
  const struct json_value dispatches = member(w, &buffers, "kernel_dispatch");
  p->has_kernels = count(p, w, &dispatches) != 0;
  each_list(p, w, &callbacks, read_callbacks);
}

/* Reads the document in `text`. */
static void read_tool(struct rocprof *p, const uint8_t *text, size_t n) {
  struct json_walk w = json_walk_over(text, text + n, p->mem);
  struct json_value document;
  if (!json_walk_value(&w, &document) || w.cut || document.type != JSON_OBJECT) {
    trace_note(p->r.d.t, TK_NOTE_REPAIR, (uint64_t)(w.j.p - text), "the JSON is truncated or damaged here: the part before was read");
    p->r.d.t->truncated = true;
  }
  const struct json_value tool = member(&w, &document, "rocprofiler-sdk-tool");
  if (tool.p && tool.type == JSON_OBJECT) take_process(p, &w, &tool);
  else each_element(p, &w, &tool, take_process);
  json_walk_free(&w);
}

static void rocprof_init(struct rocprof *p) {
  work_init(&p->r);
  for (int i = 0; i < LISTS; i++) {
    map_init(&p->lists[i].index, p->mem);
    p->lists[i].all.mem = p->mem;
  }
  map_init(&p->gpus, p->mem);
  p->products.mem = p->mem;
}

static void rocprof_free(struct rocprof *p) {
  for (int i = 0; i < LISTS; i++) {
    map_free(&p->lists[i].index);
    buf_free(&p->lists[i].all);
  }
  map_free(&p->gpus);
  buf_free(&p->products);
  work_free(&p->r);
}

bool rocprof_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct rocprof p = {.r = {.d = {.t = t, .opt = opt, .in = in, .err = err}}, .mem = &t->store->mem};
  struct buf text = {.mem = p.mem};
  size_t n;
  const bool ok = json_walk_load(in, &text, &n, err);
  rocprof_init(&p);
  if (ok) read_tool(&p, text.data, n);
  if (ok) add_products(&p);
  rocprof_free(&p);
  buf_free(&text);
  t->counts.bytes = in_offset(in);
  t->counts.read = t->n_events;
  return ok && mem_check(p.mem, err);
}
