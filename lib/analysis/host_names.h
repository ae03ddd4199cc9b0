/* host_names.h - classes of host spans: what the host did while a span ran. */
#ifndef ANALYSIS_HOST_NAMES_H
#define ANALYSIS_HOST_NAMES_H

#include "graph/kind.h"
#include "graph/trace.h"

/* Classes in ascending order of precedence: on one thread, the class of a nested span is the higher of its own class and the
 * class of the span around it. */
enum host_class {
  HOST_NOTHING,    /* steps and annotations: labels, not activity of the host */
  HOST_PYTHON,     /* Python frames, and other functions that a tracer recorded */
  HOST_SYSTEM,     /* calls of the operating system, unless they wait */
  HOST_OP,         /* operators and XLA's runtimes */
  HOST_RUNTIME,    /* other calls of the device's runtime, such as allocations */
  HOST_LAUNCH,     /* calls that launch work */
  HOST_SYNC,       /* calls that block until the device is done */
  HOST_WAIT,       /* sleeps, and waits for locks, threads and sockets */
  HOST_CHECKPOINT, /* saves of checkpoints */
  HOST_GC,         /* garbage collections */
  HOST_INPUT,      /* data loaders and input pipelines */
  HOST_COMPILE,    /* compilers of XLA, Triton and PyTorch */
  HOST_CLASSES,
  HOST_MARK,       /* returned only by host_names_class: spans of the profiler itself, which are labels, not activity */
  HOST_BLOCKS      /* returned only by host_names_class: HOST_SYNC if the span's category or track shows that it is a runtime call */
};

/* Returns the class that the name and category of a span imply; HOST_NOTHING if they imply none. */
enum host_class host_names_class(const char *name, const char *cat);
/* Returns an array by class of the trace: true if events of the class only show that a profiler was active. The caller frees it with
 * mem_free; NULL if memory runs out. */
bool *host_names_marks(const struct tk_trace *t, struct mem *mem);
/* Returns the class of a span. `named`: the class that its name implies; `kind`: its kinds, a set of enum kind. */
enum host_class host_names_class_of(enum host_class named, unsigned kind);

#endif
