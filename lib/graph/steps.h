/* steps.h - the training steps of a trace and their times.
 *
 * A step is a span that the profiler created for a training step: "ProfilerStep#12" (PyTorch), a span with the arg step_num
 * (JAX's StepTraceAnnotation, TensorFlow's train steps), or a span "12" on a line called "Steps" (XLA's device planes). In
 * traces without these, spans mark steps by their names (step_names.h). If such spans nest, only the outermost is a step, so
 * that an event belongs to one step; the others are known to steps_range only. */
#ifndef GRAPH_STEPS_H
#define GRAPH_STEPS_H

#include "trace.h"

struct step {
  int64_t number;
  tk_time start, end;
  tk_id track, event;
};

struct steps {
  struct mem *mem;
  struct step *v; /* sorted by track, then by time; steps of one track may overlap, but none contains another */
  uint32_t n, cap;
  uint32_t main, n_main; /* range in v of the track with the most steps */
  struct step *inner;    /* spans within steps of their track, with numbers that no step has */
  uint32_t n_inner, cap_inner;
};

bool steps_init(struct steps *s, const struct tk_trace *t, struct mem *mem);
void steps_free(struct steps *s);
/* Returns the name of the span that marks the first step of the track with the most steps, of length *n; NULL if there is none, or for
 * a bare number, as on the line "Steps" of XPlane. */
const char *steps_name(const struct steps *s, const struct tk_trace *t, size_t *n);

/* Finds the step in which the event starts: on its own track, otherwise on the track with the most steps. Returns false if
 * there is none. */
bool steps_of(const struct steps *s, const struct tk_event *e, int64_t *number);
/* Returns the step in which the event starts, found as in steps_of; NULL if there is none. */
const struct step *steps_at(const struct steps *s, const struct tk_event *e);

/* Finds the time range that all spans of steps first..last cover, on any track. Spans within steps count if no step has their
 * number. Returns false if there are none. */
bool steps_range(const struct steps *s, int64_t first, int64_t last, tk_time *start, tk_time *end);

#endif
