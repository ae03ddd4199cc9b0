/* kineto.h - interprets a PyTorch profiler trace for xprof: which process is the host, which processes are GPUs, and which op
 * and step launched each kernel.
 *
 * xprof's tables are built from planes called "/host:CPU" and "/device:GPU:0" and from stats of xprof's own collectors, which
 * Kineto does not write. The same information follows from Kineto's args, flows and nesting:
 *
 *     kernel -> the runtime call with the same correlation -> the op that encloses the call on its thread, and the step */
#ifndef FORMAT_XPLANE_KINETO_H
#define FORMAT_XPLANE_KINETO_H

#include "graph/kind.h"
#include "graph/trace.h"

enum kineto_role { KINETO_OTHER, KINETO_HOST, KINETO_DEVICE };

struct kineto_step {
  tk_time start, end;
  tk_id event;
  int64_t group; /* step number for xprof: N of "ProfilerStep#N" if these numbers increase, otherwise the index of the step */
};

/* A runtime call, and the class of the op around it (0 = none). */
struct kineto_launch {
  tk_id call, op;
};

/* Peak memory use of an allocator up to and including one of its samples. */
struct kineto_peak {
  tk_id event;
  int64_t bytes;
};

struct kineto {
  struct mem *mem;
  const struct tk_trace *t;
  struct kinds kinds;
  uint8_t *roles;       /* by track: enum kineto_role of a process */
  uint32_t *launch_of;  /* by event on a device: index in `launches`; 0 = none */
  tk_id host;           /* the Python process; 0 = none */
  tk_id steps_on;       /* thread whose steps are used */
  struct kineto_step *steps;      /* sorted by time */
  struct kineto_launch *launches; /* [1..n_launches] */
  struct kineto_peak *peaks;      /* sorted by event */
  uint32_t n_described; /* number of devices described so far */
  uint32_t n_steps, n_launches, n_peaks, cap_steps, cap_launches, cap_peaks;
  struct {
    tk_id correlation, external, device, grid, block, regs, shared, occupancy, bytes, size, address, device_type, device_id, allocated,
      reserved;
  } keys; /* string ids; 0 = the trace lacks the string */
};

/* Interprets a trace. Returns NULL if the trace is not from Kineto, if it has several ranks (xprof accepts one per file), or
 * when memory runs out. Only processes for which `wanted` returns true are considered. */
struct kineto *kineto_new(const struct tk_trace *t, bool (*wanted)(const void *arg, tk_id process), const void *arg, struct mem *mem);
void kineto_free(struct kineto *k);

/* Returns the process of a track. */
static inline tk_id kineto_process(const struct tk_trace *t, tk_id track) {
  return t->tracks[track].kind == TK_TRACK_PROCESS ? track : t->tracks[track].parent;
}
/* Returns the call that launched the event, and the op around the call. */
static inline struct kineto_launch kineto_launch_of(const struct kineto *k, tk_id event) {
  return k->launches[k->launch_of[event]];
}
/* Returns the step that contains the event (for an event on a device, that contains its launch); NULL = none. */
const struct kineto_step *kineto_step_of(const struct kineto *k, tk_id event);
/* Finds the arg of the event with this key. */
bool kineto_arg(const struct kineto *k, tk_id event, tk_id key, struct tk_arg *arg);
/* Returns the value of an integer arg; -1 if there is none. */
int64_t kineto_int(const struct kineto *k, tk_id event, tk_id key);
/* Returns the peak use, in bytes, of the sample's allocator up to this sample; -1 = unknown. */
int64_t kineto_peak_of(const struct kineto *k, tk_id event);
/* True if the event is a sample of an allocator, which Kineto calls "[memory]". */
bool kineto_is_memory(const struct kineto *k, const struct tk_event *e);

#endif
