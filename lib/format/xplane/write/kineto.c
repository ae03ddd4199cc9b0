/* kineto.c - generates data for xprof that a PyTorch profiler trace does not contain.
 *
 *     planes    "/host:CPU", "/device:GPU:0" with the properties of the device
 *     lines     "Stream #7(Compute,MemcpyDtoD)", and on each GPU "Steps", which xprof finds by its id
 *     stats     correlation_id, tf_op, kernel_details, memcpy_details, group_id, step_name, those of allocations
 *     names     "MemcpyHtoD" and "MemoryAllocation", by which tables recognise an event; the displayed name is unchanged
 *
 * All of this is generated for xprof and marked as such, so it is not part of the trace when the file is read again. If every
 * plane has a stat called group_id, xprof uses the steps given here; otherwise it would derive steps from device events only,
 * whose times differ from the ProfilerSteps'. */
#include <stdio.h>
#include <string.h>

#include "kineto.h"
#include "base/text.h"
#include "format/json.h"
#include "format/xplane/kineto.h"
#include "writer.h"
#include "class.h"

/* Id of a derived line, a negative int32: xprof recognises such lines by these ids. */
static const int64_t STEPS_LINE = (int64_t)0xffffffffdeadbeefu;

/* Metadata of an event: the metadata of its class, or metadata with a different name for xprof. */
enum variant { AS_CLASS, AS_MEMCPY, AS_ALLOCATION, AS_DEALLOCATION, AS_STEP };

static bool kineto_is_wanted(const void *arg, tk_id process) {
  const struct xplane_graph *g = arg;
  return !xplane_is_native(tk_string(g->t, g->t->tracks[process].name, NULL));
}

void xplane_find_kineto(struct xplane_graph *g, struct mem *mem) { g->kineto = kineto_new(g->t, kineto_is_wanted, g, mem); }

static enum kineto_role role_of(const struct xplane_encoder *e) {
  return e->g->kineto && e->process ? (enum kineto_role)e->g->kineto->roles[e->process] : KINETO_OTHER;
}

/* ---- stats ---- */

static const char *const MADE[XPLANE_MADE] = {
    [XPLANE_MADE_GROUP] = "group_id",           [XPLANE_MADE_STEP_NAME] = "step_name",
    [XPLANE_MADE_CORRELATION] = "correlation_id", [XPLANE_MADE_OP] = "tf_op",
    [XPLANE_MADE_KERNEL] = "kernel_details",    [XPLANE_MADE_MEMCPY] = "memcpy_details",
    [XPLANE_MADE_MEMSET] = "memset_details",    [XPLANE_MADE_POOL] = "allocator_name",
    [XPLANE_MADE_STACK] = "bytes_reserved",     [XPLANE_MADE_HEAP] = "bytes_allocated",
    [XPLANE_MADE_AVAILABLE] = "bytes_available", [XPLANE_MADE_PEAK] = "peak_bytes_in_use",
    [XPLANE_MADE_REQUESTED] = "requested_bytes", [XPLANE_MADE_SIZE] = "allocation_bytes",
    [XPLANE_MADE_ADDRESS] = "addr",             [XPLANE_MADE_CORES] = "core_count",
    [XPLANE_MADE_MEMORY] = "memory_size",       [XPLANE_MADE_MAJOR] = "compute_cap_major",
    [XPLANE_MADE_MINOR] = "compute_cap_minor",  [XPLANE_MADE_VENDOR] = "device_vendor",
    [XPLANE_MADE_DEVICE] = "gpu_device_name"};

static int64_t id_of(struct xplane_encoder *e, enum xplane_made stat) {
  if (!e->made[stat]) e->made[stat] = xplane_private_stat_id(e, MADE[stat], XPLANE_PRIVATE_XPROF);
  return e->made[stat];
}

/* Appends a stat of an event. */
static void put_int(struct xplane_encoder *e, struct buf *b, enum xplane_made stat, int64_t v) {
  const int64_t id = id_of(e, stat);
  e->stat.len = 0;
  pb_i64(&e->stat, XSTAT_METADATA_ID, id);
  pb_i64(&e->stat, XSTAT_INT64, v);
  pb_message(b, XEVENT_STATS, &e->stat);
}

/* Appends a stat of an event or a plane. For each of these numbers, xprof reads only one field of the XStat, here
 * uint64_value. */
static void put_uint(struct xplane_encoder *e, struct buf *b, uint32_t number, enum xplane_made stat, int64_t v) {
  const int64_t id = id_of(e, stat);
  e->stat.len = 0;
  pb_i64(&e->stat, XSTAT_METADATA_ID, id);
  pb_u64(&e->stat, XSTAT_UINT64, (uint64_t)v);
  pb_message(b, number, &e->stat);
}

static void kineto_put_text(struct xplane_encoder *e, struct buf *b, uint32_t number, enum xplane_made stat, const void *p,
                            size_t n) {
  const int64_t id = id_of(e, stat);
  e->stat.len = 0;
  pb_i64(&e->stat, XSTAT_METADATA_ID, id);
  pb_bytes(&e->stat, XSTAT_STR, p, n);
  pb_message(b, number, &e->stat);
}

static void kineto_put_name(struct xplane_encoder *e, struct buf *b, enum xplane_made stat, tk_id cls) {
  const struct intern_str *s = trace_str(e->g->t, e->g->t->classes[cls].name);
  kineto_put_text(e, b, XEVENT_STATS, stat, s->bytes, s->len);
}

/* ---- details of kernels and copies ---- */

/* Appends a number as it is printed; for a list such as [512,1,1], the part inside the brackets. */
static void add_value(struct buf *b, const struct tk_trace *t, const struct tk_arg *arg) {
  char digits[96];
  size_t n;
  const char *text;
  switch (arg->type) {
    case TK_ARG_INT: buf_append(b, digits, num_put_i64(digits, arg->i)); break;
    case TK_ARG_DECIMAL: buf_append(b, digits, num_put_decimal(digits, arg->i, arg->exp)); break;
    case TK_ARG_STR:
    case TK_ARG_JSON:
    case TK_ARG_NUMBER:
      text = tk_string(t, arg->s, &n);
      for (size_t i = 0; i < n; i++)
        if (!strchr("[] \t\n\":", text[i])) buf_append(b, text + i, 1);
      break;
    default: buf_text(b, "0");
  }
}

/* Appends "regs:32 static_shared:0 grid:64,1,1 block:128,1,1 occ_pct:50 dynamic_shared:0". Kineto only records the sum of both
 * kinds of shared memory, which becomes the static one. */
static void put_kernel_details(struct xplane_encoder *e, struct buf *b, tk_id event) {
  const struct kineto *k = e->g->kineto;
  const struct {
    const char *word;
    tk_id key;
  } WORDS[] = {{"regs:", k->keys.regs},
               {" static_shared:", k->keys.shared},
               {" grid:", k->keys.grid},
               {" block:", k->keys.block},
               {" occ_pct:", k->keys.occupancy}};
  struct buf text = {.mem = e->mem};
  struct tk_arg arg;
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
    if (!kineto_arg(k, event, WORDS[i].key, &arg)) continue;
    buf_text(&text, text.len ? WORDS[i].word : WORDS[i].word + (*WORDS[i].word == ' '));
    add_value(&text, e->g->t, &arg);
  }
  buf_text(&text, text.len ? " dynamic_shared:0" : "dynamic_shared:0"); /* needed, because xprof ignores kernels without details */
  kineto_put_text(e, b, XEVENT_STATS, XPLANE_MADE_KERNEL, text.data, text.len);
  buf_free(&text);
}

static void put_bytes_details(struct xplane_encoder *e, struct buf *b, tk_id event, enum xplane_made stat) {
  const int64_t bytes = kineto_int(e->g->kineto, event, e->g->kineto->keys.bytes);
  char text[48] = "num_bytes:";
  if (bytes < 0) return;
  const size_t n = strlen(text);
  kineto_put_text(e, b, XEVENT_STATS, stat, text, n + num_put_i64(text + n, bytes));
}

/* ---- events ---- */

static void put_group(struct xplane_encoder *e, struct buf *b, tk_id event) {
  const struct kineto_step *step = kineto_step_of(e->g->kineto, event);
  if (step) put_int(e, b, XPLANE_MADE_GROUP, step->group);
}

/* Appends the correlation. If `needed`, an event without a correlation gets 0, because xprof would not assign it to a step
 * otherwise. */
static void put_correlation(struct xplane_encoder *e, struct buf *b, tk_id event, bool needed) {
  const int64_t id = kineto_int(e->g->kineto, event, e->g->kineto->keys.correlation);
  if (id >= 0 || needed) put_uint(e, b, XEVENT_STATS, XPLANE_MADE_CORRELATION, id >= 0 ? id : 0);
}

/* Appends the stats of work on a device; annotations get none of these stats. */
static void put_device_event(struct xplane_encoder *e, struct buf *b, tk_id event) {
  const unsigned kind = e->g->kineto->kinds.of_class[e->g->t->events[event].cls];
  const tk_id op = kineto_launch_of(e->g->kineto, event).op;
  if (!(kind & (KIND_KERNEL | KIND_MEMCPY | KIND_MEMSET))) return;
  put_group(e, b, event);
  put_correlation(e, b, event, true);
  if (op) kineto_put_name(e, b, XPLANE_MADE_OP, op);
  if (kind & KIND_MEMCPY) put_bytes_details(e, b, event, XPLANE_MADE_MEMCPY);
  else if (kind & KIND_MEMSET) put_bytes_details(e, b, event, XPLANE_MADE_MEMSET);
  else put_kernel_details(e, b, event);
}

/* Appends the device of an allocator's memory, "cuda:1" or "cpu:0", using PyTorch's numbers of device types. */
static void put_pool(struct xplane_encoder *e, struct buf *b, tk_id event) {
  const struct kineto *k = e->g->kineto;
  const int64_t type = kineto_int(k, event, k->keys.device_type), id = kineto_int(k, event, k->keys.device_id);
  char text[64];
  const char *name = type == 0 ? "cpu" : type == 1 ? "cuda" : "device";
  const int n = id >= 0 ? snprintf(text, sizeof text, "%s:%lld", name, (long long)id) : snprintf(text, sizeof text, "%s", name);
  kineto_put_text(e, b, XEVENT_STATS, XPLANE_MADE_POOL, text, (size_t)n);
}

static void put_memory(struct xplane_encoder *e, struct buf *b, tk_id event) {
  const struct kineto *k = e->g->kineto;
  const int64_t peak = kineto_peak_of(k, event);
  const int64_t allocated = kineto_int(k, event, k->keys.allocated), reserved = kineto_int(k, event, k->keys.reserved);
  struct tk_arg arg;
  int64_t bytes = 0;
  if (kineto_arg(k, event, k->keys.size, &arg) && arg.type == TK_ARG_INT) bytes = arg.i > -INT64_MAX ? arg.i : 0;
  put_pool(e, b, event);
  put_int(e, b, XPLANE_MADE_STACK, 0);
  if (allocated >= 0) put_int(e, b, XPLANE_MADE_HEAP, allocated);
  if (reserved >= allocated) put_int(e, b, XPLANE_MADE_AVAILABLE, reserved - (allocated > 0 ? allocated : 0));
  if (peak >= 0) put_int(e, b, XPLANE_MADE_PEAK, peak);
  put_int(e, b, XPLANE_MADE_REQUESTED, bytes < 0 ? -bytes : bytes);
  put_int(e, b, XPLANE_MADE_SIZE, bytes < 0 ? -bytes : bytes);
  if (kineto_arg(k, event, k->keys.address, &arg) && arg.type == TK_ARG_INT) put_int(e, b, XPLANE_MADE_ADDRESS, arg.i);
}

static void put_host_event(struct xplane_encoder *e, struct buf *b, tk_id event) {
  const struct kineto *k = e->g->kineto;
  const struct tk_event *ev = &e->g->t->events[event];
  const unsigned kind = k->kinds.of_class[ev->cls];
  put_group(e, b, event);
  if (kind & KIND_STEP) kineto_put_name(e, b, XPLANE_MADE_STEP_NAME, ev->cls);
  else if (kind & KIND_OP) kineto_put_name(e, b, XPLANE_MADE_OP, ev->cls);
  if (kind & KIND_RUNTIME) put_correlation(e, b, event, false);
  if (kineto_is_memory(k, ev)) put_memory(e, b, event);
}

void xplane_put_made_stats(struct xplane_encoder *e, struct buf *b, tk_id event) {
  const enum kineto_role role = role_of(e);
  if (role == KINETO_HOST) put_host_event(e, b, event);
  if (role == KINETO_DEVICE) put_device_event(e, b, event);
}

/* ---- metadata of events ---- */

/* Derives "MemcpyHtoD" from "Memcpy HtoD (Pinned -> Device)". Returns the length of the name; 0 if there is none. */
static size_t name_memcpy(const char *shown, char name[32]) {
  static const char FIRST[] = "Memcpy";
  const char *way = shown + strlen(FIRST);
  if (!text_begins(shown, FIRST)) return 0;
  while (*way == ' ') way++;
  if (strlen(way) < 4 || way[1] != 't' || way[2] != 'o') return 0;
  memcpy(name, FIRST, strlen(FIRST));
  memcpy(name + strlen(FIRST), way, 4);
  return strlen(FIRST) + 4;
}

static enum variant variant_of(const struct xplane_encoder *e, const struct tk_event *ev) {
  const struct kineto *k = e->g->kineto;
  struct tk_arg arg;
  if (role_of(e) == KINETO_DEVICE) return k->kinds.of_class[ev->cls] & KIND_MEMCPY ? AS_MEMCPY : AS_CLASS;
  if (role_of(e) != KINETO_HOST || !kineto_is_memory(k, ev)) return AS_CLASS;
  const bool known = kineto_arg(k, (tk_id)(ev - e->g->t->events), k->keys.size, &arg) && arg.type == TK_ARG_INT;
  return known && arg.i < 0 ? AS_DEALLOCATION : AS_ALLOCATION;
}

int64_t xplane_made_class_id(struct xplane_encoder *e, const struct tk_event *ev) {
  static const char *const NAMES[] = {[AS_ALLOCATION] = "MemoryAllocation", [AS_DEALLOCATION] = "MemoryDeallocation"};
  const enum variant variant = variant_of(e, ev);
  char name[32];
  if (variant == AS_CLASS) return 0;
  if (variant != AS_MEMCPY) return xplane_variant_id(e, ev->cls, variant, NAMES[variant], strlen(NAMES[variant]));
  const size_t n = name_memcpy(tk_string(e->g->t, e->g->t->classes[ev->cls].name, NULL), name);
  return n ? xplane_variant_id(e, ev->cls, variant, name, n) : 0;
}

/* ---- the line of steps ---- */

void xplane_add_steps(struct xplane_encoder *e) {
  if (role_of(e) != KINETO_DEVICE || !e->g->kineto->n_steps) return;
  const struct tk_trace *t = e->g->t;
  struct xplane_out_line line = {.kind = XLINE_STEPS, .id = STEPS_LINE};
  line.zero_ps = ((i128)e->g->base_ns - t->origin_ns) * 1000;
  buf_append(&e->lines, &line, sizeof line);
}

tk_id xplane_step_event(const struct xplane_encoder *e, uint32_t i) {
  return i < e->g->kineto->n_steps ? e->g->kineto->steps[i].event : 0;
}

void xplane_encode_step(struct xplane_encoder *e, const struct xplane_out_line *line, tk_id event) {
  const struct tk_event *ev = &e->g->t->events[event];
  struct buf *b = &e->event;
  b->len = 0;
  pb_i64(b, XEVENT_METADATA_ID, xplane_variant_id(e, ev->cls, AS_STEP, NULL, 0));
  pb_i64(b, XEVENT_OFFSET_PS, (int64_t)((i128)ev->ts - line->zero_ps));
  if (ev->dur) pb_i64(b, XEVENT_DURATION_PS, ev->dur);
  put_group(e, b, event);
  kineto_put_name(e, b, XPLANE_MADE_STEP_NAME, ev->cls);
}

/* ---- lines and planes ---- */

bool xplane_counts_from_base(const struct xplane_encoder *e, tk_time first_ps) {
  static const i128 HOUR = (i128)3600 * 1000000000000;
  const i128 from = ((i128)e->g->t->origin_ns - e->g->base_ns) * 1000 + first_ps;
  return role_of(e) == KINETO_HOST && from >= 0 && from < HOUR;
}

/* Appends the number of a stream: its tid, or the text after "stream ". */
static void put_stream(struct buf *b, const struct tk_trace *t, const struct tk_track *k) {
  char number[24];
  size_t n;
  const char *text = tk_string(t, k->tid.str, &n);
  if (k->tid.kind == TK_IDENT_INT || k->tid.kind == TK_IDENT_QUOTED) {
    buf_append(b, number, num_put_i64(number, k->tid.num));
    return;
  }
  if (text_begins(text, "stream ")) text += 7, n -= 7;
  buf_append(b, text, n);
}

bool xplane_put_stream_name(const struct xplane_encoder *e, struct buf *b, tk_id track) {
  const struct tk_trace *t = e->g->t;
  const struct tk_track *k = &t->tracks[track];
  char ways[8][32], way[32];
  uint32_t n = 0;
  bool compute = false;
  if (role_of(e) != KINETO_DEVICE || k->kind != TK_TRACK_THREAD) return false;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const tk_id cls = t->events[i].cls;
    const unsigned kind = e->g->kineto->kinds.of_class[cls];
    const size_t len = kind & KIND_MEMCPY ? name_memcpy(tk_string(t, t->classes[cls].name, NULL), way) : 0;
    uint32_t at = 0;
    compute = compute || (kind & (KIND_KERNEL | KIND_MEMSET) && !(kind & KIND_MEMCPY));
    if (!len) continue;
    way[len] = 0;
    while (at < n && strcmp(ways[at], way) != 0) at++;
    if (at == n && n < 8) memcpy(ways[n++], way, sizeof way);
  }
  if (!compute && !n) return false;
  buf_text(b, "Stream #");
  put_stream(b, t, k);
  buf_text(b, compute ? "(Compute" : "(");
  for (uint32_t i = 0; i < n; i++) {
    if (i || compute) buf_text(b, ",");
    buf_text(b, ways[i]);
  }
  buf_text(b, ")");
  return true;
}

/* Returns the number of a device, from the args of its events, otherwise from its pid. */
static int64_t ordinal_of(const struct kineto *k, tk_id process, const uint32_t *tracks, uint32_t n) {
  const struct tk_trace *t = k->t;
  for (uint32_t i = 0; i < n; i++) {
    const struct tk_track *track = &t->tracks[tracks[i]];
    const int64_t device = track->count ? kineto_int(k, track->first, k->keys.device) : -1;
    if (device >= 0) return device;
  }
  return t->tracks[process].pid.kind == TK_IDENT_INT && t->tracks[process].pid.num >= 0 ? t->tracks[process].pid.num : 0;
}

int64_t xplane_made_device(const struct xplane_graph *g, tk_id process) {
  uint32_t n;
  const uint32_t *tracks = by_process(&g->tracks, process, &n);
  if (!g->kineto || g->kineto->roles[process] != KINETO_DEVICE) return -1;
  const int64_t device = ordinal_of(g->kineto, process, tracks, n);
  return device < 500 ? device : 0; /* xprof does not support more devices */
}

/* ---- properties of a device ---- */

static bool member_int(const struct json_value *device, const char *key, int64_t *v) {
  struct json_value m;
  if (!json_member((const char *)device->p, (size_t)(device->end - device->p), key, &m)) return false;
  if (m.type != JSON_NUMBER || m.num.kind != NUM_INT || m.num.mant < 0) return false;
  *v = m.num.mant;
  return true;
}

/* Finds the element of deviceProperties with this id. Only a limited number of devices and of elements is searched, so that
 * repeated searches are fast. */
static bool find_properties(struct kineto *k, int64_t id, struct json_value *device) {
  enum { MOST_DEVICES = 256, MOST_BYTES = 1 << 18 };
  const struct tk_trace *t = k->t;
  const struct tk_meta *m = trace_meta(t, "deviceProperties");
  int64_t found;
  if (!m || m->origin || m->size < 2 || m->size > MOST_BYTES || *trace_raw(t, m->at) != '[') return false;
  if (k->n_described++ >= MOST_DEVICES) return false;
  struct json j = {.p = (const uint8_t *)trace_raw(t, m->at) + 1, .last = true};
  j.end = j.p - 1 + m->size;
  while (json_blank(&j) && *j.p == '{' && json_value(&j, device)) {
    if (member_int(device, "id", &found) && found == id) return true;
    if (!json_blank(&j) || *j.p++ != ',') break;
  }
  return false;
}

static void put_device_name(struct xplane_encoder *e, struct buf *plane, const struct json_value *device) {
  static const char *const AMD[] = {"AMD", "Radeon", "Instinct", "gfx", NULL};
  struct json_value name;
  struct json j = {.last = true, .scratch = {.mem = e->mem}};
  size_t n = 0;
  if (json_member((const char *)device->p, (size_t)(device->end - device->p), "name", &name) && name.type == JSON_STRING) {
    j.p = name.p, j.end = name.end;
    const uint8_t *text = json_string_text(&j, &name.str, &n);
    struct buf copy = {.mem = e->mem};
    if (text && n && buf_append(&copy, text, n) && buf_append(&copy, "", 1)) {
      const char *vendor = text_any_holds((const char *)copy.data, AMD) ? "AMD" : "Nvidia";
      kineto_put_text(e, plane, XPLANE_STATS, XPLANE_MADE_DEVICE, copy.data, n);
      kineto_put_text(e, plane, XPLANE_STATS, XPLANE_MADE_VENDOR, vendor, strlen(vendor));
    }
    buf_free(&copy);
  }
  buf_free(&j.scratch);
}

void xplane_put_made_plane(struct xplane_encoder *e, struct buf *plane) {
  static const struct {
    const char *key;
    enum xplane_made stat;
  } NUMBERS[] = {{"numSms", XPLANE_MADE_CORES},
                 {"totalGlobalMem", XPLANE_MADE_MEMORY},
                 {"computeMajor", XPLANE_MADE_MAJOR},
                 {"computeMinor", XPLANE_MADE_MINOR}};
  struct json_value device;
  int64_t v;
  if (!e->g->kineto) return;
  id_of(e, XPLANE_MADE_GROUP); /* needed in every plane; otherwise xprof derives steps from events */
  if (role_of(e) != KINETO_DEVICE || !find_properties(e->g->kineto, xplane_made_device(e->g, e->process), &device)) return;
  for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++)
    if (member_int(&device, NUMBERS[i].key, &v)) put_uint(e, plane, XPLANE_STATS, NUMBERS[i].stat, v);
  put_device_name(e, plane, &device);
}
