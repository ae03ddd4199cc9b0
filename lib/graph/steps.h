/* steps.h - the training steps of a trace and their times.
 *
 * A step is a span that the profiler created for a training step: "ProfilerStep#12" (PyTorch), a span with the arg step_num
 * (JAX's StepTraceAnnotation, TensorFlow's train steps), or a span "12" on a line called "Steps" (XLA's device planes). In
 * traces without these, spans mark steps by their names (step_names.h). If such spans nest, only the outermost is a step, so
 * that an event belongs to one step; the inner spans are used only by steps_range. */
#ifndef GRAPH_STEPS_H
#define GRAPH_STEPS_H

#include "kind.h"
#include "origin.h"
#include "trace.h"

struct step {
  int64_t number;
  tk_time start, end;
  tk_id track, event;
};

/* Origin of the steps that apply to a track. */
enum steps_source {
  STEPS_NONE,
  STEPS_COPIES, /* copies of its host's steps on a stream, where no thread marks steps */
  STEPS_HOST,   /* a thread of the track's rank */
  STEPS_DEVICE, /* a line of the track's device */
  STEPS_JOINED, /* the lines of all devices of the track's rank, if neither its device nor its host has steps */
  STEPS_OTHERS  /* another rank, if the track's rank has no steps */
};

/* Steps that apply to events, sorted by start; none contains another. */
struct steps_run {
  const struct step *v;
  uint32_t n;
  enum steps_source source;
  const struct steps_run *host; /* for a device: the steps of its host, if host and device number them differently; otherwise NULL */
};

struct steps {
  struct mem *mem;
  struct step *v; /* sorted by track, then by time; steps of one track may overlap, but none contains another */
  uint32_t n, cap;
  uint32_t main, n_main; /* range in v of the track with the most steps */
  struct step *inner;    /* spans within steps of their track, with numbers that no step has */
  uint32_t n_inner, cap_inner;
  /* Filled by steps_runs_init if there are steps: */
  struct steps_run *runs;      /* [0] is empty */
  uint32_t n_runs;
  uint32_t *own, *applied;     /* by track: the run that it marks; the run that applies to its device or rank */
  struct step *joined;         /* steps of runs that several devices mark */
  /* Filled by step_launches_link: */
  bool is_linked;
  tk_id *decided_by;           /* by event: the event whose start determines its step; NULL = each event determines its own step */
  const struct tk_event *events;
};

/* In decided_by: the event belongs to no step, because it was launched before the recording began. */
enum { STEPS_BEFORE = 0 };

/* Finds the steps. steps_runs_init also finds the steps that apply to each event, which steps_of and steps_at require. */
bool steps_init(struct steps *s, const struct tk_trace *t, struct mem *mem);
bool steps_runs_init(struct steps *s, const struct kinds *kinds, const struct track_origin *origins, struct mem *mem);
void steps_free(struct steps *s);
/* Returns the name of the span that marks the first step of the track with the most steps, of length *n; NULL if there is none, or for
 * a bare number, as on the line "Steps" of XPlane. */
const char *steps_name(const struct steps *s, const struct tk_trace *t, size_t *n);

/* Returns the steps that apply to the device or the rank of a track, even if the track itself marks others. */
const struct steps_run *steps_runs_of(const struct steps *s, tk_id track);
/* Returns the steps that the track marks, otherwise the steps that apply to its device or rank. */
const struct steps_run *steps_runs_own(const struct steps *s, tk_id track);
/* Returns the step of a run that contains the time; NULL if there is none. */
const struct step *steps_runs_at(const struct steps_run *run, tk_time ts);

/* Returns the event whose start decides to which step `e` belongs: `e` itself or the call that launched it. NULL if `e` belongs
 * to no step. */
const struct tk_event *steps_decider(const struct steps *s, const struct tk_event *e);
/* Finds the step of `e`: the step in which steps_decider(e) starts. If that event's own track marks steps, these are searched;
 * otherwise the steps that apply to its device or rank. Returns false if there is none. */
bool steps_of(const struct steps *s, const struct tk_event *e, int64_t *number);
/* Returns the step to which the event belongs, found as in steps_of; NULL if there is none. */
const struct step *steps_at(const struct steps *s, const struct tk_event *e);

/* True if `e` belongs to the step of the call that launched it, or to no step because it was launched before the recording
 * began. */
static inline bool steps_is_launched(const struct steps *s, const struct tk_event *e) {
  return s->decided_by && s->decided_by[e - s->events] != (tk_id)(e - s->events);
}

/* Finds the time range that all spans of steps first..last cover, on any track. Spans within steps count if no step has their
 * number, and the copies that a device has of its host's steps count only if the host has none of these steps. Returns false if there
 * are none. */
bool steps_range(const struct steps *s, int64_t first, int64_t last, tk_time *start, tk_time *end);

#endif
