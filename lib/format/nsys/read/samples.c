/* samples.c - reads the samples of call stacks taken on each CPU (COMPOSITE_EVENTS) and their stacks (SAMPLING_CALLCHAINS).
 *
 * cpuCycles is 1 for a periodic sample, and 0 for a stack that was recorded at a context switch. NVIDIA's own views of
 * functions add up this column. So a sample has weight 1, whatever the column is called. Stacks of context switches are only
 * read if scheduling is requested (sched.c), because they would count functions that wait as functions that compute. */
#include "samples.h"

#include "chains.h"
#include "graph/args.h"
#include "graph/stack.h"
#include "sched.h"
#include "tracks.h"

static void take_stack(struct nsys *r, const struct chain_row *v, uint32_t n, void *arg) {
  struct map *stacks = arg;
  tk_id stack = 0;
  for (uint32_t i = n; i-- > 0;)
    stack = stack_push(r->d.t, stack, stack_frame(r->d.t, &(struct tk_frame){.name = v[i].symbol, .module = v[i].module}));
  map_put(stacks, (uint64_t)v->id, stack);
}

enum sample_column { S_ID, S_START, S_CPU, S_STATE, S_THREAD, S_CYCLES };

struct sampling {
  struct nsys *r;
  struct map stacks; /* id of a sample -> stack */
  tk_id unit, cpu, state, periodic, switched;
  uint64_t unread; /* number of stacks of context switches that were not requested */
};

static uint32_t sample_args(const struct sampling *x, const struct sqlite_scan *row) {
  struct tk_trace *t = x->r->d.t;
  const struct cell *cpu = &row->v[S_CPU], *state = &row->v[S_STATE];
  const bool is_running = state->type != CELL_INT || state->i == NSYS_RUNNING || state->i == NSYS_UNKNOWN;
  if (cpu->type != CELL_INT && is_running) return 0;
  args_begin(t);
  if (cpu->type == CELL_INT) args_int(t, x->cpu, cpu->i);
  if (!is_running) args_str(t, x->state, TK_ARG_STR, trace_text(t, sched_state_name(state->i)));
  return args_end(t);
}

static void take_composite(const struct sqlite_scan *row, void *arg) {
  struct sampling *x = arg;
  struct nsys *r = x->r;
  struct tk_sample s = {.unit = x->unit, .weight = 1};
  const bool is_switch = row->v[S_CYCLES].type == CELL_INT && row->v[S_CYCLES].i == 0;
  if (is_switch && !sched_is_wanted(r)) {
    x->unread++;
    return;
  }
  if (row->v[S_THREAD].type != CELL_INT || !database_time(&r->d, &row->v[S_START], &s.ts)) {
    trace_note(r->d.t, TK_NOTE_REPAIR, UINT64_MAX, "call-stack samples that have no thread or no time: skipped");
    r->d.t->counts.dropped++;
    return;
  }
  const uint32_t *stack = map_get(&x->stacks, (uint64_t)row->v[S_ID].i);
  s.track = tracks_thread(r, row->v[S_THREAD].i);
  s.stack = stack && row->v[S_ID].type == CELL_INT ? *stack : 0;
  s.cat = is_switch ? x->switched : x->periodic;
  const uint32_t args = sample_args(x, row);
  stack_add_with(r->d.t, &s, args);
}

bool samples_read(struct nsys *r) {
  static const char *const COLUMNS[] = {"id", "start", "cpu", "threadState", "globalTid", "cpuCycles", NULL};
  struct tk_trace *t = r->d.t;
  if (!sqlite_find(r->d.db, "COMPOSITE_EVENTS")) return true;
  struct sampling x = {.r = r, .unit = trace_text(t, "samples"), .cpu = trace_text(t, "cpu"), .state = trace_text(t, "thread state"),
                       .periodic = trace_text(t, "cpu_sample"), .switched = trace_text(t, "context_switch")};
  map_init(&x.stacks, &t->store->mem);
  const bool ok = chains_each(r, "SAMPLING_CALLCHAINS", take_stack, &x.stacks) &&
    database_each(&r->d, "COMPOSITE_EVENTS", COLUMNS, take_composite, &x);
  map_free(&x.stacks);
  static const char UNREAD[] = "call stacks of context switches are not read without the setting nsys.sched";
  if (x.unread) trace_notes(t, TK_NOTE_FACT, UINT64_MAX, UNREAD, x.unread);
  return ok;
}
