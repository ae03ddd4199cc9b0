/* rocpd.c - reads schemas 3 and 4: for each process, regions of threads, kernel dispatches, copies and samples.
 *
 * Names of tables end in the id of a process, and ids in a table refer to tables of the same process. Views, whose names have
 * no such ending, are not read, because an untrusted file may contain any view. In version 4, a row refers to a track instead
 * of process, thread, agent and queue. A region and the work that it launched refer to events with the same stack id. */
#include "rocpd.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/text.h"
#include "graph/args.h"
#include "work.h"

enum { NAME_MOST = 128, ID_LENGTH = 36 };

/* A row of an info table; `number` and `other` depend on the table. */
struct info {
  int64_t id;
  int64_t number; /* pid of a process; tid of a thread; index of a GPU; id of a track's thread or agent */
  int64_t other;  /* process of a thread; queue of a track; stack of an event */
  tk_id name;
};

struct infos {
  struct map index;
  struct buf all; /* array of struct info */
};

enum info_kind { PROCESSES, THREADS, AGENTS, QUEUES, STREAMS, SYMBOLS, TRACKS, EVENTS, COUNTERS, INFOS };

struct rocpd {
  struct rocm *r;
  const char *id; /* end of the tables' names: "_" and the id of the process, or "" */
  struct infos infos[INFOS];
  enum info_kind filling;
};

static bool each(struct rocpd *p, const char *base, const char *const *columns, database_take *take) {
  char table[NAME_MOST];
  snprintf(table, sizeof table, "%s%s", base, p->id);
  return database_each(&p->r->d, table, columns, take, p);
}

/* ---- infos ---- */

static struct info *info_of(struct rocpd *p, enum info_kind kind, const struct cell *id) {
  const uint32_t *at = database_find(&p->infos[kind].index, id);
  return at ? (struct info *)(void *)p->infos[kind].all.data + *at : NULL;
}

static int64_t number_of(const struct cell *c) { return c->type == CELL_INT ? c->i : 0; }

static tk_id text_in(struct rocpd *p, const struct cell *c) {
  return c->type == CELL_TEXT && c->n == 0 ? 0 : c->type == CELL_NULL ? 0 : database_text(&p->r->d, &p->r->texts, c);
}

/* Adds a row of an info table. The columns are id, number, other, name. */
static void take_info(const struct sqlite_scan *row, void *arg) {
  struct rocpd *p = arg;
  struct infos *to = &p->infos[p->filling];
  const struct info i = {number_of(&row->v[0]), number_of(&row->v[1]), number_of(&row->v[2]), text_in(p, &row->v[3])};
  map_put(&to->index, (uint64_t)i.id, (uint32_t)(to->all.len / sizeof i));
  buf_append(&to->all, &i, sizeof i);
}

static bool read_infos(struct rocpd *p) {
  static const struct {
    const char *table;
    const char *columns[5];
  } TABLES[INFOS] = {
      [PROCESSES] = {"rocpd_info_process", {"id", "pid", "nid", "-", NULL}}, /* command and environment are never read */
      [THREADS] = {"rocpd_info_thread", {"id", "tid", "pid", "name", NULL}},
      [AGENTS] = {"rocpd_info_agent", {"id", "type_index", "absolute_index", "type", NULL}},
      [QUEUES] = {"rocpd_info_queue", {"id", "pid", "nid", "name", NULL}},
      [STREAMS] = {"rocpd_info_stream", {"id", "pid", "nid", "name", NULL}},
      [SYMBOLS] = {"rocpd_info_kernel_symbol", {"id", "pid", "nid", "display_name", NULL}},
      [TRACKS] = {"rocpd_track", {"id", "tid", "pid", "name_id", NULL}},
      [EVENTS] = {"rocpd_event", {"id", "stack_id", "correlation_id", "category_id", NULL}},
      [COUNTERS] = {"rocpd_info_pmc", {"id", "agent_id", "pid", "name", NULL}},
  };
  for (int i = 0; i < INFOS; i++) {
    p->filling = (enum info_kind)i;
    if (!each(p, TABLES[i].table, TABLES[i].columns, take_info)) return false;
  }
  return true;
}

/* ---- tracks ---- */

/* Assigns a track to the first process of the set of tables. */
static void own(struct rocpd *p, tk_id track) {
  const struct info *first = p->infos[PROCESSES].all.len ? (const struct info *)(const void *)p->infos[PROCESSES].all.data : NULL;
  if (first) trace_own(p->r->d.t, track, (uint32_t)first->number);
}

/* Returns the thread of a row: the thread of the column `thread`, otherwise the one of its track. */
static tk_id thread_of(struct rocpd *p, const struct cell *process, const struct cell *thread, const struct cell *track) {
  const struct info *k = info_of(p, TRACKS, track);
  const struct cell by_track = {.type = CELL_INT, .i = k ? k->number : 0}, owner = {.type = CELL_INT, .i = k ? k->other : 0};
  const struct info *t = info_of(p, THREADS, thread->type == CELL_INT ? thread : &by_track);
  const struct cell of_thread = {.type = CELL_INT, .i = t ? t->other : 0};
  const struct info *o = info_of(p, PROCESSES, process->type == CELL_INT ? process : k ? &owner : &of_thread);
  const tk_id id = trace_track(p->r->d.t, TK_TRACK_THREAD, ident_int(o ? o->number : 0), ident_int(t
      ? t->number : number_of(thread)), 0);
  if (t && t->name && !p->r->d.t->tracks[id].name) database_name(&p->r->d, id, t->name);
  own(p, id);
  return id;
}

/* ---- spans ---- */

/* Returns the category in the spelling of rocprofv3's other formats: "hip_api" for "HIP_RUNTIME_API". */
static tk_id category_of(struct rocpd *p, const struct info *event) {
  static const struct {
    const char *begin, *category;
  } ROWS[] = {{"HIP_", "hip_api"},       {"HSA_", "hsa_api"},           {"MARKER_", "marker_api"},
              {"RCCL_", "rccl_api"},     {"ROCTX", "marker_api"},       {"KERNEL_DISPATCH", "kernel_dispatch"},
              {"MEMORY_COPY", "memory_copy"}};
  const char *text = tk_string(p->r->d.t, event ? event->name : 0, NULL);
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
    if (text_begins(text, ROWS[i].begin)) return trace_text(p->r->d.t, ROWS[i].category);
  return event ? event->name : 0;
}

/* Returns the key of a stack id, which a region shares with the work it launched; 0 means no stack. */
static uint64_t stack_key(const struct rocpd *p, int64_t stack) { return hash_pair(hash_text(p->id, strlen(p->id)), (uint64_t)stack); }

static void take_region(const struct sqlite_scan *row, void *arg) {
  struct rocpd *p = arg;
  struct tk_event e = {.depth = 0};
  const struct info *event = info_of(p, EVENTS, &row->v[5]);
  if (!database_span(&p->r->d, &row->v[2], &row->v[3], &e)) return;
  e.track = thread_of(p, &row->v[0], &row->v[1], &row->v[6]);
  e.cls = trace_class(p->r->d.t, text_in(p, &row->v[4]), category_of(p, event));
  args_begin(p->r->d.t);
  if (event && event->number) args_int(p->r->d.t, p->r->key[K_CORRELATION], event->number);
  e.args = args_end(p->r->d.t);
  const tk_id id = database_add(&p->r->d, &e);
  if (event && event->number) map_put(&p->r->by_id, stack_key(p, event->number), id);
}

static void link_launch(struct rocpd *p, const struct info *event, tk_id work) {
  const uint32_t *region = event && event->number ? map_get(&p->r->by_id, stack_key(p, event->number)) : NULL;
  if (region) database_link(&p->r->d, *region, work, p->r->flow_class);
}

static void add_text(struct rocpd *p, enum rocm_key key, tk_id text) {
  if (text) args_str(p->r->d.t, p->r->key[key], TK_ARG_STR, text);
}

/* Begins the args of work on a device. */
static void begin_args(struct rocpd *p, const struct info *event, const struct info *stream, const struct info *agent) {
  args_begin(p->r->d.t);
  if (agent) args_int(p->r->d.t, p->r->key[K_DEVICE], agent->number);
  if (stream) add_text(p, K_STREAM, stream->name);
  if (event && event->number) args_int(p->r->d.t, p->r->key[K_CORRELATION], event->number);
}

static tk_id queue_of(struct rocpd *p, const struct info *agent, const struct cell *queue) {
  const struct info *q = info_of(p, QUEUES, queue);
  const uint64_t process = hash_text(p->id, strlen(p->id));
  const tk_id track = work_queue(p->r, process, agent ? agent->number : 0, number_of(queue), q ? q->name : 0);
  own(p, track);
  return track;
}

enum dispatch {
  D_AGENT, D_KERNEL, D_QUEUE, D_STREAM, D_START, D_END, D_BLOCK, D_GRID = D_BLOCK + 3, D_EVENT = D_GRID + 3, D_ID, D_LDS, D_SCRATCH
};

static void take_dispatch(const struct sqlite_scan *row, void *arg) {
  struct rocpd *p = arg;
  struct rocm *r = p->r;
  struct tk_event e = {.depth = 0};
  const struct info *agent = info_of(p, AGENTS, &row->v[D_AGENT]), *event = info_of(p, EVENTS, &row->v[D_EVENT]);
  const struct info *symbol = info_of(p, SYMBOLS, &row->v[D_KERNEL]);
  if (!database_span(&r->d, &row->v[D_START], &row->v[D_END], &e)) return;
  e.track = queue_of(p, agent, &row->v[D_QUEUE]);
  e.cls = trace_class(r->d.t, symbol ? symbol->name : 0, trace_text(r->d.t, "kernel_dispatch"));
  begin_args(p, event, info_of(p, STREAMS, &row->v[D_STREAM]), agent);
  database_triple(&r->d, p->r->key[K_GRID], &row->v[D_GRID]);
  database_triple(&r->d, p->r->key[K_BLOCK], &row->v[D_BLOCK]);
  database_arg(&r->d, p->r->key[K_DISPATCH], &row->v[D_ID]);
  database_arg(&r->d, p->r->key[K_LDS], &row->v[D_LDS]);
  database_arg(&r->d, p->r->key[K_SCRATCH], &row->v[D_SCRATCH]);
  e.args = args_end(r->d.t);
  link_launch(p, event, database_add(&p->r->d, &e));
}

enum copy { C_TO, C_FROM, C_QUEUE, C_STREAM, C_START, C_END, C_NAME, C_SIZE, C_EVENT };

/* Adds a copy, on the destination if it is a GPU, otherwise on the source. */
static void take_copy(const struct sqlite_scan *row, void *arg) {
  struct rocpd *p = arg;
  struct rocm *r = p->r;
  struct tk_event e = {.depth = 0};
  const struct info *to = info_of(p, AGENTS, &row->v[C_TO]), *from = info_of(p, AGENTS, &row->v[C_FROM]);
  const struct info *event = info_of(p, EVENTS, &row->v[C_EVENT]);
  const bool leads = to && strcmp(tk_string(r->d.t, to->name, NULL), "GPU") == 0;
  const struct info *agent = leads || !from ? to : from;
  if (!database_span(&r->d, &row->v[C_START], &row->v[C_END], &e)) return;
  e.track = queue_of(p, agent, &row->v[C_QUEUE]);
  e.cls = trace_class(r->d.t, text_in(p, &row->v[C_NAME]), trace_text(r->d.t, "memory_copy"));
  begin_args(p, event, info_of(p, STREAMS, &row->v[C_STREAM]), agent);
  database_arg(&r->d, p->r->key[K_BYTES], &row->v[C_SIZE]);
  if (from) args_int(r->d.t, p->r->key[K_FROM], from->other);
  if (to) args_int(r->d.t, p->r->key[K_TO], to->other);
  e.args = args_end(r->d.t);
  link_launch(p, event, database_add(&p->r->d, &e));
}

/* ---- counters ---- */

/* State while samples are read. A sample has the time of its event: the start of a dispatch, or the time in
 * rocpd_sample. */
struct sampling {
  struct rocpd *p;
  struct map times; /* event id -> index in `all` */
  struct buf all;   /* array of tk_time */
};

static void take_sample_time(const struct sqlite_scan *row, void *arg) {
  struct sampling *s = arg;
  tk_time ts;
  if (row->v[0].type != CELL_INT || !database_time(&s->p->r->d, &row->v[1], &ts)) return;
  map_put(&s->times, (uint64_t)row->v[0].i, (uint32_t)(s->all.len / sizeof ts));
  buf_append(&s->all, &ts, sizeof ts);
}

static void take_sample(const struct sqlite_scan *row, void *arg) {
  struct sampling *s = arg;
  struct rocpd *p = s->p;
  struct tk_trace *t = p->r->d.t;
  const struct info *counter = info_of(p, COUNTERS, &row->v[1]);
  const uint32_t *at = database_find(&s->times, &row->v[0]);
  if (!at || !counter || (row->v[2].type != CELL_REAL && row->v[2].type != CELL_INT)) {
    trace_note(t, TK_NOTE_REPAIR, UINT64_MAX, "samples without a time, a known counter or a numeric value: skipped");
    return;
  }
  const struct info *agent = info_of(p, AGENTS, &(struct cell){.type = CELL_INT, .i = counter->number});
  const tk_id device = work_device(p->r, agent ? agent->number : 0);
  args_begin(t);
  database_arg(&p->r->d, KEY_COUNTER_VALUE, &row->v[2]);
  database_sample(&p->r->d, database_counter(&p->r->d, device, counter->name), ((const tk_time *)(const void *)s->all.data)[*at]);
}

static bool each_sample(struct sampling *s, const char *base, const char *const *columns, database_take *take) {
  char table[NAME_MOST];
  snprintf(table, sizeof table, "%s%s", base, s->p->id);
  return database_each(&s->p->r->d, table, columns, take, s);
}

static bool read_counters(struct rocpd *p) {
  static const char *const SAMPLE[] = {"event_id", "timestamp", NULL}, *const DISPATCH[] = {"event_id", "start", NULL};
  static const char *const VALUE[] = {"event_id", "pmc_id", "value", NULL};
  struct mem *mem = &p->r->d.t->store->mem;
  struct sampling s = {.p = p, .all.mem = mem};
  char table[NAME_MOST];
  snprintf(table, sizeof table, "rocpd_pmc_event%s", p->id);
  const struct sqlite_table *values = sqlite_find(p->r->d.db, table);
  if (!values || !sqlite_count(p->r->d.db, values)) return true;
  map_init(&s.times, mem);
  const bool ok = each_sample(&s, "rocpd_sample", SAMPLE, take_sample_time) &&
    each_sample(&s, "rocpd_kernel_dispatch", DISPATCH, take_sample_time) && each_sample(&s, "rocpd_pmc_event", VALUE, take_sample);
  map_free(&s.times);
  buf_free(&s.all);
  return ok;
}

/* ---- entry points ---- */

static bool read_set(struct rocpd *p) {
  static const char *const REGION[] = {"pid", "tid", "start", "end", "name_id", "event_id", "track_id", NULL};
  static const char *const DISPATCH[] = {"agent_id", "kernel_id", "queue_id", "stream_id", "start", "end", "workgroup_size_x",
                                         "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z",
                                         "event_id", "dispatch_id", "group_segment_size", "private_segment_size", NULL};
  static const char *const COPY[] = {"dst_agent_id", "src_agent_id", "queue_id", "stream_id", "start", "end", "name_id", "size",
                                     "event_id", NULL};
  char table[NAME_MOST];
  snprintf(table, sizeof table, "rocpd_string%s", p->id);
  return database_texts_read(&p->r->d, &p->r->texts, table, "id", "string") && read_infos(p) &&
    each(p, "rocpd_region", REGION, take_region) && each(p, "rocpd_kernel_dispatch", DISPATCH, take_dispatch) &&
    each(p, "rocpd_memory_copy", COPY, take_copy) && read_counters(p);
}

static bool read_process(struct rocm *r, const char *id) {
  struct mem *mem = &r->d.t->store->mem;
  struct rocpd p = {.r = r, .id = id};
  for (int i = 0; i < INFOS; i++) {
    map_init(&p.infos[i].index, mem);
    p.infos[i].all.mem = mem;
  }
  database_texts_free(&r->texts); /* each set of tables has its own text ids */
  database_texts_init(&r->texts, mem);
  const bool ok = read_set(&p);
  for (int i = 0; i < INFOS; i++) {
    map_free(&p.infos[i].index);
    buf_free(&p.infos[i].all);
  }
  return ok;
}

bool rocpd_is_table(const char *table, const char *base) {
  const size_t n = strlen(base);
  return strncmp(table, base, n) == 0 && (!table[n] || (table[n] == '_' && strlen(table + n) == ID_LENGTH + 1));
}

bool rocpd_knows(const char *table) {
  static const char *const BASES[] = {
      "rocpd_metadata", "rocpd_string", "rocpd_info_node", "rocpd_info_process", "rocpd_info_thread", "rocpd_info_agent",
      "rocpd_info_queue", "rocpd_info_stream", "rocpd_info_pmc", "rocpd_info_code_object", "rocpd_info_kernel_symbol", "rocpd_track",
      "rocpd_event", "rocpd_region", "rocpd_kernel_dispatch", "rocpd_memory_copy", "rocpd_sample", "rocpd_pmc_event",
      "sqlite_sequence", NULL};
  for (const char *const *base = BASES; *base; base++)
    if (rocpd_is_table(table, *base)) return true;
  return false;
}

bool rocpd_read(struct rocm *r) {
  const struct sqlite_table *t;
  for (size_t i = 0; (t = sqlite_row(r->d.db, i)) != NULL; i++)
    if (rocpd_is_table(t->name, "rocpd_info_process") && !read_process(r, t->name + strlen("rocpd_info_process"))) return false;
  return true;
}
