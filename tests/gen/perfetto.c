/* perfetto.c - the same job as Perfetto TrackEvents, as an SDK writes them: one sequence, interned names.
 *
 * Threads are thread tracks, streams are named tracks under the GPU's process, flows connect launches and kernels, and one
 * counter track samples memory. Begin and end are separate packets. Packets of one track are in time order; tracks follow
 * each other, because importers sort. A ClockSnapshot maps BOOTTIME, the clock of the timestamps, to REALTIME. */
#include <string.h>

#include "gen.h"

enum { SEQUENCE = 7, PROCESS = 100, MAIN, BACKWARD_THREAD, GPU, COMPUTE, NCCL, MEMORY };
enum { BEGIN = 1, END = 2, INSTANT = 3, COUNTER = 4 };
enum { BOOTTIME = 6, REALTIME = 1 };

struct perfetto {
  const struct options *o;
  struct names events, categories, keys;
  struct pb interned;
  uint64_t flow;
  int64_t boot; /* REALTIME at boot */
  int64_t allocated;
};

static uint64_t stamp(const struct perfetto *f, int64_t t) {
  return (uint64_t)(clock_read(f->o, host_of(f->o, f->o->rank), t) - f->boot);
}

static unsigned intern(struct perfetto *f, struct names *table, unsigned field, const char *text) {
  struct pb entry = {0};
  bool fresh;
  unsigned id = name_id(table, text, &fresh);
  if (!fresh) return id;
  pb_u(&entry, 1, id);
  pb_text(&entry, 2, text);
  pb_message(&f->interned, field, &entry);
  return id;
}

static void packet(struct perfetto *f, int64_t t, const struct pb *event) {
  struct pb p = {0};
  pb_u(&p, 8, stamp(f, t));
  pb_u(&p, 10, SEQUENCE);
  pb_u(&p, 13, 2);
  if (f->interned.n) pb_message(&p, 12, &f->interned);
  pb_message(&p, 11, event);
  put_message(1, &p);
  f->interned.n = 0;
}

static void arg_u(struct perfetto *f, struct pb *event, const char *key, uint64_t v) {
  struct pb a = {0};
  pb_u(&a, 1, intern(f, &f->keys, 3, key));
  pb_u(&a, 3, v);
  pb_message(event, 4, &a);
}

static void arg_text(struct perfetto *f, struct pb *event, const char *key, const char *v) {
  struct pb a = {0};
  pb_u(&a, 1, intern(f, &f->keys, 3, key));
  pb_text(&a, 6, v);
  pb_message(event, 4, &a);
}

static void begin_event(struct perfetto *f, struct pb *e, uint64_t track, const char *category, const char *name) {
  e->n = 0;
  pb_u(e, 9, BEGIN);
  pb_u(e, 11, track);
  pb_u(e, 3, intern(f, &f->categories, 1, category));
  pb_u(e, 10, intern(f, &f->events, 2, name));
}

static void end(struct perfetto *f, uint64_t track, int64_t t) {
  struct pb e = {0};
  pb_u(&e, 9, END);
  pb_u(&e, 11, track);
  packet(f, t, &e);
}

static void call(struct perfetto *f, uint64_t track, const char *name, int64_t start, int64_t stop, uint64_t flow) {
  struct pb e;
  begin_event(f, &e, track, "cuda_runtime", name);
  if (flow) pb_fixed64(&e, 47, flow);
  packet(f, start, &e);
  end(f, track, stop);
}

static void kernel(struct perfetto *f, const struct piece *p, const struct slot *s, uint64_t flow) {
  uint64_t pick = mix(p->group * 16 + (uint64_t)(s - p->slots), (uint64_t)p->layer % 3);
  char name[600];
  struct pb e;
  begin_event(f, &e, COMPUTE, "kernel", kernel_name(s->row->kernel, pick, name, sizeof name));
  arg_u(f, &e, "correlation", flow);
  arg_u(f, &e, "stream", 7);
  arg_u(f, &e, "registers per thread", 16 + (pick >> 24 & 15) * 8);
  pb_fixed64(&e, 48, flow);
  packet(f, s->kernel, &e);
  end(f, COMPUTE, s->kernel_end);
}

static void collective(struct perfetto *f, const struct piece *p) {
  struct pb e;
  begin_event(f, &e, BACKWARD_THREAD, "cpu_op", "record_param_comms");
  packet(f, p->start + 4000, &e);
  call(f, BACKWARD_THREAD, "cudaLaunchKernelExC", p->start + 30000, p->start + 42000, ++f->flow);
  end(f, BACKWARD_THREAD, p->end - 6000);
  begin_event(f, &e, NCCL, "kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
  arg_text(f, &e, "Collective name", "allreduce");
  arg_u(f, &e, "Group size", (uint64_t)f->o->ranks);
  arg_u(f, &e, "Seq", p->sequence + 1);
  pb_fixed64(&e, 48, f->flow);
  packet(f, p->kernel, &e);
  end(f, NCCL, p->kernel_end);
}

static void visit(void *self, const struct piece *p) {
  struct perfetto *f = self;
  uint64_t track = p->phase == BACKWARD ? BACKWARD_THREAD : MAIN;
  int64_t open[8];
  unsigned depth = 0;
  if (p->phase == COMMUNICATION) collective(f, p);
  for (unsigned i = 0; i < p->n; i++) {
    const struct slot *s = &p->slots[i];
    struct pb e;
    while (depth > s->row->depth) end(f, track, open[--depth]);
    begin_event(f, &e, track, "cpu_op", s->row->name);
    if (s->row->depth == 0) arg_u(f, &e, "Sequence number", p->sequence);
    packet(f, s->start, &e);
    open[depth++] = s->end;
    for (unsigned c = 0; c < s->row->calls; c++) call(f, track, "cudaEventRecord", s->call[c], s->call_end[c], 0);
    if (!s->row->kernel) continue;
    call(f, track, "cudaLaunchKernel", s->launch, s->launch_end, ++f->flow);
    kernel(f, p, s, f->flow);
  }
  while (depth > 0) end(f, track, open[--depth]);
}

/* ---- descriptors ---------------------------------------------------------------------------------------------------- */

static void describe(const struct pb *track) {
  struct pb p = {0};
  pb_message(&p, 60, track);
  put_message(1, &p);
}

static void describe_process(uint64_t uuid, uint64_t pid, const char *name) {
  struct pb t = {0}, d = {0};
  pb_u(&d, 1, pid);
  pb_text(&d, 6, name);
  pb_u(&t, 1, uuid);
  pb_message(&t, 3, &d);
  describe(&t);
}

static void describe_thread(uint64_t uuid, uint64_t pid, uint64_t tid, const char *name) {
  struct pb t = {0}, d = {0};
  pb_u(&d, 1, pid);
  pb_u(&d, 2, tid);
  pb_text(&d, 5, name);
  pb_u(&t, 1, uuid);
  pb_u(&t, 5, PROCESS);
  pb_message(&t, 4, &d);
  describe(&t);
}

static void describe_named(uint64_t uuid, const char *name, bool counter) {
  struct pb t = {0}, unit = {0};
  pb_u(&t, 1, uuid);
  pb_u(&t, 5, GPU);
  pb_text(&t, 2, name);
  pb_u(&unit, 3, 3); /* bytes */
  if (counter) pb_message(&t, 8, &unit);
  describe(&t);
}

static void clocks(const struct perfetto *f) {
  struct pb p = {0}, s = {0}, c = {0};
  pb_u(&c, 1, BOOTTIME);
  pb_u(&c, 2, stamp(f, 0));
  pb_message(&s, 1, &c);
  c.n = 0;
  pb_u(&c, 1, REALTIME);
  pb_u(&c, 2, (uint64_t)clock_read(f->o, host_of(f->o, f->o->rank), 0));
  pb_message(&s, 1, &c);
  pb_message(&p, 6, &s);
  pb_u(&p, 10, SEQUENCE);
  pb_u(&p, 13, 1);
  put_message(1, &p);
}

static void sample(struct perfetto *f, int64_t t, int64_t value) {
  struct pb e = {0};
  pb_u(&e, 9, COUNTER);
  pb_u(&e, 11, MEMORY);
  pb_u(&e, 30, (uint64_t)value);
  packet(f, t, &e);
}

bool perfetto(const struct options *o) {
  static struct perfetto f;
  uint64_t pid = 30000 + (uint64_t)local_rank(o, o->rank) * 113;
  char name[40];
  struct job j;
  struct plan p;
  f.o = o;
  f.boot = JOB_START - INT64_C(86400123456789);
  clocks(&f);
  describe_process(PROCESS, pid, "python3.12");
  describe_thread(MAIN, pid, pid, "python3.12");
  describe_thread(BACKWARD_THREAD, pid, pid + 9503, "pt_autograd_0");
  describe_process(GPU, (uint64_t)local_rank(o, o->rank) + 1, "GPU");
  describe_named(COMPUTE, "stream 7", false);
  describe_named(NCCL, "stream 40", false);
  describe_named(MEMORY, "memory", true);
  if (!job_start(&j, o)) return false;
  for (int s = 0; s < o->steps; s++) {
    struct pb e;
    job_step(&j, &p);
    snprintf(name, sizeof name, "ProfilerStep#%d", s + 10);
    begin_event(&f, &e, MAIN, "user_annotation", name);
    packet(&f, p.start, &e);
    sample(&f, p.start, 1 << 30);
    walk(o, &p, visit, &f);
    sample(&f, p.backward_end, (int64_t)3 << 30);
    end(&f, MAIN, p.end);
  }
  job_end(&j);
  names_free(&f.events);
  names_free(&f.categories);
  names_free(&f.keys);
  return true;
}
