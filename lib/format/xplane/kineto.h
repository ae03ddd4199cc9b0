/* kineto.h - a trace of PyTorch's profiler as xprof understands one: which process is the host and which are GPUs, which op launched
 * what ran there, and in which step it was.
 *
 * xprof's tables are made of planes called "/host:CPU" and "/device:GPU:0" and of stats that its own collectors write, which
 * Kineto's events have no like of.  What they say can be told from Kineto's args, flows and nesting:
 *
 *     kernel -> the runtime's call of the same correlation -> the op that encloses the call on its thread, and the step
 */
#ifndef FORMAT_XPLANE_KINETO_H
#define FORMAT_XPLANE_KINETO_H

#include "graph/kind.h"
#include "graph/trace.h"

enum kineto_role { KINETO_OTHER, KINETO_HOST, KINETO_DEVICE };

struct kineto_step {
  tk_time start, end;
  tk_id event;
  int64_t group; /* what xprof calls it by: the number in "ProfilerStep#4", if those of all steps ascend, else its place */
};

/* A call of the runtime, and the class of the op that it is under (0 = none). */
struct kineto_launch {
  tk_id call, op;
};

/* What an allocator has used at most until one of its samples. */
struct kineto_peak {
  tk_id event;
  int64_t bytes;
};

struct kineto {
  struct mem *mem;
  const struct tk_trace *t;
  struct kinds kinds;
  uint8_t *roles;       /* by track: enum kineto_role of a process */
  uint32_t *launch_of;  /* by event: place in launches, 0 = none: of what runs on devices */
  tk_id host;           /* the process of Python; 0 = none */
  tk_id steps_on;       /* the thread that the steps are on */
  struct kineto_step *steps;      /* by time */
  struct kineto_launch *launches; /* [1..n_launches] */
  struct kineto_peak *peaks;      /* by event */
  uint32_t n_steps, n_launches, n_peaks, cap_steps, cap_launches, cap_peaks;
  struct {
    tk_id correlation, external, device, grid, block, regs, shared, occupancy, bytes, size, address, device_type, device_id, allocated,
      reserved;
  } keys; /* strings of the trace, 0 = it has none */
};

/* NULL: the trace is not Kineto's, or is of several ranks, of which xprof takes one from a file, or memory has run out.  Processes are
 * those that `wanted` says. */
struct kineto *kineto_new(const struct tk_trace *t, bool (*wanted)(const void *arg, tk_id process), const void *arg, struct mem *mem);
void kineto_free(struct kineto *k);

/* The process of a track. */
static inline tk_id kineto_process(const struct tk_trace *t, tk_id track) {
  return t->tracks[track].kind == TK_PROCESS ? track : t->tracks[track].parent;
}
/* The call that launched the event, with its op. */
static inline struct kineto_launch kineto_launch_of(const struct kineto *k, tk_id event) {
  return k->launches[k->launch_of[event]];
}
/* The step that the event is in: what runs on a device is in that in which it was launched.  NULL = in none. */
const struct kineto_step *kineto_step_of(const struct kineto *k, tk_id event);
/* The arg of the event under this key. */
bool kineto_arg(const struct kineto *k, tk_id event, tk_id key, struct tk_arg *arg);
/* The number that is the arg; -1 = there is none. */
int64_t kineto_int(const struct kineto *k, tk_id event, tk_id key);
/* What its allocator has used at most until this sample. */
int64_t kineto_peak_of(const struct kineto *k, tk_id event);
/* Is the event the sample of an allocator, "[memory]"? */
bool kineto_is_memory(const struct kineto *k, const struct tk_event *e);

#endif
