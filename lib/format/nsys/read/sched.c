/* sched.c - reads SCHED_EVENTS: a row for each time that a thread began to run on a CPU or left it.
 *
 * As in the reader of Perfetto, scheduling is read only on request, and becomes the same tracks:
 *
 *     process "CPU scheduling", thread "CPU 0"    a span for each time that a thread ran, with the name of the thread
 *     a track below each thread                   "Running", "Runnable (Preempted)", "Sleeping", ...
 *
 * A row has no end, so rows are sorted by time, and each ends the spans that the previous row of its CPU and of its thread
 * began. */
#include "sched.h"

#include <stdio.h>
#include <string.h>

#include "base/keyed.h"
#include "format/scheduler.h"
#include "graph/args.h"
#include "texts.h"
#include "tracks.h"

bool sched_is_wanted(const struct nsys *r) { return r->d.opt->with & TK_WITH_NSYS_SCHED; }

/* ---- states ---- */

/* Returns the name of a value of ENUM_SAMPLING_THREAD_STATE. A thread that leaves its CPU although it is running or not
 * scheduled was preempted. States of Windows have no equivalent on Linux, and keep their labels. */
const char *sched_state_name(int64_t state) {
  switch (state) {
  case NSYS_RUNNING: case 6: return scheduler_name(SCHEDULER_PREEMPTED); /* 6: unscheduled */
  case 2: return scheduler_name(SCHEDULER_SLEEPING);
  case 3: return scheduler_name(SCHEDULER_BLOCKED);
  case 4: return scheduler_name(SCHEDULER_STOPPED);
  case 5: return scheduler_name(SCHEDULER_DEAD);
  case 7: return "Waiting";
  case 8: return "OS runtime";
  case 9: return "Initialized";
  case 10: return "Transition";
  default: return "Not running";
  }
}

/* ---- rows ---- */

struct nsys_switch {
  tk_time ts;
  tk_id thread;
  uint32_t cpu;
  tk_id state, block; /* strings: state of a thread that leaves the CPU, and why it is blocked */
  bool runs, known;   /* known: the state was recorded */
};

enum sched_column { W_START, W_CPU, W_IN, W_THREAD, W_STATE, W_BLOCK };

static void take_switch(const struct sqlite_scan *row, void *arg) {
  struct nsys *r = arg;
  const struct cell *cpu = &row->v[W_CPU], *state = &row->v[W_STATE], *block = &row->v[W_BLOCK];
  struct nsys_switch s = {.runs = row->v[W_IN].i != 0};
  const bool has_place = cpu->type == CELL_INT && cpu->i >= 0 && cpu->i <= UINT32_MAX && row->v[W_THREAD].type == CELL_INT;
  if (!has_place || row->v[W_IN].type != CELL_INT || !database_time(&r->d, &row->v[W_START], &s.ts)) {
    trace_note(r->d.t, TK_NOTE_REPAIR, UINT64_MAX, "scheduling events without a time, CPU or thread: skipped");
    r->d.t->counts.dropped++;
    return;
  }
  if ((row->v[W_THREAD].i & 0xffffff) == 0) return; /* the idle thread */
  s.cpu = (uint32_t)cpu->i;
  s.thread = tracks_thread(r, row->v[W_THREAD].i);
  s.known = !s.runs && state->type == CELL_INT && state->i != NSYS_UNKNOWN;
  if (!s.runs) s.state = trace_text(r->d.t, sched_state_name(s.known ? state->i : NSYS_UNKNOWN));
  if (!s.runs && block->type == CELL_INT) s.block = texts_label(r, "ENUM_SCHEDULING_THREAD_BLOCK", block->i);
  buf_append(&r->switches, &s, sizeof s);
}

bool sched_read(struct nsys *r) {
  static const char *const COLUMNS[] = {"start", "cpu", "isSchedIn", "globalTid", "threadState", "threadBlock", NULL};
  const struct sqlite_table *table = sqlite_find(r->d.db, "SCHED_EVENTS");
  if (sched_is_wanted(r)) return database_each(&r->d, "SCHED_EVENTS", COLUMNS, take_switch, r);
  const uint64_t n = table ? sqlite_count(r->d.db, table) : 0;
  if (n) trace_notes(r->d.t, TK_NOTE_FACT, UINT64_MAX, "rows of table SCHED_EVENTS are not read without the setting nsys.sched", n);
  return true;
}

/* ---- spans ---- */

/* Current entry of a row: the thread that runs on a CPU, or the state of a thread. */
struct current {
  tk_id track;        /* row of the CPU, or of the thread's states; 0 = none yet */
  tk_id name, block;  /* strings; name 0 = unknown */
  tk_id thread;       /* for a CPU: track of the thread that runs */
  tk_time since;
};

struct scheduler {
  struct nsys *r;
  struct map cpus;        /* number -> index in `cpu` + 1 */
  struct buf cpu;         /* array of struct current */
  struct current *thread; /* by track: current state of the thread */
  tk_id runs, states, tid, end_state, block;
};

static void add_run(const struct scheduler *s, const struct current *c, tk_time end, tk_id state, bool finished) {
  struct tk_trace *t = s->r->d.t;
  args_begin(t);
  args_int(t, s->tid, t->tracks[c->thread].tid.num);
  if (state) args_str(t, s->end_state, TK_ARG_STR, state);
  const struct tk_event e = {.kind = TK_EVENT_SPAN, .ts = c->since, .dur = end - c->since, .track = c->track, .args = args_end(t),
                             .cls = trace_class(t, c->name, s->runs), .flags = finished ? 0 : TK_FLAG_PAIRED | TK_FLAG_UNFINISHED};
  database_add(&s->r->d, &e);
}

static void add_state(const struct scheduler *s, const struct current *c, tk_time end, bool finished) {
  struct tk_trace *t = s->r->d.t;
  struct tk_event e = {.kind = TK_EVENT_SPAN, .ts = c->since, .dur = end - c->since, .track = c->track,
                       .cls = trace_class(t, c->name, s->states), .flags = finished ? 0 : TK_FLAG_PAIRED | TK_FLAG_UNFINISHED};
  if (c->block) {
    args_begin(t);
    args_str(t, s->block, TK_ARG_STR, c->block);
    e.args = args_end(t);
  }
  database_add(&s->r->d, &e);
}

static tk_id add_row_of_cpu(const struct scheduler *s, uint32_t number) {
  struct tk_trace *t = s->r->d.t;
  char text[32];
  snprintf(text, sizeof text, "CPU %u", number);
  const tk_id process = trace_text(t, SCHEDULER_PROCESS), name = trace_text(t, text);
  database_name(&s->r->d, trace_process(t, ident_str(process)), process);
  const tk_id track = trace_track(t, TK_TRACK_THREAD, ident_str(process), ident_str(name), 0);
  database_name(&s->r->d, track, name);
  t->tracks[track].has_sort = true;
  t->tracks[track].sort_index = number;
  return track;
}

static tk_id add_row_of_states(const struct scheduler *s, tk_id thread) {
  struct tk_trace *t = s->r->d.t;
  struct buf *b = &s->r->text;
  char number[40];
  b->len = 0;
  if (t->tracks[thread].name) buf_text(b, tk_string(t, t->tracks[thread].name, NULL));
  snprintf(number, sizeof number, "%s%lld state", b->len ? " " : "", (long long)t->tracks[thread].tid.num);
  buf_text(b, number);
  return trace_track(t, TK_TRACK_THREAD, t->tracks[thread].pid, ident_str(trace_string(t, b->data, b->len)), 0);
}

static struct current *cpu_of(struct scheduler *s, uint32_t number) {
  uint32_t *known = map_put(&s->cpus, number, 0);
  const struct current none = {.track = 0};
  if (!known || (!*known && !buf_append(&s->cpu, &none, sizeof none))) return NULL;
  if (!*known) *known = s->cpus.n;
  struct current *c = (struct current *)(void *)s->cpu.data + *known - 1;
  if (!c->track) c->track = add_row_of_cpu(s, number);
  return c;
}

/* Begins and ends runs on a CPU. A thread that leaves the CPU ends only its own run, because the row of a later run on the same
 * CPU may come first. */
static void change_cpu(struct scheduler *s, const struct nsys_switch *w) {
  struct tk_trace *t = s->r->d.t;
  struct current *c = cpu_of(s, w->cpu);
  if (!c || (!w->runs && c->thread != w->thread)) return;
  if (c->name) add_run(s, c, w->ts, w->known ? w->state : 0, true);
  c->name = 0;
  if (!w->runs) return;
  const tk_id name = t->tracks[w->thread].name;
  *c = (struct current){.track = c->track, .name = name ? name : trace_text(t, "thread"), .thread = w->thread, .since = w->ts};
}

static void change_thread(struct scheduler *s, const struct nsys_switch *w) {
  struct tk_trace *t = s->r->d.t;
  struct current *c = &s->thread[w->thread];
  if (!c->track) c->track = add_row_of_states(s, w->thread);
  if (c->name) add_state(s, c, w->ts, true);
  c->name = w->runs ? trace_text(t, scheduler_name(SCHEDULER_RUNNING)) : w->state;
  c->block = w->block;
  c->since = w->ts;
}

static void add_open(struct scheduler *s, tk_time end, tk_id n_threads) {
  const struct current *cpu = (const struct current *)(const void *)s->cpu.data;
  for (size_t i = 0; i < s->cpu.len / sizeof *cpu; i++)
    if (cpu[i].name) add_run(s, &cpu[i], end, 0, false);
  for (tk_id i = 1; i <= n_threads; i++)
    if (s->thread[i].name) add_state(s, &s->thread[i], end, false);
}

static void add_sorted(struct scheduler *s, const struct nsys_switch *v, const struct keyed *sorted, uint32_t n) {
  const tk_id n_threads = s->r->d.t->n_tracks;
  memset(s->thread, 0, ((size_t)n_threads + 1) * sizeof *s->thread);
  for (uint32_t i = 0; i < n; i++) {
    change_cpu(s, &v[sorted[i].index]);
    change_thread(s, &v[sorted[i].index]);
  }
  add_open(s, v[sorted[n - 1].index].ts, n_threads);
}

bool sched_add(struct nsys *r) {
  struct tk_trace *t = r->d.t;
  struct mem *mem = &t->store->mem;
  const struct nsys_switch *v = (const struct nsys_switch *)(const void *)r->switches.data;
  const size_t n = r->switches.len / sizeof *v;
  if (!n) return true;
  if (n > UINT32_MAX) return err_set(r->d.err, TK_ELIMIT, "more than 2^32 scheduling events");
  struct scheduler s = {.r = r, .cpu.mem = mem, .runs = trace_text(t, SCHEDULER_RUNS), .states = trace_text(t, SCHEDULER_STATES),
                        .tid = trace_text(t, "tid"), .end_state = trace_text(t, "end_state"), .block = trace_text(t, "blocked by")};
  struct keyed *keys = mem_array(mem, n, sizeof *keys), *spare = mem_array(mem, n, sizeof *spare);
  map_init(&s.cpus, mem);
  s.thread = mem_array(mem, (uint64_t)t->n_tracks + 1, sizeof *s.thread);
  for (size_t i = 0; keys && i < n; i++) keys[i] = (struct keyed){v[i].ts, (uint32_t)i};
  if (keys && spare && s.thread) add_sorted(&s, v, keyed_sort(keys, spare, (uint32_t)n), (uint32_t)n);
  mem_free(mem, keys);
  mem_free(mem, spare);
  mem_free(mem, s.thread);
  map_free(&s.cpus);
  buf_free(&s.cpu);
  return true;
}
