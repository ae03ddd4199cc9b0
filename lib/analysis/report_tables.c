/* report_tables.c - tables over all ranks: work by name, launches, collectives, devices and versions. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/accelerator.h"
#include "graph/kind_collective.h"
#include "align/collect/payload.h"
#include "align/collect/vendor.h"
#include "base/text.h"
#include "format/json.h"
#include "histogram.h"
#include "short_apart.h"
#include "work_names.h"
#include "graph/args.h"
#include "op/kernel_classes.h"

/* ---- work ---- */

struct counter {
  struct reporter *p;
  struct tk_report_rank *row;
  struct report_args args; /* args of the current piece of work */
  tk_time *time_of;      /* by event: total time of its parts; NULL = no event has parts */
  struct intervals said, pageable; /* said: work with recorded memory traffic; pageable: copies from or to pageable memory */
};

/* Finds the size in details such as "kind_src:pageable ... size:1048576" or "num_bytes:4". */
static bool bytes_in_details(const char *text, double *bytes) {
  const char *at = strstr(text, "num_bytes:");
  if (at) at += 10;
  else if ((at = strstr(text, "size:"))) at += 5;
  if (!at || *at < '0' || *at > '9') return false;
  char digits[24] = {0};
  memcpy(digits, at, strspn(at, "0123456789") < sizeof digits ? strspn(at, "0123456789") : sizeof digits - 1);
  *bytes = num_double(digits, strlen(digits));
  return true;
}

static bool size_of_copy(const struct counter *c, double *bytes) {
  if (report_args_number(&c->args, ARG_BYTES, bytes) || report_args_number(&c->args, ARG_SIZE, bytes)) return true;
  const char *copy = report_args_text(&c->args, ARG_MEMCPY_DETAILS), *fill = report_args_text(&c->args, ARG_MEMSET_DETAILS);
  return (copy && bytes_in_details(copy, bytes)) || (fill && bytes_in_details(fill, bytes));
}

static bool is_copy_named(struct reporter *p, tk_id cls) { return report_traits(p, cls) & (WORK_HOST_COPY | WORK_DEVICE_COPY); }

/* Returns the text id of the name of a piece of work. If the direction of a copy is only in an arg, appends it to the name. */
static uint32_t name_of_work(struct counter *c, const struct work *w) {
  const tk_id cls = c->p->t->events[w->event].cls;
  const char *direction = w->class == WORK_COPY ? report_args_text(&c->args, ARG_DIRECTION) : NULL;
  char text[160];
  if (!direction || is_copy_named(c->p, cls)) return report_class_name(c->p, cls);
  const int n = snprintf(text, sizeof text, "%s (%s)", tk_string(c->p->t, c->p->t->classes[cls].name, NULL), direction);
  return n < (int)sizeof text ? report_name(c->p->impl, text, (size_t)n) : report_class_name(c->p, cls);
}

static struct report_kernel *kernel_row(struct tk_report_impl *impl, uint32_t id, unsigned class) {
  uint32_t *slot = id ? map_put(&impl->kernel_of, (uint64_t)id << 8 | class, 0) : NULL;
  if (!slot) return NULL;
  if (*slot) return &impl->kernels[*slot - 1];
  if (!mem_grow(&impl->mem, (void **)&impl->kernels, &impl->cap_kernels, (uint64_t)impl->n_kernels + 1, sizeof *impl->kernels))
    return NULL;
  impl->kernels[impl->n_kernels] = (struct report_kernel){.name = id, .class = (uint8_t)class, .min = INT64_MAX};
  *slot = ++impl->n_kernels;
  return &impl->kernels[*slot - 1];
}

static bool count_kernel(struct counter *c, const struct work *w, tk_time time) {
  struct report_kernel *k = kernel_row(c->p->impl, name_of_work(c, w), w->class);
  double bytes;
  if (!k) return false;
  if (!k->count++) k->max_at = w->start - c->p->zero, k->max_rank = c->row->rank;
  k->total += time;
  if (w->beside) k->beside += time;
  if (c->p->impl->opt.strips && !histogram_add(&k->durations, &c->p->impl->mem, time)) return false;
  if (time < k->min) k->min = time;
  if (time > k->max) k->max = time, k->max_at = w->start - c->p->zero, k->max_rank = c->row->rank;
  if (w->class & (WORK_COPY | WORK_FILL) && size_of_copy(c, &bytes)) {
    k->bytes_known++;
    k->bytes += bytes;
    k->bytes_time += time;
  }
  if (w->class != WORK_COMPUTE) return true;
  if (c->p->work_classes.mem) k->of_class[work_classes_of_kernel(&c->p->work_classes, w->event)] += time;
  return report_geometry_add(c->p, &c->args, time, &k->geometry);
}

static bool add_interval(struct counter *c, struct intervals *to, const struct work *w) {
  return measure_add(to, (struct interval){w->start, w->end - w->start}, c->p->mem);
}

static bool count_copy(struct counter *c, const struct work *w, tk_time time) {
  if (w->class != WORK_COPY) return true;
  const char *direction = report_args_text(&c->args, ARG_DIRECTION);
  const uint8_t traits = report_traits(c->p, c->p->t->events[w->event].cls) | (direction ? work_names_traits(direction) : 0);
  if (traits & WORK_HOST_COPY) c->row->host_copy += time;
  return !report_is_pageable(c->p, w->event) || add_interval(c, &c->pageable, w);
}

static void count_traits(struct counter *c, const struct work *w, tk_time time) {
  const struct tk_event *e = &c->p->t->events[w->event];
  double blocks;
  if (w->class != WORK_COMPUTE) return;
  c->row->compute_sum += time;
  if (report_traits(c->p, e->cls) & WORK_FP32_MATMUL) c->row->fp32_matmul += time;
  if (!report_args_number(&c->args, ARG_BLOCKS, &blocks)) return;
  c->row->gridded++;
  c->row->gridded_sum += time;
  if (blocks < 1) c->row->small_grid += time;
}

static void count_row(struct counter *c, const struct work *w, tk_time time) {
  const tk_time us = 1000000;
  const bool kernel = w->class & (WORK_COMPUTE | WORK_COMMUNICATION);
  count_traits(c, w, time);
  if (!kernel) return;
  c->row->kernels++;
  c->row->kernel_sum += time;
  if (time < 10 * us) c->row->under_10us++, c->row->time_under_10us += time;
  if (time < 100 * us) c->row->under_100us++, c->row->time_under_100us += time;
}

static bool count_traffic(struct counter *c, const struct work *w) {
  double v;
  if (w->class != WORK_COMPUTE || !report_args_number(&c->args, ARG_BYTES_ACCESSED, &v)) return true;
  if (w->first) {
    c->row->bytes_known++;
    c->row->bytes += v;
  }
  return add_interval(c, &c->said, w);
}

/* Returns the length of a name without its number, because "all-reduce.3" and "all-reduce.7" have the same row. */
static size_t name_end(const char *name) {
  size_t n = strcspn(name, "(<"), k = n;
  while (k > 1 && name[k - 1] >= '0' && name[k - 1] <= '9') k--;
  return k < n && k > 1 && name[k - 1] == '.' ? k - 1 : n;
}

/* Returns the number in an arg if it is positive; otherwise 0. */
static double positive(const struct counter *c, enum report_arg which) {
  double v = 0;
  return report_args_number(&c->args, which, &v) && v > 0 && v < 1e30 ? v : 0;
}

static bool count_flops(struct counter *c, const struct work *w, tk_time time) {
  const struct tk_trace *t = c->p->t;
  const struct tk_event *e = &t->events[w->event];
  const struct report_stated s = {.work = w, .time = time, .flops = positive(c, ARG_FLOPS),
                                  .bytes = positive(c, ARG_BYTES_ACCESSED), .tf32 = report_traits(c->p, e->cls) & WORK_TF32,
                                  .name_len = name_end(tk_string(t, t->classes[e->cls].name, NULL))};
  return report_flops_count(c->p, c->row, &s);
}

/* ---- launches ---- */

struct report_launch *report_launch_row(struct reporter *p, tk_id call) {
  struct tk_report_impl *impl = p->impl;
  const uint32_t id = report_class_name(p, p->t->events[call].cls);
  uint32_t *slot = id ? map_put(&impl->launch_of, id, 0) : NULL;
  if (!slot) return NULL;
  if (*slot) return &impl->launches[*slot - 1];
  if (!mem_grow(&impl->mem, (void **)&impl->launches, &impl->cap_launches, (uint64_t)impl->n_launches + 1, sizeof *impl->launches))
    return NULL;
  impl->launches[impl->n_launches] = (struct report_launch){.name = id};
  *slot = ++impl->n_launches;
  return &impl->launches[*slot - 1];
}

/* Counts a call that launched work, unless it was counted before. Returns false if memory runs out. */
static bool count_call(struct reporter *p, struct report_launch *l, tk_id call) {
  if (!p->counted) p->counted = mem_zeros(p->mem, (uint64_t)p->t->n_events + 1, sizeof *p->counted);
  if (!p->counted) return false;
  if (p->counted[call]) return true;
  p->counted[call] = true;
  l->working++;
  l->call_sum += p->t->events[call].dur;
  return true;
}

static bool count_launch(struct counter *c, const struct work *w, tk_time time) {
  const struct tk_trace *t = c->p->t;
  const struct tk_event *call = &t->events[w->launch];
  if (!w->launch) return true;
  struct report_launch *l = report_launch_row(c->p, w->launch);
  const tk_time delay = w->start - (call->ts + call->dur);
  if (!l || !count_call(c->p, l, w->launch)) return false;
  l->work++;
  l->work_sum += time;
  l->delay_sum += delay > 0 ? delay : 0;
  if (delay > l->delay_max) l->delay_max = delay;
  return true;
}

/* ---- collectives ---- */

/* Returns the length of a name of HCCL without the group, the index within the group and the stream: "hcom_allReduce__586_0_1". */
static size_t hcom_end(const char *name) {
  const size_t whole = strlen(name);
  size_t n = whole;
  for (int i = 0; i < 3; i++) {
    size_t k = n;
    while (k && ascii_digit(name[k - 1])) k--;
    if (k == n || !k || name[k - 1] != '_') return whole;
    n = k - 1;
  }
  while (n && name[n - 1] == '_') n--;
  return n;
}

/* Skips the sign before the name of an operation: "%all-reduce.3 = f32[8] all-reduce(...)" has the row of "all-reduce.7". */
static size_t operation_end(const char **name) {
  static const char ASSIGNS[] = " = ";
  char head[128];
  size_t n;
  *name = kind_collective_head(*name + (**name == '%'), &n);
  const char *text = strstr(*name, ASSIGNS);
  if (text_begins(*name, "hcom_")) return hcom_end(*name);
  if (!text || (size_t)(text - *name) >= sizeof head) return name_end(*name);
  snprintf(head, sizeof head, "%.*s", (int)(text - *name), *name);
  return name_end(head);
}

struct report_collective *report_collective(struct tk_report_impl *impl, const char *name) {
  const size_t n = operation_end(&name);
  const uint32_t id = report_name(impl, name, n);
  uint32_t *slot = id ? map_put(&impl->collective_of, id, 0) : NULL;
  if (!slot) return NULL;
  if (*slot) return &impl->collectives[*slot - 1];
  if (!mem_grow(&impl->mem, (void **)&impl->collectives, &impl->cap_collectives, (uint64_t)impl->n_collectives + 1,
                sizeof *impl->collectives))
    return NULL;
  impl->collectives[impl->n_collectives] = (struct report_collective){.name = id};
  *slot = ++impl->n_collectives;
  return &impl->collectives[*slot - 1];
}

double report_bus_factor(const char *name, int64_t ranks) {
  static const char *const twice[] = {"allreduce", "all_reduce", "all-reduce", "AllReduce", "allReduce", NULL};
  static const char *const once[] = {"allgather", "all_gather", "all-gather", "AllGather", "reduce_scatter", "reduce-scatter",
                                     "ReduceScatter", "all_to_all", "all-to-all", "alltoall", "AllToAll", "allGather",
                                     "reduceScatter", NULL};
  const double n = (double)ranks;
  if (ranks < 1) return 0;
  if (text_any_holds(name, twice)) return 2 * (n - 1) / n;
  return text_any_holds(name, once) ? (n - 1) / n : 1;
}

/* Returns the bytes that the args of a collective record: the larger one of its input and output; 0 or -1 if unknown. */
static double bytes_of_collective(const struct counter *c, const struct tk_event *e) {
  const struct tk_trace *t = c->p->t;
  const char *dtype = report_args_text(&c->args, ARG_DTYPE);
  struct vendor_payload payload;
  double in = 0, out = 0;
  report_args_number(&c->args, ARG_ELEMENTS_IN, &in);
  report_args_number(&c->args, ARG_ELEMENTS_OUT, &out);
  if (in > 0 || out > 0) return (in > out ? in : out) * (dtype ? (double)payload_element(dtype) : 0);
  if (!e->args || !vendor_payload(t, e->args, &payload)) return 0;
  return (double)vendor_bytes(t, tk_string(t, t->classes[e->cls].name, NULL), &payload);
}

static bool count_collective(struct counter *c, const struct work *w, tk_time time) {
  const struct tk_trace *t = c->p->t;
  const struct tk_event *e = &t->events[w->event];
  double ranks = 0;
  if (w->class != WORK_COMMUNICATION) return true;
  const char *name = report_args_text(&c->args, ARG_COLLECTIVE);
  report_see_message(c->p->impl, &c->args, tk_string(t, t->classes[e->cls].name, NULL));
  if (!name) name = tk_string(t, t->classes[e->cls].name, NULL);
  struct report_collective *k = report_collective(c->p->impl, name);
  if (!k) return false;
  k->count++;
  k->total += time;
  const double bytes = bytes_of_collective(c, e);
  if (bytes <= 0) return true;
  k->bytes_known++;
  k->bytes += bytes;
  if (!report_args_number(&c->args, ARG_GROUP_SIZE, &ranks)) return true;
  k->group_size = (int64_t)ranks;
  k->sized++;
  k->bus_bytes += bytes * report_bus_factor(name, (int64_t)ranks);
  k->sized_total += time;
  return true;
}

bool report_cpu_collective(struct reporter *p, tk_id event) {
  const struct tk_trace *t = p->t;
  const struct tk_event *e = &t->events[event];
  const struct interval part = measure_part(&p->scope.window, e->ts, e->ts + e->dur);
  const unsigned stat = e->args ? p->match.kinds.of_shape[args_shape_of(t, e->args)] : 0;
  if (p->works.n || !(stat & KIND_OP) || e->flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK)) return true;
  const char *name = tk_string(t, t->classes[e->cls].name, NULL);
  struct report_collective *k = report_collective(p->impl, name);
  if (!k) return false;
  k->count++;
  k->total += part.dur;
  return true;
}

/* ---- a row ---- */

static bool find_parts(struct counter *c, uint32_t n) {
  struct reporter *p = c->p;
  const struct work *v = p->sorted;
  const uint64_t events = (uint64_t)p->t->n_events + 1;
  uint32_t i = 0;
  while (i < n && v[i].first) i++;
  if (i == n) return true;
  if (!p->time_of) {
    p->time_of = mem_array(p->mem, events, sizeof *p->time_of);
    if (!p->time_of) return false;
    memset(p->time_of, 0, events * sizeof *p->time_of);
  }
  c->time_of = p->time_of;
  for (i = 0; i < n; i++) c->time_of[v[i].event] += v[i].end - v[i].start;
  return true;
}

/* Sets the entries in time_of for the work of the current row to zero. */
static void forget_parts(struct counter *c, uint32_t n) {
  for (uint32_t i = 0; c->time_of && i < n; i++) c->time_of[c->p->sorted[i].event] = 0;
}

/* Counts a piece of work. Called for its first part only; `time` includes its other parts. */
static bool count_piece(struct counter *c, const struct work *w) {
  const tk_time time = c->time_of ? c->time_of[w->event] : w->end - w->start;
  count_row(c, w, time);
  return count_kernel(c, w, time) && count_copy(c, w, time) && count_launch(c, w, time) && count_collective(c, w, time) &&
         count_flops(c, w, time) && report_device_ops_count(c->p, w, time);
}

bool report_count_row(struct reporter *p, uint32_t n) {
  struct counter c = {.p = p, .row = &p->r->ranks[p->r->n_ranks - 1]};
  bool ok = report_args_init(&c.args, p->t, p->mem) && find_parts(&c, n);
  for (uint32_t i = 0; ok && i < n; i++) {
    const struct work *w = &p->sorted[i];
    report_args_read(&c.args, &p->t->events[w->event]);
    ok = count_traffic(&c, w) && (!w->first || count_piece(&c, w));
  }
  c.row->bytes_time = measure_join(&c.said, p->mem, &ok);
  c.row->pageable = measure_join(&c.pageable, p->mem, &ok);
  forget_parts(&c, n);
  report_args_free(&c.args);
  return ok;
}

/* ---- devices and versions ---- */

/* Set of distinct texts. */
struct text_list {
  const char ***v;
  size_t *n;
  uint32_t *cap, number;
};

static bool add_text(struct tk_report_impl *impl, struct text_list list, const char *text) {
  const uint32_t id = intern(&impl->texts, text, strlen(text));
  uint32_t *slot = id ? map_put(&impl->said, (uint64_t)list.number << 32 | id, 0) : NULL;
  if (!slot) return false;
  if (*slot) return true;
  if (!mem_grow(&impl->mem, (void **)list.v, list.cap, *list.n + 1, sizeof **list.v)) return false;
  (*list.v)[(*list.n)++] = (const char *)impl->texts.strs[id].bytes;
  *slot = 1;
  return true;
}

static bool add_device_name(struct reporter *p, const char *text) {
  struct tk_report *r = p->r;
  return add_text(p->impl, (struct text_list){&r->devices, &r->n_devices, &p->impl->cap_devices, 0}, text);
}

/* Adds the value of "name" of each object in a list of devices. The text is compact JSON from json_copy. */
static bool add_names(struct reporter *p, const char *text, size_t n) {
  static const char KEY[] = "\"name\":\"";
  char name[128];
  bool ok = true;
  for (const char *at = text; ok && (at = memmem(at, n - (size_t)(at - text), KEY, sizeof KEY - 1)); ) {
    at += sizeof KEY - 1;
    const size_t len = strcspn(at, "\"\\");
    if (len == 0 || len >= sizeof name) continue;
    memcpy(name, at, len);
    name[len] = 0;
    ok = add_device_name(p, name);
  }
  return ok;
}

/* Adds a name for the device of an XSpace plane, from its stats: "TPU v6 Lite", "Nvidia, compute capability 9.0". */
static bool add_plane(struct reporter *p, const char *plane, size_t n) {
  static const char *const NAMES[] = {"gpu_device_name", "device_type_string", "device_vendor"};
  struct json_value stats, v, major = {0}, minor = {0};
  char name[128];
  if (!json_member(plane, n, "stats", &stats) || stats.type != JSON_OBJECT) return true;
  const char *text = (const char *)stats.p;
  const size_t size = (size_t)(stats.end - stats.p);
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    if (!json_member(text, size, NAMES[i], &v) || v.type != JSON_STRING || v.end - v.p < 3 || v.end - v.p > 100) continue;
    int len = snprintf(name, sizeof name, "%.*s", (int)(v.end - v.p - 2), (const char *)v.p + 1);
    const bool capable = i == 2 && json_member(text, size, "compute_cap_major", &major) && major.type == JSON_NUMBER &&
                         major.num.kind == NUM_INT;
    if (capable) len += snprintf(name + len, sizeof name - (size_t)len, ", compute capability %lld", (long long)major.num.mant);
    if (capable && json_member(text, size, "compute_cap_minor", &minor) && minor.type == JSON_NUMBER && minor.num.kind == NUM_INT)
      snprintf(name + len, sizeof name - (size_t)len, ".%lld", (long long)minor.num.mant);
    return add_device_name(p, name);
  }
  return true;
}

static bool add_planes(struct reporter *p, const char *text, size_t n) {
  struct json_value planes, plane;
  bool ok = true;
  if (!json_member(text, n, "planes", &planes) || planes.type != JSON_ARRAY) return true;
  struct json j = {.p = planes.p + 1, .end = planes.end, .last = true};
  while (ok && json_blank(&j) && *j.p == '{' && json_value(&j, &plane)) {
    ok = add_plane(p, (const char *)plane.p, (size_t)(plane.end - plane.p));
    if (!json_blank(&j) || *j.p++ != ',') break;
  }
  return ok;
}

static bool add_version(struct reporter *p, const char *what, const struct json_value *v) {
  struct tk_report *r = p->r;
  const char *text = (const char *)v->p;
  size_t n = (size_t)(v->end - v->p);
  char line[160];
  if (v->type == JSON_STRING && n > 2) text++, n -= 2;
  else if (v->type != JSON_NUMBER) return true;
  snprintf(line, sizeof line, "%s %.*s", what, (int)(n < 80 ? n : 80), text);
  return add_text(p->impl, (struct text_list){&r->versions, &r->n_versions, &p->impl->cap_versions, 1}, line);
}

bool report_versions(struct reporter *p) {
  static const struct {
    const char *key, *member, *what;
    bool is_number; /* true: only numbers are used, because other producers write the same key with a string */
  } SAID[] = {{"pytorch_version", NULL, "PyTorch", false},        {"cuda_runtime_version", NULL, "CUDA runtime", false},
              {"cuda_driver_version", NULL, "CUDA driver", false}, {"hip_runtime_version", NULL, "HIP runtime", false},
              {"distributedInfo", "nccl_version", "NCCL", false}, {"viztracer_metadata", "version", "viztracer", false},
              {"metadata", "product-version", "", false},         {"schemaVersion", NULL, "Kineto schema", true}};
  const struct tk_meta *m = trace_meta(p->t, "deviceProperties");
  bool ok = !m || add_names(p, trace_raw(p->t, m->at), (size_t)m->size);
  m = trace_meta(p->t, "xspace");
  ok = ok && (!m || add_planes(p, trace_raw(p->t, m->at), (size_t)m->size));
  for (size_t i = 0; ok && i < sizeof SAID / sizeof *SAID; i++) {
    struct json_value v = {.type = JSON_STRING};
    m = trace_meta(p->t, SAID[i].key);
    if (!m) continue;
    const char *text = trace_raw(p->t, m->at);
    v.p = (const uint8_t *)text;
    v.end = v.p + m->size;
    if (*text != '"') v.type = JSON_NUMBER;
    if (SAID[i].is_number && v.type != JSON_NUMBER) continue;
    if (!SAID[i].member || json_member(text, (size_t)m->size, SAID[i].member, &v)) ok = add_version(p, SAID[i].what, &v);
  }
  return ok;
}

/* ---- the tables ---- */

static int by_total(const void *p, const void *q) {
  const struct tk_report_kernel *a = p, *b = q;
  if (a->total.s != b->total.s) return a->total.s > b->total.s ? -1 : 1;
  if (a->total.ps != b->total.ps) return a->total.ps > b->total.ps ? -1 : 1;
  const int order = strcmp(a->name, b->name);
  return order ? order : strcmp(a->kind, b->kind);
}

static const char *name_class(unsigned class) {
  return class == WORK_COMMUNICATION ? "communication" : class == WORK_COPY ? "copy" : class == WORK_FILL ? "fill" : "compute";
}

static void set_geometry(struct tk_report_impl *impl, const struct report_kernel *of, struct tk_report_kernel *k) {
  const struct report_geometry *g = &of->geometry;
  k->occupancy = report_mean_of(&g->occupancy);
  k->registers = report_mean_of(&g->registers);
  k->shared = report_mean_of(&g->shared);
  if (strcmp(k->kind, "compute") == 0) {
    impl->occupancy.area += g->occupancy.area;
    impl->occupancy.time += g->occupancy.time;
    impl->compute += of->total;
  }
  k->grid = g->grid ? (const char *)impl->texts.strs[g->grid].bytes : "";
  k->block = g->block ? (const char *)impl->texts.strs[g->block].bytes : "";
}

/* Returns the class with the largest share of a row's time. */
static const char *class_of(const struct report_kernel *of, const struct intern_str *name) {
  enum kernel_class most = CLASS_NONE;
  if (of->class != WORK_COMPUTE) return of->class == WORK_COMMUNICATION ? "collective" : "copy";
  for (unsigned i = 0; i < KERNEL_CLASSES; i++)
    if (of->of_class[i] > of->of_class[most]) most = (enum kernel_class)i;
  return kernel_classes_word(most ? most : kernel_classes_of((const char *)name->bytes, name->len));
}

/* Sets the short names of kernels. A name that occurs in two rows, with different kinds, is not shortened. */
static bool shorten(struct tk_report *r) {
  struct mem *mem = &r->impl->mem;
  struct short_name *names = mem_array(mem, (uint64_t)r->n_kernels + 1, sizeof *names);
  for (size_t i = 0; names && i < r->n_kernels; i++)
    names[i] = (struct short_name){.name = r->kernels[i].name, .name_len = r->kernels[i].name_len};
  const bool ok = names && short_apart_names(names, r->n_kernels, &r->impl->texts, mem);
  for (size_t i = 0; ok && i < r->n_kernels; i++) {
    struct tk_report_kernel *k = &r->kernels[i];
    k->short_name = names[i].text;
    k->short_len = names[i].text_len;
  }
  mem_free(mem, names);
  return ok;
}

/* Returns the row's share of the time of all work; -1 if all work of the row is on asynchronous lines. Waiting for such work has a
 * separate row, such as copy-done, so a sum over both would count the same time twice. */
static double share_of(const struct report_kernel *k, i128 sum) {
  if (k->beside && k->beside == k->total) return -1;
  return sum > 0 ? i128_double(k->total - k->beside) / i128_double(sum) : 0;
}

static bool make_kernels(struct tk_report *r) {
  struct tk_report_impl *impl = r->impl;
  i128 sum = 0;
  r->kernels = mem_array(&impl->mem, (uint64_t)impl->n_kernels + 1, sizeof *r->kernels);
  if (!r->kernels) return false;
  for (uint32_t i = 0; i < impl->n_kernels; i++) sum += impl->kernels[i].total - impl->kernels[i].beside;
  r->work = report_total(sum);
  for (uint32_t i = 0; i < impl->n_kernels; i++) {
    const struct report_kernel *k = &impl->kernels[i];
    const struct intern_str *name = &impl->texts.strs[k->name];
    r->kernels[r->n_kernels++] = (struct tk_report_kernel){
        .name = (const char *)name->bytes, .name_len = name->len, .kind = name_class(k->class), .count = k->count,
        .total = report_total(k->total), .min = k->min, .max = k->max, .max_at = k->max_at, .max_rank = k->max_rank,
        .bytes_known = k->bytes_known, .bytes = k->bytes, .durations = k->durations,
        .bytes_time = k->bytes_time, .mean = (tk_time)((k->total * 2 + (i128)k->count) / ((i128)k->count * 2)),
        .of_sum = share_of(k, sum), .kernel_class = class_of(k, name)};
    set_geometry(impl, k, &r->kernels[r->n_kernels - 1]);
  }
  qsort(r->kernels, r->n_kernels, sizeof *r->kernels, by_total);
  return shorten(r);
}

static int by_work(const void *p, const void *q) {
  const struct tk_report_launch *a = p, *b = q;
  if (a->work != b->work) return a->work > b->work ? -1 : 1;
  return strcmp(a->name, b->name);
}

static bool make_launches(struct tk_report *r) {
  struct tk_report_impl *impl = r->impl;
  r->launches = mem_array(&impl->mem, (uint64_t)impl->n_launches + 1, sizeof *r->launches);
  for (uint32_t i = 0; r->launches && i < impl->n_launches; i++) {
    const struct report_launch *l = &impl->launches[i];
    if (!l->work) continue;
    r->launches[r->n_launches++] = (struct tk_report_launch){
        .name = (const char *)impl->texts.strs[l->name].bytes, .work = l->work, .call_sum = report_total(l->call_sum),
        .work_sum = report_total(l->work_sum), .delay_sum = report_total(l->delay_sum), .delay_max = l->delay_max, .calls = l->working};
  }
  if (r->n_launches) qsort(r->launches, r->n_launches, sizeof *r->launches, by_work);
  return r->launches != NULL;
}

static int report_by_time(const void *p, const void *q) {
  const struct tk_report_collective *a = p, *b = q;
  if (a->total.s != b->total.s) return a->total.s > b->total.s ? -1 : 1;
  if (a->total.ps != b->total.ps) return a->total.ps > b->total.ps ? -1 : 1;
  return strcmp(a->name, b->name);
}

static bool make_collectives(struct tk_report *r) {
  struct tk_report_impl *impl = r->impl;
  r->collectives = mem_array(&impl->mem, (uint64_t)impl->n_collectives + 1, sizeof *r->collectives);
  for (uint32_t i = 0; r->collectives && i < impl->n_collectives; i++) {
    const struct report_collective *c = &impl->collectives[i];
    r->collectives[r->n_collectives++] = (struct tk_report_collective){
        .name = (const char *)impl->texts.strs[c->name].bytes, .count = c->count, .sized = c->sized,
        .bytes = c->bytes_known ? c->bytes : c->met_bytes, .bytes_known = c->bytes_known ? c->bytes_known : c->met_known,
        .total = report_total(c->total), .sized_total = report_total(c->sized_total), .bus_bytes = c->bus_bytes, .met = c->met,
        .core = report_total(c->core), .wait = report_total(c->wait), .core_bus_bytes = c->core_bus_bytes,
        .core_sized = c->core_sized, .core_time = report_total(c->core_time)};
  }
  if (r->n_collectives) qsort(r->collectives, r->n_collectives, sizeof *r->collectives, report_by_time);
  return r->collectives != NULL;
}

/* Adds a sentence to the report if the mean occupancy is computed from only a part of the kernels. */
static bool say_occupancy(struct tk_report *r) {
  enum { NEARLY_ALL = 90 };
  const struct tk_report_impl *impl = r->impl;
  char text[160];
  if (impl->occupancy.time <= 0 || impl->compute <= 0) return true;
  const double percent = 100.0 * (double)impl->occupancy.time / i128_double(impl->compute);
  if (percent >= NEARLY_ALL) return true;
  snprintf(text, sizeof text, "occupancy is known for %d%% of the time of compute kernels; the mean covers these", (int)(percent + .5));
  return report_unknown(r, report_text(r->impl, text));
}

bool report_make_tables(struct tk_report *r) {
  return make_kernels(r) && say_occupancy(r) && make_launches(r) && make_collectives(r) && report_flops_make(r);
}
