/* report_flops.c - finds the operators that launched device work, and counts their floating-point operations and memory traffic
 * (report.h).
 *
 * A kernel belongs to the innermost operator around its launch that has a model. Operators call other operators: aten::linear calls
 * aten::addmm. So that no operation is counted twice, an operator that contains another one with known operations is not counted.
 * Operations recorded in the trace take precedence over models. */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/args.h"

/* Maximum number of operators around a launch to examine, so that deep nesting takes linear time. */
enum { MOST_AROUND = 64 };

/* An open operator. */
struct flops_around {
  tk_id event;
  uint32_t depth;
  uint32_t op;    /* 1 + index of the operator; 0 = unknown */
  double stated;  /* operations recorded in the trace; 0 = none */
  bool tried;     /* true if its inputs were read (try_op) */
  bool shadowed;  /* true if it contains an operator that counts the same operations */
  const struct flops_model *model;
};

/* Cached result for operators with the same class and the same texts of args, which the layers of a network repeat. */
struct flops_known {
  tk_id cls, dims, types, concrete; /* cls: 0 = unused */
  bool known;
  struct flops f;
};
enum { MOST_KNOWN = 1024 };

/* ---- one operator ---- */

static tk_id text_arg_of(const struct tk_trace *t, const struct tk_event *e, tk_id key) {
  struct tk_arg arg;
  if (!key || !args_of_event(t, e, key, &arg)) return 0;
  return arg.type == TK_ARG_JSON || arg.type == TK_ARG_STR || arg.type == TK_ARG_REF ? arg.s : 0;
}

static bool read_shapes(const struct tk_trace *t, const struct flops_model *model, struct flops_known *k) {
  struct op_texts texts;
  struct op_inputs in;
  texts.dims = tk_string(t, k->dims, &texts.n_dims);
  texts.types = tk_string(t, k->types, &texts.n_types);
  texts.concrete = tk_string(t, k->concrete, &texts.n_concrete);
  return op_inputs_read(&in, &texts) && flops_of(model, &in, &k->f);
}

/* Computes the operations and traffic of an operator from its shapes. Returns false if they are unknown. */
static bool flops_by_shapes(const struct reporter *p, const struct tk_event *e, const struct flops_model *model,
                            struct flops *f) {
  const struct report_flops *r = &p->flops;
  struct flops_known k = {.cls = e->cls, .dims = text_arg_of(p->t, e, r->dims), .types = text_arg_of(p->t, e, r->types),
                          .concrete = text_arg_of(p->t, e, r->concrete)};
  if (!k.dims) return false;
  struct flops_known *at = &r->known[(k.cls * 31 + k.dims * 7 + k.types * 3 + k.concrete) % MOST_KNOWN];
  if (at->cls != k.cls || at->dims != k.dims || at->types != k.types || at->concrete != k.concrete) {
    k.known = read_shapes(p->t, model, &k);
    *at = k;
  }
  if (at->known) *f = at->f;
  return at->known;
}

/* Computes the operations and traffic of the operator, unless done before. Adds the operator to r->ops if either is known. Returns
 * false if memory runs out. */
static bool try_op(struct reporter *p, struct flops_around *a) {
  struct report_flops *r = &p->flops;
  struct flops_op op = {.event = a->event, .f.type = PEAK_UNKNOWN, .stated = a->stated > 0};
  if (a->tried) return true;
  a->tried = true;
  const bool known = a->model && flops_by_shapes(p, &p->t->events[a->event], a->model, &op.f);
  if (!known && !op.stated) return true;
  if (op.stated) op.f.flops = a->stated;
  op.f.has_flops = op.f.has_flops || op.stated;
  op.shadowed = a->shadowed && op.f.has_flops;
  if (!mem_grow(p->mem, (void **)&r->ops, &r->cap_ops, (uint64_t)r->n_ops + 1, sizeof *r->ops)) return false;
  r->ops[r->n_ops++] = op;
  a->op = r->n_ops;
  return true;
}

/* ---- the operators around launches ---- */

/* Returns 1 + the index in `around` of the operator to which a launch belongs; 0 = none. If the shapes of an operator are unknown,
 * operators around it are tried, except for an elementwise operator, because its kernel is not part of a larger operator. */
static uint32_t owner_of(struct reporter *p, bool *ok) {
  const struct report_flops *r = &p->flops;
  const uint32_t last = r->n_around > MOST_AROUND ? r->n_around - MOST_AROUND : 0;
  uint32_t owner = 0;
  bool closed = false;
  for (uint32_t i = r->n_around; *ok && i > last; i--) {
    struct flops_around *a = &r->around[i - 1];
    if (a->stated > 0) return (*ok = try_op(p, a)) ? i : 0;
    if (owner || closed) continue;
    *ok = try_op(p, a);
    if (a->op) owner = i;
    closed = !a->op && !flops_is_counted(a->model);
  }
  return *ok ? owner : 0;
}

static bool see_launch(struct reporter *p, tk_id launch) {
  struct report_flops *r = &p->flops;
  bool ok = true;
  const uint32_t owner = owner_of(p, &ok), last = owner > MOST_AROUND ? owner - MOST_AROUND : 0;
  if (!owner || !ok) return ok;
  const uint32_t op = r->around[owner - 1].op;
  for (uint32_t i = owner - 1; r->ops[op - 1].f.has_flops && i > last; i--) {
    struct flops_around *a = &r->around[i - 1];
    a->shadowed = true;
    if (a->op && r->ops[a->op - 1].f.has_flops) r->ops[a->op - 1].shadowed = true;
  }
  return map_put(&r->op_of, launch, op) != NULL;
}

static const struct flops_model *model_of(struct reporter *p, tk_id cls) {
  struct report_flops *r = &p->flops;
  if (!r->looked[cls]) {
    r->looked[cls] = true;
    r->models[cls] = flops_find(tk_string(p->t, p->t->classes[cls].name, NULL));
  }
  return r->models[cls];
}

/* Opens the event if it is an operator with a model or with recorded operations. */
static bool open_op(struct reporter *p, tk_id event) {
  struct report_flops *r = &p->flops;
  const struct tk_event *e = &p->t->events[event];
  const struct flops_model *model = r->dims ? model_of(p, e->cls) : NULL;
  double stated = 0;
  if (!report_number_of(p->t, e, r->flops_key, &stated) || !(stated > 0 && stated < 1e30)) stated = 0;
  if (!model && !(stated > 0)) return true;
  if (!mem_grow(p->mem, (void **)&r->around, &r->cap_around, (uint64_t)r->n_around + 1, sizeof *r->around)) return false;
  r->around[r->n_around++] = (struct flops_around){.event = event, .depth = e->depth, .stated = stated, .model = model};
  return true;
}

static bool see_thread(struct reporter *p, tk_id track) {
  struct report_flops *r = &p->flops;
  const struct tk_track *k = &p->t->tracks[track];
  bool ok = true;
  r->n_around = 0;
  for (tk_id i = k->first; ok && i < k->first + k->count; i++) {
    const struct tk_event *e = &p->t->events[i];
    if (e->kind != TK_EVENT_SPAN) continue;
    while (r->n_around && r->around[r->n_around - 1].depth >= e->depth) r->n_around--;
    ok = open_op(p, i) && (!p->launches[i] || see_launch(p, i));
  }
  return ok;
}

/* Finds the operators of all launches. Takes no time if the trace contains neither shapes nor operations. */
static bool find_ops(struct reporter *p) {
  struct report_flops *r = &p->flops;
  const struct tk_trace *t = p->t;
  r->made = true;
  r->dims = report_key_of(t, "Input Dims");
  r->types = report_key_of(t, "Input type");
  r->concrete = report_key_of(t, "Concrete Inputs");
  r->flops_key = report_key_of(t, "flops");
  map_init(&r->op_of, p->mem);
  if (!p->launches || (!r->dims && !r->flops_key)) return true;
  r->looked = mem_alloc(p->mem, (size_t)t->n_classes + 1);
  r->models = mem_array(p->mem, (uint64_t)t->n_classes + 1, sizeof *r->models);
  r->known = mem_array(p->mem, MOST_KNOWN, sizeof *r->known);
  if (!r->looked || !r->models || !r->known) return false;
  memset(r->known, 0, MOST_KNOWN * sizeof *r->known);
  memset(r->looked, 0, (size_t)t->n_classes + 1);
  bool ok = true;
  for (tk_id i = 1; ok && i <= t->n_tracks; i++)
    if (t->tracks[i].kind == TK_TRACK_THREAD && !(p->match.kinds.of_track[i] & KIND_DEVICE)) ok = see_thread(p, i);
  return ok && !p->mem->failed;
}

/* ---- counting ---- */

bool report_flops_begin(struct reporter *p, struct tk_report_rank *row, uint32_t which) {
  struct report_flops *r = &p->flops;
  const struct work_row *w = &p->works.rows[which];
  if (!r->made && !find_ops(p)) return false;
  r->flops = r->least = r->fastest = r->bytes = 0;
  r->slowest = INFINITY;
  r->compute = r->flops_time = r->bytes_time = 0;
  r->no_type = r->no_peak = false;
  r->n_touched = 0;
  for (size_t i = 0; i < row->n_steps; i++) row->steps[i].mfu = 0;
  report_peaks_find(p, w, &r->peaks);
  return true;
}

/* Returns the step that contains the time; NULL if there is none. */
static struct tk_report_step *step_at(struct tk_report_rank *row, tk_time at) {
  size_t lo = 0, hi = row->n_steps;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (row->steps[mid].at <= at) lo = mid + 1;
    else hi = mid;
  }
  return lo && at < row->steps[lo - 1].at + row->steps[lo - 1].dur ? &row->steps[lo - 1] : NULL;
}

static struct report_roof *roof_row(struct reporter *p, const struct flops_op *op, const char *name, size_t n) {
  struct tk_report_impl *impl = p->impl;
  const struct device_peaks *peaks = &p->flops.peaks;
  const uint32_t id = report_name(impl, name, n), device = intern(&impl->texts, peaks->name, strlen(peaks->name));
  const uint64_t key = (uint64_t)id << 32 | (uint64_t)(device & 0xfffffff) << 4 | (uint64_t)op->f.type << 1 | op->stated;
  uint32_t *slot = id && device ? map_put(&impl->roof_of, key, 0) : NULL;
  if (!slot) return NULL;
  if (*slot) return &impl->roofs[*slot - 1];
  if (!mem_grow(&impl->mem, (void **)&impl->roofs, &impl->cap_roofs, (uint64_t)impl->n_roofs + 1, sizeof *impl->roofs))
    return NULL;
  impl->roofs[impl->n_roofs] = (struct report_roof){.name = id, .device = device, .type = op->f.type, .stated = op->stated,
                                                    .peak = device_peaks_of(peaks, op->f.type), .bandwidth = peaks->bandwidth};
  *slot = ++impl->n_roofs;
  return &impl->roofs[*slot - 1];
}

/* Adds operations to the row and to the step in which they were launched. */
static void add_flops(struct reporter *p, struct tk_report_rank *row, const struct flops_op *op, tk_time at) {
  struct report_flops *r = &p->flops;
  const double peak = device_peaks_of(&r->peaks, op->f.type), least = peak > 0 ? op->f.flops / peak : 0;
  struct tk_report_step *step = step_at(row, at - p->zero);
  r->flops += op->f.flops;
  r->least += least;
  if (peak > 0 && peak < r->slowest) r->slowest = peak;
  if (peak > r->fastest) r->fastest = peak;
  r->no_type = r->no_type || (!(peak > 0) && op->f.flops > 0 && op->f.type == PEAK_UNKNOWN);
  r->no_peak = r->no_peak || (!(peak > 0) && op->f.flops > 0 && op->f.type != PEAK_UNKNOWN);
  if (!step) return;
  step->flops += op->f.flops;
  step->mfu += least;
}

/* Adds an operator to the table, to the row, and to its step. */
static bool add_op(struct reporter *p, struct tk_report_rank *row, struct flops_op *op, size_t name_len) {
  const struct tk_event *e = &p->t->events[op->event];
  size_t n;
  const char *name = tk_string(p->t, p->t->classes[e->cls].name, &n);
  if (op->tf32 && op->f.type == PEAK_FP32) op->f.type = PEAK_TF32;
  struct report_roof *k = roof_row(p, op, name, name_len && name_len < n ? name_len : n);
  if (!k) return false;
  k->count++;
  k->kernels += op->kernels;
  k->time += op->time;
  k->flops += op->f.flops;
  k->bytes += op->f.bytes;
  if (op->f.has_flops) k->flops_time += op->time;
  if (op->f.has_bytes) k->bytes_time += op->time;
  if (op->f.has_bytes) p->flops.bytes += op->f.bytes;
  if (op->f.has_flops) add_flops(p, row, op, e->ts);
  return true;
}

/* True if the event contains other work on its line, such as a loop of XLA. The operations recorded for the event then include
 * the operations of the other work. */
static bool contains_work(const struct reporter *p, tk_id event) {
  const struct tk_event *e = &p->t->events[event], *next = e + 1;
  const struct tk_track *k = &p->t->tracks[e->track];
  return event + 1 < k->first + k->count && next->kind == TK_EVENT_SPAN && next->depth > e->depth &&
         next->ts < e->ts + e->dur &&
         kinds_of(&p->match.kinds, next) & (KIND_KERNEL | KIND_MEMCPY | KIND_MEMSET | KIND_TRANSFER);
}

/* Adds work for which operations are recorded; such work is treated as an operator of its own. */
static bool count_stated(struct reporter *p, struct tk_report_rank *row, const struct report_stated *s) {
  struct report_flops *r = &p->flops;
  const struct work *w = s->work;
  struct flops_op op = {.event = w->event, .time = s->time, .kernels = 1, .stated = true,
                        .f = {s->flops, s->bytes, true, s->bytes > 0, PEAK_UNKNOWN}};
  if (contains_work(p, w->event)) return true;
  if (w->class == WORK_COMPUTE) r->flops_time += op.time;
  if (w->class == WORK_COMPUTE && op.f.has_bytes) r->bytes_time += op.time;
  return add_op(p, row, &op, s->name_len);
}

static bool count_launched(struct reporter *p, const struct work *w, bool tf32, tk_time time) {
  struct report_flops *r = &p->flops;
  const uint32_t *at = w->launch ? map_get(&r->op_of, w->launch) : NULL;
  struct flops_op *op = at ? &r->ops[*at - 1] : NULL;
  if (!op || op->shadowed) return true;
  if (w->class != WORK_COMPUTE) {
    if (op->f.has_flops && w->class & (WORK_COPY | WORK_FILL)) op->time += time; /* for example a fill that clears the buffer of a
                                                                                  * sum */
    return true;
  }
  if (op->f.has_flops) r->flops_time += time;
  if (op->f.has_bytes) r->bytes_time += time;
  op->kernels++;
  op->time += time;
  op->tf32 = op->tf32 || tf32;
  if (op->kernels > 1) return true; /* the operator is already listed, perhaps for another device */
  if (!mem_grow(p->mem, (void **)&r->touched, &r->cap_touched, (uint64_t)r->n_touched + 1, sizeof *r->touched)) return false;
  r->touched[r->n_touched++] = *at - 1;
  return true;
}

bool report_flops_count(struct reporter *p, struct tk_report_rank *row, const struct report_stated *s) {
  struct report_flops *r = &p->flops;
  const struct work *w = s->work;
  if (p->t->events[w->event].ts < p->scope.window.start) return true; /* the operator begins before the range, and its
                                                                         operations cannot be divided */
  if (w->class == WORK_COMPUTE) r->compute += s->time;
  if (s->flops > 0) return count_stated(p, row, s);
  return count_launched(p, w, s->tf32, s->time);
}

/* ---- the row ---- */

static bool say_no_mfu(struct reporter *p) {
  const struct report_flops *r = &p->flops;
  char text[240];
  if (!*r->peaks.name)
    return report_unknown(p->r, "MFU is unknown, because the trace does not name the device");
  if (r->no_type && !(r->peaks.any > 0))
    return report_unknown(p->r, "MFU is unknown, because some floating-point operations have an unknown type");
  snprintf(text, sizeof text, "MFU is unknown, because the peak FLOP/s of '%.100s' is unknown for some of the types used",
           r->peaks.name);
  return report_unknown(p->r, report_text(p->impl, text));
}

/* Completes the MFU of each step: divides the time that its operations take at the peak rate by its duration. */
static void finish_steps(struct tk_report_rank *row, bool known) {
  for (size_t i = 0; i < row->n_steps; i++) {
    struct tk_report_step *s = &row->steps[i];
    s->mfu = known && s->flops > 0 && s->dur > 0 ? s->mfu / ((double)s->dur / 1e12) : -1;
  }
}

bool report_flops_end(struct reporter *p, struct tk_report_rank *row) {
  struct report_flops *r = &p->flops;
  bool ok = true;
  for (uint32_t i = 0; ok && i < r->n_touched; i++) ok = add_op(p, row, &r->ops[r->touched[i]], 0);
  const bool known = r->flops > 0 && r->least > 0 && !r->no_type && !r->no_peak;
  const double window = (double)row->times.window / 1e12;
  row->flops = r->flops;
  row->peak_device = report_text(p->impl, r->peaks.name);
  row->peak_flops = !known ? 0 : r->fastest > r->slowest ? r->flops / r->least : r->fastest; /* if all types have the same peak, avoids
                                                                                              * the rounding error of a quotient */
  row->peak_bandwidth = r->peaks.bandwidth;
  row->mfu = known && window > 0 ? r->least / window : -1;
  row->flops_coverage = r->flops > 0 && r->compute > 0 ? (double)r->flops_time / (double)r->compute : -1;
  row->bytes_coverage = r->bytes_time > 0 && r->compute > 0 ? (double)r->bytes_time / (double)r->compute : -1;
  row->operator_bytes_rate = r->bytes_time > 0 ? r->bytes / ((double)r->bytes_time / 1e12) : 0;
  finish_steps(row, known);
  return ok && (r->flops <= 0 || known || say_no_mfu(p));
}

void report_flops_free(struct reporter *p) {
  struct report_flops *r = &p->flops;
  if (r->made) map_free(&r->op_of);
  mem_free(p->mem, r->ops);
  mem_free(p->mem, r->models);
  mem_free(p->mem, r->looked);
  mem_free(p->mem, r->known);
  mem_free(p->mem, r->around);
  mem_free(p->mem, r->touched);
}

/* ---- the table ---- */

static int by_time(const void *p, const void *q) {
  const struct tk_report_roof *a = p, *b = q;
  if (a->total.s != b->total.s) return a->total.s > b->total.s ? -1 : 1;
  if (a->total.ps != b->total.ps) return a->total.ps > b->total.ps ? -1 : 1;
  int order = strcmp(a->name, b->name);
  if (!order) order = strcmp(a->type, b->type);
  return order ? order : strcmp(a->device, b->device);
}

static double rate_of(double amount, i128 ps) { return ps > 0 ? amount / (i128_double(ps) / 1e12) : 0; }

/* Returns the bound of the operator in the roofline model: "compute" or "memory"; "" if unknown. */
static const char *bound_of(const struct report_roof *k) {
  if (k->bytes_time <= 0 || k->bandwidth <= 0) return "";
  if (k->flops_time <= 0) return "memory";
  if (k->peak <= 0) return "";
  return k->flops / k->peak > k->bytes / k->bandwidth ? "compute" : "memory";
}

bool report_flops_make(struct tk_report *r) {
  struct tk_report_impl *impl = r->impl;
  r->roofs = mem_array(&impl->mem, (uint64_t)impl->n_roofs + 1, sizeof *r->roofs);
  if (!r->roofs) return false;
  for (uint32_t i = 0; i < impl->n_roofs; i++) {
    const struct report_roof *k = &impl->roofs[i];
    const struct intern_str *name = &impl->texts.strs[k->name];
    r->roofs[r->n_roofs++] = (struct tk_report_roof){
        .name = (const char *)name->bytes, .name_len = name->len, .type = device_peaks_word(k->type),
        .device = (const char *)impl->texts.strs[k->device].bytes, .source = k->stated ? "trace" : "shapes",
        .count = k->count, .kernels = k->kernels, .total = report_total(k->time), .flops = k->flops_time > 0 ? k->flops : -1,
        .bytes = k->bytes_time > 0 ? k->bytes : -1, .flops_rate = rate_of(k->flops, k->flops_time),
        .bytes_rate = rate_of(k->bytes, k->bytes_time), .peak_flops = k->peak, .peak_bandwidth = k->bandwidth,
        .bound = bound_of(k)};
  }
  if (r->n_roofs) qsort(r->roofs, r->n_roofs, sizeof *r->roofs, by_time);
  return true;
}
