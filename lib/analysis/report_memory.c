/* report_memory.c - peaks of each allocator, and memory size of its device (report.h). */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/json.h"
#include "graph/accelerator.h"
#include "graph/args.h"

struct counted {
  struct reporter *p;
  tk_time start; /* start of the trace */
  struct report_change *v;
  uint32_t n, cap;
};

static struct tk_report_memory *memory_row(struct reporter *p, int64_t rank, const char *allocator) {
  struct tk_report *r = p->r;
  char key[sizeof rank + 64];
  memcpy(key, &rank, sizeof rank);
  const size_t n = (size_t)snprintf(key + sizeof rank, sizeof key - sizeof rank, "%s", allocator);
  const uint32_t id = intern(&p->impl->texts, key, sizeof rank + n);
  uint32_t *slot = id ? map_put(&p->impl->memory_of, id, 0) : NULL;
  if (!slot) return NULL;
  if (*slot) return &r->memories[*slot - 1];
  if (!mem_grow(&p->impl->mem, (void **)&r->memories, &p->impl->cap_memories, r->n_memories + 1, sizeof *r->memories)) return NULL;
  r->memories[r->n_memories++] = (struct tk_report_memory){
      .rank = rank, .allocator = report_text(p->impl, allocator), .peak_allocated = -1, .peak_reserved = -1, .capacity = -1,
      .reserved_at_peak = -1};
  *slot = (uint32_t)r->n_memories;
  return &r->memories[*slot - 1];
}

/* True if the id is a plausible device number. */
static bool is_device(double id) { return id >= 0 && id < INT32_MAX; }

/* Converts a place of Paddle (phi/common/place.cc) to the name of the allocator: "GPU 0" for "Place(gpu:0)", "CPU" for "Place(cpu)". */
static bool name_place(const char *place, char *text, size_t n) {
  char word[24];
  int id = -1;
  if (sscanf(place, "Place(%23[a-zA-Z_]:%d)", word, &id) < 1) return false;
  for (char *p = word; *p; p++)
    if (*p >= 'a' && *p <= 'z') *p = (char)(*p - 'a' + 'A');
  snprintf(text, n, id < 0 ? "%s" : "%s %d", word, id);
  return true;
}

/* Writes the name of an allocator. Kineto records the device type, a number of c10; XLA records names for GPU allocators, and device
 * numbers for TPU allocators; Paddle records a place. */
static bool name_allocator(const struct reporter *p, const struct tk_event *e, char *text, size_t n) {
  const struct tk_trace *t = p->t;
  double type = -1, id = -1;
  struct tk_arg arg;
  if (tk_args_find(t, e->args, "allocator_name", &arg) && (arg.type == TK_ARG_STR || arg.type == TK_ARG_REF)) {
    snprintf(text, n, "%.60s", tk_string(t, arg.s, NULL));
    return true;
  }
  if (tk_args_find(t, e->args, "place", &arg) && arg.type == TK_ARG_STR) return name_place(tk_string(t, arg.s, NULL), text, n);
  if (report_number_of(t, e, report_key_of(t, "index_on_host"), &id) && is_device(id)) {
    const char *family = p->works.n_rows ? accelerator_of(t, p->works.rows[0].process).family : NULL;
    snprintf(text, n, "%s:%d", family ? family : "device", (int)id);
    return true;
  }
  id = -1;
  if (report_number_of(t, e, report_key_of(t, "Device Id"), &id) && !is_device(id)) id = -1;
  if (!report_number_of(t, e, report_key_of(t, "Device Type"), &type)) return false;
  if (type == 0) {
    snprintf(text, n, "CPU");
    return true;
  }
  snprintf(text, n, "%s %d", accelerator_of_type(type), (int)id);
  return true;
}

/* Stores an amount of memory. Returns false if the event has no such arg, or an impossible value. */
static bool bytes_of(const struct tk_trace *t, const struct tk_event *e, const char *key, double *bytes) {
  return report_number_of(t, e, report_key_of(t, key), bytes) && *bytes >= 0 && *bytes < 0x1p63;
}

/* Returns a new change of the row; NULL if memory runs out. */
static struct report_change *add_change(struct counted *c, const struct tk_event *e, const struct tk_report_memory *row) {
  if (!mem_grow(c->p->mem, (void **)&c->v, &c->cap, (uint64_t)c->n + 1, sizeof *c->v)) return NULL;
  c->v[c->n] = (struct report_change){.ts = e->ts, .event = (tk_id)(e - c->p->t->events), .row = (uint32_t)(row - c->p->r->memories),
                                      .allocated = -1, .reserved = -1};
  return &c->v[c->n++];
}

static bool integer_of(const struct tk_trace *t, const struct tk_event *e, const char *key, uint64_t *v) {
  struct tk_arg arg;
  if (!tk_args_find(t, e->args, key, &arg) || (arg.type != TK_ARG_INT && arg.type != TK_ARG_UINT)) return false;
  *v = arg.u;
  return true;
}

/* Finds the block that was allocated or released, from Kineto's args or otherwise XLA's. */
static void find_block(const struct tk_trace *t, const struct tk_event *e, struct report_change *change) {
  double bytes;
  if (integer_of(t, e, "Addr", &change->address)) {
    change->has_address = report_number_of(t, e, report_key_of(t, "Bytes"), &change->bytes);
    return;
  }
  if (!integer_of(t, e, "addr", &change->address) && !integer_of(t, e, "address", &change->address)) return;
  if (!bytes_of(t, e, "allocation_bytes", &bytes)) return;
  const bool is_release = strcmp(tk_string(t, t->classes[e->cls].name, NULL), "MemoryDeallocation") == 0;
  change->bytes = is_release ? -bytes : bytes;
  change->has_address = true;
}

/* Computes the limit of an allocator of XLA: the sum of the bytes reserved, allocated and available
 * (tsl/framework/bfc_allocator.cc). */
static void find_limit(const struct tk_trace *t, const struct tk_event *e, struct tk_report_memory *row) {
  double reserved, allocated, left;
  if (!bytes_of(t, e, "bytes_available", &left) || !bytes_of(t, e, "bytes_allocated", &allocated)) return;
  if (!bytes_of(t, e, "bytes_reserved", &reserved)) reserved = 0;
  if (reserved + allocated + left > row->capacity) row->capacity = reserved + allocated + left;
}

/* Args with the totals after an event. */
static const struct memory_keys {
  const char *allocated, *reserved; /* reserved: NULL = not recorded */
} TOTALS[] = {{"Total Allocated", "Total Reserved"},     /* Kineto */
              {"bytes_allocated", NULL},                 /* XLA; its bytes_reserved is used only to compute the limit */
              {"current_allocated", "current_reserved"}}; /* Paddle, chrometracing_logger.cc */

/* Returns the keys of the totals in an event's args; NULL if there are none. */
static const struct memory_keys *find_totals(const struct tk_trace *t, const struct tk_event *e) {
  double v;
  for (size_t i = 0; i < sizeof TOTALS / sizeof *TOTALS; i++)
    if (bytes_of(t, e, TOTALS[i].allocated, &v) || (TOTALS[i].reserved && bytes_of(t, e, TOTALS[i].reserved, &v))) return &TOTALS[i];
  return NULL;
}

static bool count_allocation(struct counted *c, const struct tk_event *e) {
  struct reporter *p = c->p;
  const struct tk_trace *t = p->t;
  char name[64];
  double v;
  if (!name_allocator(p, e, name, sizeof name)) return true;
  struct tk_report_memory *row = memory_row(p, p->origins ? p->origins[e->track].rank : -1, name);
  struct report_change *change = row ? add_change(c, e, row) : NULL;
  if (!change) return false;
  find_block(t, e, change);
  find_limit(t, e, row);
  const struct memory_keys *totals = find_totals(t, e);
  if (!totals) return true;
  if (bytes_of(t, e, totals->allocated, &v)) change->allocated = v;
  if (change->allocated > row->peak_allocated) {
    row->peak_allocated = change->allocated;
    row->at = e->flags & TK_FLAG_LOST_CLOCK ? 0 : e->ts - c->start;
  }
  if (!totals->reserved || !bytes_of(t, e, totals->reserved, &v)) return true;
  change->reserved = v;
  if (v > row->peak_reserved) row->peak_reserved = v;
  return true;
}

/* ---- counters ---- */

/* Names the allocator after the process of its counter: "GPU 0" for "rank 3 - GPU 0 memory". */
static void name_process(const struct tk_trace *t, tk_id track, char *text, size_t n) {
  static const char SUFFIX[] = " memory";
  const char *name = tk_string(t, t->tracks[t->tracks[track].parent].name, NULL), *prefix = strstr(name, " - ");
  if (prefix) name = prefix + 3;
  size_t length = strnlen(name, n - 1);
  if (length > sizeof SUFFIX && strcmp(name + length - (sizeof SUFFIX - 1), SUFFIX) == 0) length -= sizeof SUFFIX - 1;
  snprintf(text, n, "%.*s", (int)length, name);
}

static bool count_sample(struct counted *c, const struct tk_event *e, bool reserved) {
  struct reporter *p = c->p;
  char name[64];
  double v;
  if (e->kind != TK_EVENT_COUNTER || !bytes_of(p->t, e, "bytes", &v)) return true;
  name_process(p->t, e->track, name, sizeof name);
  struct tk_report_memory *row = memory_row(p, p->origins ? p->origins[e->track].rank : -1, name);
  struct report_change *change = row ? add_change(c, e, row) : NULL;
  if (!change) return false;
  change->process = p->t->tracks[e->track].parent;
  if (reserved) change->reserved = v;
  else change->allocated = v;
  if (reserved && v > row->peak_reserved) row->peak_reserved = v;
  if (!reserved && v > row->peak_allocated) {
    row->peak_allocated = v;
    row->at = e->ts - c->start;
  }
  return true;
}

/* ---- events ---- */

/* Names of events and counters with amounts of memory. The counters are from memory snapshots and from Nsight Systems. */
static const struct memory_name {
  const char *name;
  enum memory_kind { MEMORY_NONE, MEMORY_EVENT, MEMORY_ALLOCATED, MEMORY_RESERVED, MEMORY_OOM } kind;
} NAMES[] = {{"[memory]", MEMORY_EVENT},
             {"MemoryAllocation", MEMORY_EVENT},
             {"MemoryDeallocation", MEMORY_EVENT},
             {"allocated memory", MEMORY_ALLOCATED},
             {"memory in use", MEMORY_ALLOCATED},
             {"reserved memory", MEMORY_RESERVED},
             {"[OutOfMemory]", MEMORY_OOM},  /* Kineto: torch/csrc/profiler/collection.cpp */
             {"out of memory", MEMORY_OOM}}; /* "oom" of a memory snapshot */

static uint8_t memory_kind_of(const char *name) {
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
    if (strcmp(name, NAMES[i].name) == 0) return (uint8_t)NAMES[i].kind;
  return MEMORY_NONE;
}

/* Counts an allocation that failed. Keeps the data of the first one. */
static bool count_oom(const struct counted *c, const struct tk_event *e) {
  const struct reporter *p = c->p;
  struct report_oom *oom = &p->impl->oom;
  char name[64];
  double wanted, left;
  if (!bytes_of(p->t, e, "Bytes", &wanted) && !bytes_of(p->t, e, "bytes", &wanted)) return true;
  if (oom->n++) return true;
  if (!name_allocator(p, e, name, sizeof name)) name_process(p->t, e->track, name, sizeof name);
  if (!bytes_of(p->t, e, "device_free", &left)) left = -1;
  const int64_t rank = p->origins ? p->origins[e->track].rank : -1;
  *oom = (struct report_oom){1, report_text(p->impl, name), rank, wanted, left, e->ts - c->start};
  return true;
}

static bool count_event(struct counted *c, const struct tk_event *e, uint8_t kind) {
  if (kind == MEMORY_OOM) return count_oom(c, e);
  return kind == MEMORY_EVENT ? count_allocation(c, e) : count_sample(c, e, kind == MEMORY_RESERVED);
}

/* Returns the memory size of a device, from a list of objects such as {"id": 0, "totalGlobalMem": 85031714816}. */
static double capacity_of(const struct json_value *list, int64_t id) {
  struct json_value device, v;
  struct json j = {.p = list->p + 1, .end = list->end, .last = true};
  while (json_blank(&j) && *j.p == '{' && json_value(&j, &device)) {
    const char *text = (const char *)device.p;
    const size_t n = (size_t)(device.end - device.p);
    const bool is = json_member(text, n, "id", &v) && v.type == JSON_NUMBER && v.num.kind == NUM_INT && v.num.mant == id;
    if (is && json_member(text, n, "totalGlobalMem", &v) && v.type == JSON_NUMBER && v.num.kind == NUM_INT && v.num.mant > 0)
      return (double)v.num.mant;
    if (!json_blank(&j) || *j.p++ != ',') break;
  }
  return -1;
}

/* Finds the memory size of each device in Kineto's list of devices. The allocator "GPU 0" belongs to the device with id 0. */
static void find_capacities(struct reporter *p, size_t first) {
  const struct tk_meta *m = trace_meta(p->t, "deviceProperties");
  if (!m || !m->size) return;
  const uint8_t *text = (const uint8_t *)trace_raw(p->t, m->at);
  const struct json_value list = {.type = JSON_ARRAY, .p = text, .end = text + m->size};
  for (size_t i = first; *text == '[' && i < p->r->n_memories; i++) {
    struct tk_report_memory *row = &p->r->memories[i];
    const char *number = strchr(row->allocator, ' ');
    if (number && ascii_digit(number[1])) row->capacity = capacity_of(&list, strtoll(number + 1, NULL, 10));
  }
}

bool report_count_memory(struct reporter *p) {
  const struct tk_trace *t = p->t;
  const size_t first = p->r->n_memories;
  struct counted c = {.p = p};
  bool any = false, ok = true;
  tk_time end;
  uint8_t *is = mem_alloc(p->mem, (size_t)t->n_classes + 1);
  if (!is) return false;
  for (tk_id i = 1; i <= t->n_classes; i++) any |= (is[i] = memory_kind_of(tk_string(t, t->classes[i].name, NULL))) != MEMORY_NONE;
  if (any) trace_extent(t, &c.start, &end);
  for (tk_id i = 1; any && ok && i <= t->n_events; i++)
    if (is[t->events[i].cls] && scope_holds(&p->scope, &t->events[i]))
      ok = count_event(&c, &t->events[i], is[t->events[i].cls]);
  mem_free(p->mem, is);
  if (ok && p->r->n_memories > first) find_capacities(p, first);
  ok = ok && (!c.n || p->impl->opt.brief || report_held_add(p, c.v, c.n, first));
  mem_free(p->mem, c.v);
  return ok;
}
