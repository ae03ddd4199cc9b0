/* xplane.c - the same job as a JAX profile of one host: XSpace with a host plane and a plane for each of its devices.
 *
 *     /host:CPU            a line for each rank's Python thread and its runtime thread: ops, launches, the step annotation (_r)
 *     /device:GPU:N        a line for each stream: kernels with correlation_id, hlo_op, kernel_details; collectives
 *     /device:TPU:N        (--tpu) Steps, XLA Modules, XLA Ops with -start and -done of collectives; Async XLA Ops: complete
 *                          collectives
 *     /host:metadata       for GPUs, the HLO of the program, the only source of its collectives' replica groups (--no-hlo:
 *                          none)
 *     Task Environment     profile_start_time: reading of the host's clock when the profile began
 *
 * As in real files, a plane's lines precede its maps of names, times are ps from the start of the profile, and proto3
 * defaults are absent. A message is preceded by its length, so each line is walked twice: measured, then written. */
#include <string.h>

#include "gen.h"

enum line_kind { HOST_PYTHON, HOST_RUNTIME, GPU_COMPUTE, GPU_NCCL, TPU_STEPS, TPU_MODULES, TPU_OPS, TPU_ASYNC };

static const char *const stat_names[] = {
  NULL, "_r", "step_num", "correlation_id", "device_id", "hlo_op", "hlo_module", "program_id", "kernel_details",
  "replica_groups", "group_id", "run_id", "device_offset_ps", "device_duration_ps", "profile_start_time",
  "profile_stop_time", "hlo_category", "theoretical_occupancy_pct", "jit_train_step", "process_id", "device_vendor",
  "device_type_string", "Hlo Proto",
};
enum {
  S_ROOT = 1, S_STEP, S_CORRELATION, S_DEVICE, S_HLO_OP, S_HLO_MODULE, S_PROGRAM, S_KERNEL,
  S_REPLICAS, S_GROUP, S_RUN, S_OFFSET, S_DURATION, S_START,
  S_STOP, S_CATEGORY, S_OCCUPANCY, S_MODULE_NAME, S_PROCESS, S_VENDOR,
  S_TYPE, S_HLO, N_STATS
};
enum { UINT = 3, INT = 4, STR = 5, BYTES = 6, REF = 7, LINE_START_NS = 1000, PROGRAM = 77 };

struct xplane {
  struct options o;      /* with the rank being written */
  struct names names, refs;
  enum line_kind kind;
  bool measuring, skipped; /* skipped: the event is before the start of the profile */
  bool programs;         /* the plane contains programs */
  uint64_t size;         /* of the events of the line */
  uint64_t correlation;
};

/* True time at which the host's profile began. */
static int64_t begun(const struct xplane *x) { return (int64_t)(x->o.late_ms[host_of(&x->o, x->o.rank)] * 1e6); }

static uint64_t ps(const struct xplane *x, int64_t t) {
  int host = host_of(&x->o, x->o.rank);
  return (uint64_t)(clock_read(&x->o, host, t) - clock_read(&x->o, host, begun(x)) - LINE_START_NS) * 1000;
}

static void stat_u(struct pb *e, unsigned field, unsigned id, unsigned type, uint64_t v) {
  struct pb s = {0};
  pb_u(&s, 1, id);
  pb_u(&s, type, v);
  pb_message(e, field, &s);
}

static void stat_text(struct pb *e, unsigned field, unsigned id, const char *text) {
  struct pb s = {0};
  pb_u(&s, 1, id);
  pb_text(&s, STR, text);
  pb_message(e, field, &s);
}

static void stat_double(struct pb *e, unsigned field, unsigned id, double v) {
  struct pb s = {0};
  pb_u(&s, 1, id);
  pb_double(&s, 2, v);
  pb_message(e, field, &s);
}

/* Index of a name that a stat refers to: such names are in the table of stat names, after the fixed ones. */
static unsigned ref(struct xplane *x, const char *text) { return N_STATS + name_id(&x->refs, text, NULL); }

/* Adds an event. Devices measure in ps, so their times get random digits below the nanosecond. */
static void event(struct xplane *x, struct pb *e, const char *name, int64_t start, int64_t end) {
  bool device = x->kind >= GPU_COMPUTE;
  uint64_t a = ps(x, start) + (device ? mix((uint64_t)start, 3) % 1000 : 0);
  uint64_t b = ps(x, end) + (device ? mix((uint64_t)end, 4) % 1000 : 0);
  e->n = 0;
  x->skipped = start < begun(x) + LINE_START_NS;
  if (x->skipped) return;
  pb_u(e, 1, name_id(&x->names, name, NULL));
  pb_u(e, 2, a);
  if (b > a) pb_u(e, 3, b - a);
}

static void emit(struct xplane *x, const struct pb *e) {
  if (x->skipped) return;
  if (x->measuring)
    x->size += size_message(e->n);
  else
    put_message(4, e);
}

static void replicas(const struct xplane *x, char *text, size_t size) {
  size_t n = (size_t)snprintf(text, size, "{{0");
  if (x->o.ranks > 64) { /* XLA's short form */
    snprintf(text, size, "[1,%d]<=[%d]", x->o.ranks, x->o.ranks);
    return;
  }
  for (int r = 1; r < x->o.ranks; r++) n += (size_t)snprintf(text + n, size - n, ",%d", r);
  snprintf(text + n, size - n, "}}");
}

/* Adds the run id, in which each device counts its own runs. */
static void stat_run(struct xplane *x, struct pb *e, int step) {
  if (!x->o.no_run_id) stat_u(e, 4, S_RUN, UINT, (uint64_t)(step + 5 + x->o.rank * 3 % 7));
}

/* Adds the two halves of an asynchronous op: a TPU's core starts the op, continues, and waits for the op later. */
static void halves(struct xplane *x, const struct piece *p) {
  char members[512], text[800];
  struct pb e;
  int64_t done = p->kernel_end - p->kernel > 8000 ? p->kernel_end - 4000 : p->kernel + 2000;
  replicas(x, members, sizeof members);
  snprintf(text, sizeof text, "%%all-reduce-start.%d = f32[1024]{0} all-reduce-start(f32[1024]{0} %%p.%d), channel_id=%d, "
           "replica_groups=%s, use_global_device_ids=true, to_apply=%%add", p->layer + 100, p->layer, p->layer + 1, members);
  event(x, &e, text, p->kernel, p->kernel + 1000);
  emit(x, &e);
  snprintf(text, sizeof text, "%%all-reduce-done.%d = f32[1024]{0} all-reduce-done(f32[1024]{0} %%all-reduce-start.%d)", p->layer,
           p->layer + 100);
  event(x, &e, text, done, p->kernel_end);
  emit(x, &e);
}

static void collective(struct xplane *x, const struct piece *p) {
  char text[512], name[64];
  struct pb e;
  uint64_t correlation = ++x->correlation;
  if (x->kind == HOST_RUNTIME) {
    event(x, &e, "cuLaunchKernelEx", p->start + 30000, p->start + 42000);
    stat_u(&e, 4, S_CORRELATION, UINT, correlation);
    emit(x, &e);
  } else if (x->kind == TPU_OPS) {
    halves(x, p);
  } else if (x->kind == GPU_NCCL || x->kind == TPU_ASYNC) {
    snprintf(name, sizeof name, "all-reduce-start.%d", p->layer);
    event(x, &e, x->kind == GPU_NCCL ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL" : name, p->kernel, p->kernel_end);
    if (x->kind == GPU_NCCL) stat_u(&e, 4, S_CORRELATION, UINT, correlation);
    stat_u(&e, 4, S_HLO_OP, REF, ref(x, name));
    stat_u(&e, 4, S_HLO_MODULE, REF, S_MODULE_NAME);
    stat_u(&e, 4, S_PROGRAM, UINT, PROGRAM);
    stat_run(x, &e, p->step);
    if (x->kind == TPU_ASYNC) {
      replicas(x, text, sizeof text);
      stat_text(&e, 4, S_REPLICAS, text);
    }
    emit(x, &e);
  }
}

static void device_op(struct xplane *x, const struct piece *p, const struct slot *s) {
  char kernel[600], op[64], text[160];
  uint64_t pick = mix(p->group * 16 + (uint64_t)(s - p->slots), (uint64_t)p->layer % 3);
  struct pb e;
  kernel_name(s->row->kernel, pick, kernel, sizeof kernel);
  snprintf(op, sizeof op, "%s.%u", s->row->kernel == K_GEMM ? "gemm_fusion_dot" : "loop_fusion",
           p->group * 16 + (unsigned)(s - p->slots));
  if (x->kind == GPU_COMPUTE) {
    event(x, &e, kernel, s->kernel, s->kernel_end);
    stat_u(&e, 4, S_CORRELATION, UINT, x->correlation);
    stat_u(&e, 4, S_HLO_OP, REF, ref(x, op));
    stat_u(&e, 4, S_HLO_MODULE, REF, S_MODULE_NAME);
    stat_u(&e, 4, S_PROGRAM, UINT, PROGRAM);
    snprintf(text, sizeof text, "regs:%d static_shared:0 dynamic_shared:%d grid:%d,1,1 block:%d,1,1 occ_pct:37.5",
             16 + (int)(pick >> 24 & 15) * 8, 49152, 1 + (int)(pick >> 8 & 2047), 256);
    stat_text(&e, 4, S_KERNEL, text);
    stat_double(&e, 4, S_OCCUPANCY, 37.5);
  } else {
    snprintf(text, sizeof text, "%%%s = bf16[8,128]{1,0:T(8,128)} fusion(bf16[8,128]{1,0} %%p.%u), kind=kLoop", op, p->group);
    event(x, &e, text, s->kernel, s->kernel_end);
    stat_u(&e, 4, S_OFFSET, UINT, (uint64_t)(s->kernel - p->start) * 1000);
    stat_u(&e, 4, S_DURATION, UINT, (uint64_t)(s->kernel_end - s->kernel) * 1000);
    stat_text(&e, 4, S_CATEGORY, s->row->kernel == K_GEMM ? "convolution fusion" : "loop fusion");
  }
  emit(x, &e);
}

static void launch(struct xplane *x, const struct slot *s) {
  struct pb e;
  event(x, &e, "cuLaunchKernel", s->launch, s->launch_end);
  stat_u(&e, 4, S_CORRELATION, UINT, x->correlation);
  stat_u(&e, 4, S_DEVICE, INT, (uint64_t)local_rank(&x->o, x->o.rank));
  emit(x, &e);
}

static void visit(void *self, const struct piece *p) {
  struct xplane *x = self;
  bool backward = p->phase == BACKWARD, device = x->kind == GPU_COMPUTE || x->kind == TPU_OPS;
  bool host = x->kind == (backward ? HOST_RUNTIME : HOST_PYTHON);
  if (p->phase == COMMUNICATION) collective(x, p);
  for (unsigned i = 0; i < p->n; i++) {
    struct pb e;
    if (host) {
      event(x, &e, p->slots[i].row->name, p->slots[i].start, p->slots[i].end);
      emit(x, &e);
    }
    if (!p->slots[i].row->kernel) continue;
    x->correlation++;
    if (host) launch(x, &p->slots[i]);
    if (device) device_op(x, p, &p->slots[i]);
  }
}

static void step(struct xplane *x, const struct plan *p) {
  char name[32];
  struct pb e;
  if (x->kind == HOST_PYTHON) {
    event(x, &e, "train", p->start, p->end);
    stat_u(&e, 4, S_ROOT, INT, 1);
    stat_u(&e, 4, S_STEP, INT, (uint64_t)p->step);
    emit(x, &e);
  } else if (x->kind == TPU_STEPS) {
    snprintf(name, sizeof name, "%d", p->step);
    event(x, &e, name, p->start, p->end);
    stat_u(&e, 4, S_GROUP, INT, (uint64_t)p->step);
    emit(x, &e);
  } else if (x->kind == TPU_MODULES) {
    event(x, &e, "jit_train_step(1234567890123456789)", p->start + 50000, p->optimizer_end);
    stat_run(x, &e, p->step);
    stat_u(&e, 4, S_GROUP, INT, (uint64_t)p->step);
    emit(x, &e);
  }
}

static bool line_events(struct xplane *x) {
  struct job j;
  struct plan p;
  x->size = 0;
  x->correlation = 100 + (uint64_t)local_rank(&x->o, x->o.rank) * 100000000; /* one process has all devices */
  if (!job_start(&j, &x->o)) return false;
  for (int s = 0; s < x->o.steps; s++) {
    job_step(&j, &p);
    step(x, &p);
    walk(&x->o, &p, visit, x);
  }
  job_end(&j);
  return true;
}

/* ---- planes ----------------------------------------------------------------------------------------------------------- */

struct line {
  enum line_kind kind;
  int rank;
  struct pb head;
  uint64_t size; /* size of the whole line, without its own tag and length */
};

static bool line_measure(struct xplane *x, struct line *l, enum line_kind kind, int rank, uint64_t id, const char *name) {
  l->kind = x->kind = kind;
  l->rank = x->o.rank = rank;
  l->head.n = 0;
  pb_u(&l->head, 1, id);
  pb_text(&l->head, 2, name);
  pb_u(&l->head, 3, LINE_START_NS);
  x->measuring = true;
  if (!line_events(x)) return false;
  l->size = l->head.n + x->size;
  return true;
}

static bool line_write(struct xplane *x, const struct line *l) {
  x->kind = l->kind;
  x->o.rank = l->rank;
  x->measuring = false;
  put_head(3, l->size);
  put_n(l->head.b, l->head.n);
  return line_events(x);
}

static void map_entry(struct pb *entry, unsigned id, const char *name) {
  struct pb m = {0};
  pb_u(&m, 1, id);
  pb_text(&m, 2, name);
  entry->n = 0;
  pb_u(entry, 1, id);
  pb_message(entry, 2, &m);
}

/* Measures or writes the maps of names. */
static uint64_t maps(const struct xplane *x, bool writing) {
  uint64_t size = 0;
  struct pb entry;
  for (unsigned i = 1; i <= x->names.n; i++) {
    map_entry(&entry, i, x->names.text[i]);
    size += size_message(entry.n);
    if (writing) put_message(4, &entry);
  }
  for (unsigned i = 1; i < N_STATS + 1 + x->refs.n; i++) {
    if (i == N_STATS) continue;
    map_entry(&entry, i, i < N_STATS ? stat_names[i] : x->refs.text[i - N_STATS]);
    size += size_message(entry.n);
    if (writing) put_message(5, &entry);
  }
  return size;
}

/* Builds one collective, with its groups in one of the four forms that compilers have used. */
static void instruction(const struct xplane *x, int layer, struct pb *i) {
  struct pb ids = {0}, group = {0}, list = {0};
  int form = x->o.ranks > 64 ? layer % 2 : layer % 4; /* 0 and 1 are the short forms */
  char name[64];
  i->n = 0;
  snprintf(name, sizeof name, "all-reduce-start.%d", layer);
  pb_text(i, 1, name);
  pb_text(i, 2, "all-reduce-start");
  pb_u(i, 26, (uint64_t)layer + 1);
  pb_u(i, 35, (uint64_t)layer + 100);
  pb_u(i, 71, 1);
  if (form == 0) {
    pb_varint(&ids, (uint64_t)x->o.ranks);
    pb_u(&group, 1, 1);
    pb_u(&group, 2, (uint64_t)x->o.ranks);
    pb_bytes(&group, 3, ids.b, ids.n);
    pb_bytes(&group, 4, "", 1);
    pb_message(&list, 2, &group);
    pb_message(i, 87, &list);
    return;
  }
  if (form == 1) {
    pb_text(&ids, 1, "axis_0");
    pb_u(&ids, 2, (uint64_t)x->o.ranks);
    pb_message(&group, 1, &ids);
    pb_message(&list, 1, &group);
    pb_text(&list, 2, ""); /* axis 0 */
    pb_message(i, 93, &list);
    return;
  }
  for (int r = 0; r < x->o.ranks; r++) pb_varint(&ids, (uint64_t)r);
  pb_bytes(&group, 1, ids.b, ids.n);
  pb_message(&list, 1, &group);
  if (form == 2) pb_message(i, 49, &group);
  else pb_message(i, 87, &list);
}

static uint64_t instructions(const struct xplane *x, bool writing) {
  uint64_t size = 0;
  struct pb i;
  for (int layer = 0; layer < x->o.layers; layer++) {
    instruction(x, layer, &i);
    size += size_message(i.n);
    if (writing) put_message(2, &i);
  }
  return size;
}

/* Measures or writes the event metadata that contains the program, nested as entry > metadata > stat > HLO > module > computation.
 * Returns its size; 0 if no program is to be written. */
static uint64_t program(const struct xplane *x, bool writing) {
  struct pb entry = {0}, metadata = {0}, stat = {0}, module = {0};
  char name[64];
  if (!x->programs || x->o.tpu || x->o.no_hlo) return 0;
  snprintf(name, sizeof name, "%s(%d)", stat_names[S_MODULE_NAME], PROGRAM);
  pb_text(&module, 1, stat_names[S_MODULE_NAME]);
  pb_u(&module, 5, PROGRAM);
  pb_u(&stat, 1, S_HLO);
  pb_u(&metadata, 1, 1);
  pb_text(&metadata, 2, name);
  pb_u(&entry, 1, 1);
  uint64_t computation = instructions(x, false), inner = module.n + size_message(computation), hlo = size_message(inner);
  uint64_t value = stat.n + size_message(hlo), body = metadata.n + size_message(value), all = entry.n + size_message(body);
  if (!writing) return size_message(all);
  put_head(4, all);
  put_n(entry.b, entry.n);
  put_head(2, body);
  put_n(metadata.b, metadata.n);
  put_head(5, value);
  put_n(stat.b, stat.n);
  put_head(BYTES, hlo);
  put_head(1, inner);
  put_n(module.b, module.n);
  put_head(3, computation);
  instructions(x, true);
  return size_message(all);
}

static bool plane(struct xplane *x, uint64_t id, const char *name, struct line *lines, unsigned n, const struct pb *stats) {
  struct pb head = {0};
  uint64_t size;
  bool ok = true;
  if (id) pb_u(&head, 1, id);
  pb_text(&head, 2, name);
  size = head.n + stats->n + maps(x, false) + program(x, false);
  for (unsigned i = 0; i < n; i++) size += size_message(lines[i].size);
  put_head(1, size);
  put_n(head.b, head.n);
  for (unsigned i = 0; ok && i < n; i++) ok = line_write(x, &lines[i]);
  program(x, true);
  maps(x, true);
  put_n(stats->b, stats->n);
  names_free(&x->names);
  names_free(&x->refs);
  return ok;
}

static bool device_plane(struct xplane *x, int rank) {
  static struct line lines[4];
  bool tpu = x->o.tpu, ok;
  struct pb stats = {0};
  char name[40];
  int device = local_rank(&x->o, rank);
  snprintf(name, sizeof name, tpu ? "/device:TPU:%d" : "/device:GPU:%d", device);
  stat_text(&stats, 6, tpu ? S_TYPE : S_VENDOR, tpu ? "TPU v6 Lite" : "Nvidia");
  if (tpu)
    ok = line_measure(x, &lines[0], TPU_STEPS, rank, 1, "Steps") &&
         line_measure(x, &lines[1], TPU_MODULES, rank, 2, "XLA Modules") &&
         line_measure(x, &lines[2], TPU_OPS, rank, 3, "XLA Ops") &&
         line_measure(x, &lines[3], TPU_ASYNC, rank, 4, "Async XLA Ops");
  else
    ok = line_measure(x, &lines[0], GPU_COMPUTE, rank, 7, "Stream #7(Compute)") &&
         line_measure(x, &lines[1], GPU_NCCL, rank, 40, "Stream #40(Compute)");
  return ok && plane(x, (uint64_t)device, name, lines, tpu ? 4 : 2, &stats);
}

static bool host_plane(struct xplane *x, int first, int last) {
  static struct line lines[2 * MAX_RANKS];
  struct pb stats = {0};
  unsigned n = 0;
  bool ok = true;
  stat_u(&stats, 6, S_PROCESS, INT, 30000);
  for (int r = first; ok && r <= last; r++) {
    uint64_t tid = 30000 + (uint64_t)local_rank(&x->o, r) * 113;
    ok = line_measure(x, &lines[n++], HOST_PYTHON, r, tid, "python") &&
         line_measure(x, &lines[n++], HOST_RUNTIME, r, mix(tid, 9), "tf_XLAPjRtGpuClient"); /* ids of such lines are hashes */
  }
  return ok && plane(x, 701, "/host:CPU", lines, n, &stats);
}

static void other_planes(struct xplane *x, int64_t end) {
  struct pb stats = {0}, host = {0};
  int h = host_of(&x->o, x->o.rank);
  char name[32];
  stat_u(&stats, 6, S_PROCESS, INT, 30000);
  x->programs = true;
  plane(x, 702, "/host:metadata", NULL, 0, &stats);
  x->programs = false;
  stats.n = 0;
  stat_u(&stats, 6, S_START, UINT, (uint64_t)clock_read(&x->o, h, begun(x)));
  stat_u(&stats, 6, S_STOP, UINT, (uint64_t)clock_read(&x->o, h, end));
  plane(x, 703, "Task Environment", NULL, 0, &stats);
  snprintf(name, sizeof name, "host%d", h);
  pb_text(&host, 4, name);
  put_n(host.b, host.n);
}

bool xplane(const struct options *o) {
  static struct xplane x;
  int host = host_of(o, o->rank), first = o->rank, last = o->rank;
  bool ok;
  x.o = *o;
  while (first > 0 && host_of(o, first - 1) == host) first--;
  while (last + 1 < o->ranks && host_of(o, last + 1) == host) last++;
  ok = host_plane(&x, first, last);
  for (int r = first; ok && r <= last; r++) ok = device_plane(&x, r);
  other_planes(&x, (int64_t)10 * 1000 * 1000 * 1000);
  return ok;
}
