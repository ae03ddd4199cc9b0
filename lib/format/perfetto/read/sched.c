/* sched.c - reads scheduling: which thread ran on each CPU, and the state of each thread.
 *
 * Both are read only on request (TK_WITH_SCHED), because a system trace has more switches than other events. Each switch
 * becomes two or three spans, which take 190 bytes of memory instead of 10 bytes in the file, and every table of names would
 * begin with "Sleeping". trace_processor also has separate tables for them.
 *
 *     process "CPU scheduling", thread "CPU 0"    a span for each time that a thread ran, with the name of the thread
 *     a track below each thread                   "Running", "Runnable", "Sleeping", ..., as in Perfetto's viewer
 *
 * The switches of a CPU are in order in the file, so its spans are added immediately. Other CPUs may wake a thread, so changes
 * of states are collected and sorted first. Rules: trace_processor's ftrace_sched_event_tracker.cc, thread_state_tracker.cc. */
#include "sched.h"

#include <stdio.h>
#include <string.h>

#include "base/keyed.h"
#include "format/scheduler.h"
#include "graph/args.h"
#include "track.h"

struct sched_cpu {
  uint32_t node; /* node of its track */
  int64_t since, tid;
  bool known, open; /* known: `tid` is known to be running; open: `since` is known, so a span can be added */
  tk_id name;
};

/* A thread starts to run, leaves its CPU in some state, or is woken. */
enum change { RUNS, LEAVES, WAKES };
struct sched_change {
  int64_t ns;
  uint32_t thread;
  uint16_t state;
  uint8_t what;
};

void sched_init(struct perfetto *r) { map_init(&r->sched.index, &r->t->store->mem); }

void sched_free(struct perfetto *r) {
  struct mem *mem = &r->t->store->mem;
  map_free(&r->sched.index);
  mem_free(mem, r->sched.cpus);
  mem_free(mem, r->sched.changes);
}

static bool is_wanted(const struct perfetto *r) { return r->opt->with & TK_WITH_SCHED; }

/* ---- states ---- */

/* Meaning of a bit of prev_state in a range of kernel versions, from trace_processor's types/task_state.cc. If a trace has no
 * version, 4.4 is assumed. */
struct state_bit {
  uint32_t since, until; /* kernel versions: major << 16 | minor */
  uint16_t bit;
  uint8_t state;
};
enum { VERSION_4_4 = 4 << 16 | 4, VERSION_4_8 = 4 << 16 | 8, VERSION_4_14 = 4 << 16 | 14 };
static const struct state_bit STATE_BITS[] = {
    {0, UINT32_MAX, 0x1, SCHEDULER_SLEEPING}, {0, UINT32_MAX, 0x2, SCHEDULER_BLOCKED}, {0, UINT32_MAX, 0x4, SCHEDULER_STOPPED},
    {0, UINT32_MAX, 0x8, SCHEDULER_TRACED}, {0, UINT32_MAX, 0x10, SCHEDULER_DEAD}, {0, UINT32_MAX, 0x20, SCHEDULER_ZOMBIE},
    {VERSION_4_14, UINT32_MAX, 0x40, SCHEDULER_PARKED}, {VERSION_4_14, UINT32_MAX, 0x80, SCHEDULER_IDLE},
    {VERSION_4_14, UINT32_MAX, 0x100, SCHEDULER_PREEMPTED}, {0, VERSION_4_14, 0x40, SCHEDULER_TASK_DEAD},
    {0, VERSION_4_14, 0x80, SCHEDULER_WAKE_KILL}, {0, VERSION_4_14, 0x100, SCHEDULER_WAKING},
    {0, VERSION_4_14, 0x200, SCHEDULER_PARKED}, {0, VERSION_4_14, 0x400, SCHEDULER_NO_LOAD},
    {VERSION_4_8, VERSION_4_14, 0x1000, SCHEDULER_PREEMPTED}, {0, VERSION_4_8, 0x800, SCHEDULER_PREEMPTED}};

void sched_kernel(struct perfetto *r, const struct pb_field *system_info) {
  struct pb c = pb_inside(system_info);
  struct pb_field kernel, f;
  unsigned major, minor;
  char text[32];
  while (pb_next(&c, &kernel)) {
    if (pb_field_key(&kernel) != PB_KEY(SYSTEM_KERNEL, PB_BYTES)) continue;
    for (struct pb in = pb_inside(&kernel); pb_next(&in, &f);) {
      if (pb_field_key(&f) != PB_KEY(KERNEL_RELEASE, PB_BYTES) || f.value >= sizeof text) continue;
      memcpy(text, f.p, (size_t)f.value);
      text[f.value] = 0;
      if (sscanf(text, "%3u.%3u", &major, &minor) == 2) r->sched.kernel = major << 16 | minor;
    }
  }
}

static enum scheduler_state state_of(const struct perfetto *r, uint16_t bits) {
  const uint32_t kernel = r->sched.kernel ? r->sched.kernel : VERSION_4_4;
  if (kernel < VERSION_4_14 && bits == (0x400 | 0x2)) return SCHEDULER_IDLE; /* the name in later kernels */
  for (size_t i = 0; i < sizeof STATE_BITS / sizeof *STATE_BITS; i++)
    if (bits & STATE_BITS[i].bit && kernel >= STATE_BITS[i].since && kernel < STATE_BITS[i].until) return STATE_BITS[i].state;
  return SCHEDULER_RUNNABLE;
}

/* ---- rows of CPUs ---- */

static tk_id add_row(struct perfetto *r, uint32_t machine, uint32_t cpu) {
  struct tk_trace *t = r->t;
  char text[64];
  int n = snprintf(text, sizeof text, SCHEDULER_PROCESS);
  if (machine) n += snprintf(text + n, sizeof text - (size_t)n, " (machine %u)", machine);
  const tk_id process_name = trace_string(t, text, (size_t)n);
  const tk_id name = trace_string(t, text, (size_t)snprintf(text, sizeof text, "CPU %u", cpu));
  const tk_id process = trace_process(t, ident_str(process_name));
  const tk_id track = trace_track(t, TK_TRACK_THREAD, ident_str(process_name), ident_str(name), name);
  t->tracks[process].name = process_name;
  t->tracks[process].in_packets = t->tracks[track].in_packets = true;
  t->tracks[track].has_sort = true;
  t->tracks[track].sort_index = cpu;
  return track;
}

static struct sched_cpu *cpu_of(struct perfetto *r, uint32_t machine, uint32_t cpu) {
  struct sched *s = &r->sched;
  uint32_t *slot = map_put(&s->index, (uint64_t)machine << 32 | cpu, 0);
  if (!slot) return NULL;
  if (*slot) return &s->cpus[*slot - 1];
  if (!mem_grow(&r->t->store->mem, (void **)&s->cpus, &s->cap_cpus, (uint64_t)s->n_cpus + 1, sizeof *s->cpus)) return NULL;
  struct node n = {.machine = machine, .kind = NODE_NAMED, .described = true, .has_slices = true, .has_events = true};
  n.tracks[ON_TRACK] = add_row(r, machine, cpu);
  s->cpus[s->n_cpus] = (struct sched_cpu){.node = track_add_node(r, n)};
  *slot = ++s->n_cpus;
  return &s->cpus[*slot - 1];
}

static uint32_t args_of_run(struct perfetto *r, const struct sched_cpu *c, const char *state) {
  args_begin(r->t);
  args_int(r->t, trace_text(r->t, "tid"), c->tid);
  if (state) args_str(r->t, trace_text(r->t, "end_state"), TK_ARG_STR, trace_text(r->t, state));
  return args_end(r->t);
}

/* Adds the span of the thread that has been running on the CPU. */
static void end_run(struct perfetto *r, const struct sched_cpu *c, int64_t end, const char *state) {
  const uint32_t args = args_of_run(r, c, state);
  const tk_id cls = trace_class(r->t, c->name, trace_text(r->t, SCHEDULER_RUNS));
  struct tk_event *e = proc_event(r, c->node, ON_TRACK, (struct proc_time){.ns = c->since});
  e->kind = TK_EVENT_SPAN;
  e->dur = end - c->since;
  e->cls = cls;
  e->args = args;
  if (!state) e->flags = TK_FLAG_PAIRED | TK_FLAG_UNFINISHED;
}

/* ---- changes ---- */

static void add_change(struct perfetto *r, uint32_t thread, int64_t ns, enum change what, uint16_t state) {
  struct sched *s = &r->sched;
  if (!thread || r->nodes[thread].tid == 0) return; /* tid 0 is the idle thread */
  if (!mem_grow(&r->t->store->mem, (void **)&s->changes, &s->cap_changes, (uint64_t)s->n_changes + 1, sizeof *s->changes)) return;
  s->changes[s->n_changes++] = (struct sched_change){ns, thread, state, (uint8_t)what};
}

bool sched_waking(struct perfetto *r, uint32_t thread, int64_t ns) {
  if (!is_wanted(r)) return false;
  add_change(r, thread, ns, WAKES, 0);
  return true;
}

static tk_id name_of(const struct perfetto *r, uint32_t thread, tk_id stated) {
  return stated ? stated : r->nodes[thread].own_name ? r->nodes[thread].own_name : trace_text(r->t, "thread");
}

/* Handles a switch. In the compact form, the first switch of a CPU does not state which thread ran before, so it ends no
 * span. */
bool sched_switch(struct perfetto *r, const struct sched_switch *s) {
  const uint32_t next = proc_thread(r, s->machine, s->next_tid, PROC_UNKNOWN);
  proc_name(r, next, s->next_name, PROC_BY_SCHEDULER);
  if (!is_wanted(r)) return false;
  struct sched_cpu *c = cpu_of(r, s->machine, s->cpu);
  if (!c) return true;
  const bool is_first = !s->has_prev && !c->known;
  const int64_t prev_tid = s->has_prev ? s->prev_tid : c->tid;
  if (c->open && c->tid && s->ns >= c->since) end_run(r, c, s->ns, scheduler_name(state_of(r, s->prev_state)));
  *c = (struct sched_cpu){
    .node = c->node, .since = s->ns, .tid = s->next_tid, .known = true, .open = !is_first, .name = name_of(r, next, s->next_name)};
  if (is_first) return true;
  add_change(r, proc_thread(r, s->machine, prev_tid, PROC_UNKNOWN), s->ns, LEAVES, s->prev_state);
  add_change(r, next, s->ns, RUNS, 0);
  return true;
}

/* ---- states of threads ---- */

/* The current state of a thread. */
struct thread_state {
  int64_t since;
  uint32_t node; /* node of its track; 0 = none yet */
  uint8_t state;
};

static uint32_t state_row(struct perfetto *r, uint32_t thread) {
  const struct node *k = &r->nodes[thread];
  char number[40];
  struct buf *b = &r->text;
  b->len = 0;
  if (k->own_name) buf_append(b, trace_str(r->t, k->own_name)->bytes, trace_str(r->t, k->own_name)->len);
  buf_append(b, number, (size_t)snprintf(number, sizeof number, "%s%lld state", k->own_name ? " " : "", (long long)k->tid));
  struct node n = {.machine = k->machine, .kind = NODE_NAMED, .described = true, .in_packets = true, .up = thread,
                   .name = trace_string(r->t, b->data, b->len)};
  n.has_slices = n.has_events = true;
  return track_add_node(r, n);
}

static void end_state(struct perfetto *r, const struct thread_state *s, int64_t end, bool finished) {
  if (!s->node || end < s->since) return;
  const tk_id cls = trace_class(r->t, trace_text(r->t, scheduler_name(s->state)), trace_text(r->t, SCHEDULER_STATES));
  struct tk_event *e = proc_event(r, s->node, ON_TRACK, (struct proc_time){.ns = s->since});
  e->kind = TK_EVENT_SPAN;
  e->dur = end - s->since;
  e->cls = cls;
  if (!finished) e->flags = TK_FLAG_PAIRED | TK_FLAG_UNFINISHED;
}

/* Applies a change. Waking only ends sleep, because running and runnable threads may also be woken. */
static void apply(struct perfetto *r, struct thread_state *s, const struct sched_change *c) {
  const bool awake = s->node && (s->state == SCHEDULER_RUNNING || s->state == SCHEDULER_RUNNABLE);
  if (c->what == WAKES && awake) return;
  end_state(r, s, c->ns, true);
  if (!s->node) s->node = state_row(r, c->thread);
  s->since = c->ns;
  s->state = (uint8_t)(c->what == RUNS ? SCHEDULER_RUNNING : c->what == WAKES ? SCHEDULER_RUNNABLE : state_of(r, c->state));
}

static int64_t last_time(const struct perfetto *r) {
  const struct sched *s = &r->sched;
  int64_t last = 0;
  for (uint32_t i = 0; i < s->n_changes; i++)
    if (s->changes[i].ns > last) last = s->changes[i].ns;
  return last;
}

static void add_states(struct perfetto *r, int64_t end) {
  struct sched *s = &r->sched;
  struct mem *mem = &r->t->store->mem;
  const uint32_t n_nodes = r->n_nodes;
  struct keyed *keys = mem_array(mem, s->n_changes, sizeof *keys), *spare = mem_array(mem, s->n_changes, sizeof *spare);
  struct thread_state *states = mem_zeros(mem, (uint64_t)n_nodes + 1, sizeof *states);
  if (keys && spare && states) {
    for (uint32_t i = 0; i < s->n_changes; i++) keys[i] = (struct keyed){s->changes[i].ns, i};
    const struct keyed *sorted = keyed_sort(keys, spare, s->n_changes);
    for (uint32_t i = 0; i < s->n_changes; i++) {
      const struct sched_change *c = &s->changes[sorted[i].index];
      apply(r, &states[c->thread], c);
    }
    for (uint32_t i = 1; i <= n_nodes; i++) end_state(r, &states[i], end, false);
  }
  mem_free(mem, keys);
  mem_free(mem, spare);
  mem_free(mem, states);
}

void sched_finish(struct perfetto *r) {
  struct sched *s = &r->sched;
  const int64_t end = last_time(r);
  for (uint32_t i = 0; i < s->n_cpus; i++)
    if (s->cpus[i].open && s->cpus[i].tid && end >= s->cpus[i].since) end_run(r, &s->cpus[i], end, NULL);
  if (s->n_changes) add_states(r, end);
}
