/* derive.h - declarations shared by the files of tk_derive, which adds the step of each event, and lines derived from stats of events.
 *
 *     derive.c          tk_derive: planes, args added to events
 *     derive_groups.c   steps as xprof finds them: roots, and the events that roots contain, launch or wake
 *     derive_lines.c    lines of devices: steps, modules, ops, scopes, source */
#ifndef OP_DERIVE_H
#define OP_DERIVE_H

#include "graph/trace.h"

enum plane_kind { PLANE_OTHER, PLANE_HOST, PLANE_GPU, PLANE_TPU };

struct derive_root {
  tk_id event;
  int64_t level;
};

struct derive {
  struct mem *mem;
  struct tk_trace *t;
  uint8_t *planes;   /* by track, for processes: enum plane_kind */
  tk_id *first_line, *next_line; /* by track: first thread of a process; next thread of the same process; 0 = none */
  uint32_t *groups;  /* by event: number of its group (step), from 1; 0 = none */
  uint32_t n_groups;
  tk_id *names;      /* [1..n_groups]: name of the step; 0 = unknown */
  uint32_t cap_names;
  struct {
    tk_id root, producer_type, producer, consumer_type, consumer, async, correlation, iteration, step, graph_type, group, step_name;
    tk_id module, op, program, tf_op, kernel, source, mark, own_name, long_name;
  } keys; /* string ids; 0 = not in the trace */
  bool has_tpu;
  uint64_t n_events; /* number of events before any were derived */
};

static inline bool derive_arg_of(const struct tk_trace *t, uint32_t args, tk_id key, struct tk_arg *arg) {
  struct tk_args it = tk_args_of(t, args);
  while (key && tk_args_next(&it, arg))
    if (arg->key == key) return true;
  return false;
}
/* Finds an arg of the event, or otherwise of its class. */
static inline bool derive_arg(const struct derive *d, tk_id event, tk_id key, struct tk_arg *arg) {
  const struct tk_event *e = &d->t->events[event];
  return derive_arg_of(d->t, e->args, key, arg) || derive_arg_of(d->t, d->t->classes[e->cls].args, key, arg);
}
static inline bool derive_int(const struct derive *d, tk_id event, tk_id key, int64_t *v) {
  struct tk_arg arg;
  if (!key || !derive_arg(d, event, key, &arg) || (arg.type != TK_ARG_INT && arg.type != TK_ARG_UINT)) return false;
  *v = arg.i;
  return true;
}
static inline tk_id derive_text(const struct derive *d, tk_id event, tk_id key) {
  struct tk_arg arg;
  return key && derive_arg(d, event, key, &arg) && (arg.type == TK_ARG_STR || arg.type == TK_ARG_REF) ? arg.s : 0;
}
static inline tk_time derive_end(const struct tk_event *e) { return e->ts + e->dur; }

/* ---- derive_groups.c ---- */

/* Fills `groups` and `names`. Appends to *roots the events that get the name of their step. Returns false if memory runs out. */
bool derive_groups(struct derive *d, struct buf *roots);
/* Returns the *n events of all lines of a process, sorted by time; the caller frees them. */
tk_id *derive_sorted(const struct derive *d, tk_id process, uint32_t *n);

/* ---- derive_lines.c ---- */

/* Adds the derived lines of a device, and increases *n_lines by their number. Returns false if memory runs out. */
bool derive_lines(struct derive *d, tk_id process, uint64_t *n_lines);

#endif
