/* ftrace.c - reads an FtraceEventBundle: events of the kernel on one CPU.
 *
 * Bundles of different CPUs interleave, and if a thread moves to another CPU, the begin and end event of a span may be in different
 * bundles. Events are added in file order, because seal sorts them by time; the switches of each CPU are always in order. */
#include "ftrace.h"

#include "atrace.h"
#include "clock.h"
#include "sched.h"
#include "system.h"
#include "procs.h"

struct bundle {
  uint32_t machine, cpu;
  uint32_t clock; /* index of the clock; 0 = BOOTTIME, which is the trace clock */
  int64_t shift;  /* ns to add to the bundle's times to get times on `clock` */
  uint64_t n_other, n_sched; /* number of events that are not read */
};

/* ---- times ---- */

/* Chooses the clock of a bundle. If no snapshot contains the clock, times are shifted by the difference of the two times that
 * the bundle states. */
static void choose_clock(struct perfetto *r, struct bundle *b, uint64_t named, int64_t own, int64_t boot) {
  const uint32_t raw = named == FTRACE_CLOCK_RAW ? clock_builtin(r, b->machine, CLOCK_MONOTONIC_RAW) : 0;
  const bool is_trace_clock = r->trace_clock == CLOCK_BOOTTIME && b->machine == 0;
  if (raw && r->clocks[raw].n) {
    b->clock = raw;
    return;
  }
  if (named && boot) b->shift = (int64_t)((uint64_t)boot - (uint64_t)own);
  if (!is_trace_clock) b->clock = clock_builtin(r, b->machine, CLOCK_BOOTTIME);
}

static struct bundle read_head(struct perfetto *r, const struct packet *k) {
  struct bundle b = {.machine = k->machine};
  struct pb c = pb_inside(&k->content);
  struct pb_field f;
  uint64_t named = 0;
  int64_t own = 0, boot = 0;
  while (pb_next(&c, &f)) {
    switch (pb_field_key(&f)) {
    case PB_KEY(FTRACE_CPU, PB_VARINT): b.cpu = (uint32_t)f.value; break;
    case PB_KEY(FTRACE_CLOCK, PB_VARINT): named = f.value; break;
    case PB_KEY(FTRACE_OWN_TIME, PB_VARINT): own = (int64_t)f.value; break;
    case PB_KEY(FTRACE_BOOT_TIME, PB_VARINT): boot = (int64_t)f.value; break;
    default: break;
    }
  }
  choose_clock(r, &b, named, own, boot);
  return b;
}

static struct proc_time time_in(struct perfetto *r, const struct bundle *b, uint64_t own) {
  struct proc_time at = {.ns = (int64_t)(own + (uint64_t)b->shift)};
  if (b->clock && !clock_to_trace(r, b->clock, at.ns, &at.ns)) at.pending = b->clock;
  return at;
}

/* ---- single events ---- */

struct ftrace_event {
  struct proc_time at;
  int64_t tid;
  struct pb_field content;
};

static bool read_event(struct perfetto *r, const struct bundle *b, const struct pb_field *field, struct ftrace_event *e) {
  struct pb c = pb_inside(field);
  struct pb_field f;
  uint64_t time = 0;
  bool has_time = false;
  *e = (struct ftrace_event){.tid = 0};
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(FTRACE_EVENT_TIME, PB_VARINT)) time = f.value, has_time = true;
    else if (pb_field_key(&f) == PB_KEY(FTRACE_EVENT_TID, PB_VARINT)) e->tid = (int32_t)f.value;
    else if (f.wire == PB_BYTES) e->content = f;
  }
  if (!has_time || c.fault || !e->content.p) return false;
  e->at = time_in(r, b, time);
  return true;
}

static int64_t integer(const struct pb_field *message, uint32_t number) { return (int64_t)pb_find(message, number).value; }

static tk_id name_in(struct perfetto *r, const struct pb_field *message, uint32_t number) {
  const struct pb_field f = pb_find(message, number);
  return f.wire == PB_BYTES && f.value ? perfetto_field_text(r, &f) : 0;
}

static bool print_event(struct perfetto *r, const struct bundle *b, const struct ftrace_event *e) {
  const struct pb_field text = pb_find(&e->content, PRINT_TEXT);
  const struct atrace_at at = {e->at, b->machine, e->tid};
  return text.wire == PB_BYTES && atrace_read(r, &at, text.p, (size_t)text.value);
}

static bool mark_event(struct perfetto *r, const struct bundle *b, const struct ftrace_event *e) {
  const struct atrace_at at = {e->at, b->machine, e->tid};
  struct atrace_text text;
  return atrace_mark(&text, &e->content) && atrace_add(r, &at, &text);
}

static bool switch_event(struct perfetto *r, const struct bundle *b, const struct ftrace_event *e) {
  const struct pb_field *m = &e->content;
  const int64_t prev = integer(m, SWITCH_PREV_TID), next = integer(m, SWITCH_NEXT_TID);
  const struct sched_switch s = {.machine = b->machine, .cpu = b->cpu, .ns = e->at.ns, .prev_tid = prev, .has_prev = true,
                                 .prev_state = (uint16_t)integer(m, SWITCH_PREV_STATE), .next_tid = next,
                                 .next_name = name_in(r, m, SWITCH_NEXT_NAME)};
  proc_name(r, proc_thread(r, b->machine, prev, PROC_UNKNOWN), name_in(r, m, SWITCH_PREV_NAME), PROC_BY_SCHEDULER);
  return sched_switch(r, &s);
}

static bool waking_event(struct perfetto *r, const struct bundle *b, const struct ftrace_event *e) {
  const uint32_t thread = proc_thread(r, b->machine, integer(&e->content, WAKING_TID), PROC_UNKNOWN);
  proc_name(r, thread, name_in(r, &e->content, WAKING_NAME), PROC_BY_SCHEDULER);
  return sched_waking(r, thread, e->at.ns);
}

static void rename_event(struct perfetto *r, const struct bundle *b, const struct ftrace_event *e) {
  const uint32_t thread = proc_thread(r, b->machine, integer(&e->content, RENAME_TID), PROC_UNKNOWN);
  proc_name(r, thread, name_in(r, &e->content, RENAME_NAME), PROC_BY_SCHEDULER);
}

/* Adds a new task. A new thread belongs to the process of the thread that created it; any other new task is a process. */
static void newtask_event(struct perfetto *r, const struct bundle *b, const struct ftrace_event *e) {
  const int64_t tid = integer(&e->content, NEWTASK_TID);
  const bool is_thread = integer(&e->content, NEWTASK_FLAGS) & NEWTASK_IS_THREAD;
  const uint32_t maker = is_thread ? proc_thread(r, b->machine, e->tid, PROC_UNKNOWN) : 0;
  const bool known = maker && !r->nodes[maker].no_process;
  if (tid == 0) return; /* tid 0 is the idle thread of a CPU */
  const uint32_t thread = proc_thread(r, b->machine, tid, !is_thread ? tid : known ? r->nodes[maker].pid : PROC_UNKNOWN);
  const tk_id name = name_in(r, &e->content, NEWTASK_NAME);
  proc_name(r, thread, name, PROC_BY_SCHEDULER);
  if (!is_thread) proc_name(r, proc_process(r, b->machine, tid), name, PROC_BY_SCHEDULER);
  sched_waking(r, thread, e->at.ns);
}

static void cpu_counter(struct perfetto *r, const struct bundle *b, const struct ftrace_event *e, const char *name) {
  const uint32_t cpu = (uint32_t)integer(&e->content, CPU_ID);
  const int64_t value = (uint32_t)integer(&e->content, CPU_VALUE);
  system_cpu_sample(r, b->machine, name, cpu, e->at, value == UINT32_MAX ? -1 : value); /* -1: the CPU left the idle state */
}

/* Adds an event. Returns false if the event is only kept for Perfetto output. */
static bool take_event(struct perfetto *r, struct bundle *b, const struct ftrace_event *e) {
  bool shown = true;
  switch (e->content.number) {
  case FTRACE_PRINT: return print_event(r, b, e);
  case FTRACE_MARK:
  case FTRACE_MARK_SDE:
  case FTRACE_MARK_DPU: return mark_event(r, b, e);
  case FTRACE_SWITCH: shown = switch_event(r, b, e); break;
  case FTRACE_WAKING: shown = waking_event(r, b, e); break;
  case FTRACE_CPU_FREQUENCY: cpu_counter(r, b, e, "cpufreq"); break;
  case FTRACE_CPU_IDLE: cpu_counter(r, b, e, "cpuidle"); break;
  case FTRACE_NEWTASK: newtask_event(r, b, e); return false;
  case FTRACE_RENAME: rename_event(r, b, e); return false;
  default: return false;
  }
  b->n_sched += !shown;
  return true;
}

/* ---- columns of the scheduler ---- */

enum { COLUMNS = COMPACT_WOKEN_NAME + 1 };

/* The columns of a CompactSched, and the names to which they refer by number. */
struct compact {
  struct pb column[COLUMNS];
  tk_id *names;
  uint32_t n_names, cap_names;
};

static void add_name(struct perfetto *r, struct compact *c, const struct pb_field *f) {
  if (!mem_grow(&r->t->store->mem, (void **)&c->names, &c->cap_names, (uint64_t)c->n_names + 1, sizeof *c->names)) return;
  c->names[c->n_names++] = f->value ? perfetto_field_text(r, f) : 0;
}

static void read_columns(struct perfetto *r, const struct pb_field *field, struct compact *c) {
  struct pb in = pb_inside(field);
  struct pb_field f;
  while (pb_next(&in, &f)) {
    if (f.wire != PB_BYTES) continue;
    if (f.number == COMPACT_NAMES) add_name(r, c, &f);
    else if (f.number < COLUMNS) c->column[f.number] = pb_inside(&f);
  }
}

static bool next_of(struct compact *c, unsigned column, uint64_t *v) {
  struct pb *in = &c->column[column];
  return in->p < in->end && pb_varint(in, v);
}

static tk_id name_of(const struct compact *c, uint64_t at) { return at < c->n_names ? c->names[at] : 0; }

static void compact_switches(struct perfetto *r, struct bundle *b, struct compact *c) {
  uint64_t time = 0, delta, state, tid, name;
  while (next_of(c, COMPACT_SWITCH_TIME, &delta) && next_of(c, COMPACT_PREV_STATE, &state) && next_of(c, COMPACT_NEXT_TID, &tid) &&
         next_of(c, COMPACT_NEXT_NAME, &name)) {
    time += delta;
    const struct sched_switch s = {.machine = b->machine, .cpu = b->cpu, .ns = time_in(r, b, time).ns,
                                   .prev_state = (uint16_t)state, .next_tid = (int32_t)tid, .next_name = name_of(c, name)};
    b->n_sched += !sched_switch(r, &s);
  }
}

static void compact_wakings(struct perfetto *r, struct bundle *b, struct compact *c) {
  uint64_t time = 0, delta, tid, name;
  while (next_of(c, COMPACT_WAKING_TIME, &delta) && next_of(c, COMPACT_WOKEN_TID, &tid) && next_of(c, COMPACT_WOKEN_NAME, &name)) {
    time += delta;
    const uint32_t thread = proc_thread(r, b->machine, (int32_t)tid, PROC_UNKNOWN);
    proc_name(r, thread, name_of(c, name), PROC_BY_SCHEDULER);
    b->n_sched += !sched_waking(r, thread, time_in(r, b, time).ns);
  }
}

static void take_compact(struct perfetto *r, struct bundle *b, const struct pb_field *field) {
  struct compact c = {.names = NULL};
  read_columns(r, field, &c);
  compact_switches(r, b, &c);
  compact_wakings(r, b, &c);
  mem_free(&r->t->store->mem, c.names);
}

void perfetto_ftrace(struct perfetto *r, const struct packet *k) {
  struct bundle b = read_head(r, k);
  struct pb c = pb_inside(&k->content);
  struct pb_field f;
  struct ftrace_event e;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(FTRACE_COMPACT, PB_BYTES)) take_compact(r, &b, &f);
    if (pb_field_key(&f) != PB_KEY(FTRACE_EVENT, PB_BYTES)) continue;
    if (!read_event(r, &b, &f, &e) || !take_event(r, &b, &e)) b.n_other++;
  }
  if (b.n_other) trace_notes(r->t, TK_NOTE_INFO, r->offset, "ftrace events kept only in Perfetto output", b.n_other);
  if (b.n_sched)
    trace_notes(r->t, TK_NOTE_INFO, r->offset, "scheduler events of threads: not read without the setting perfetto.sched", b.n_sched);
}
