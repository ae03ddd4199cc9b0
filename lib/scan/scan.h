/* scan.h - scan of an input: the data that the first pass of a merge collects, which can be stored in a file (proto/scan.proto).
 *
 * A merge of ten thousand ranks on many machines begins with a scan of each rank, on the machine that stores the rank. Only the
 * scans are needed to compare the clocks. A merge in one process uses the same data, so both find the same clocks. */
#ifndef SCAN_SCAN_H
#define SCAN_SCAN_H

#include "align/collect/collect.h"
#include "format/format.h"
#include "graph/diagnostics.h"

enum {
  SCAN_SCHEMA = 2,
  SCAN_MOST = 64 << 10, /* maximum number of bytes of a rank in a file */
  SCAN_ANCHORS = 2048,  /* maximum number of anchors of a rank; more would not improve the result, and this many fit */
  SCAN_STEPS = 512,
  SCAN_NAMES = 128,     /* most names; those with the most self time are stored, as many as fit */
  SCAN_NAMES_MOST = 12 << 10,
  SCAN_NAME = 160       /* maximum number of bytes of a name */
};

/* Pids of an input before anything was removed from it. */
struct scan_pids {
  int64_t *v;
  uint32_t n, processes; /* processes: number of processes, including those without a numeric pid */
};
/* Stores the pids of the trace in *to, replacing earlier ones; the caller frees to->v. Returns false if memory runs out. */
bool scan_take_pids(struct scan_pids *to, struct tk_trace *t, struct mem *mem);

/* Size of the input as a file of one format, plain and with gzip; bare: without events. 0 = unknown. */
struct scan_size {
  uint64_t bytes[2], bare[2];
};
enum { SCAN_PLAIN, SCAN_PACKED };

/* A training step: from the start of its first span to the end of its last span, on the rank's own clock. */
struct scan_step {
  int64_t number, start_ns, end_ns;
};

/* Spans of one name on threads and streams. */
struct scan_name {
  const char *name;
  const uint8_t *sketch; /* histogram of durations: pairs of varints, the difference from the previous class and a count */
  uint32_t n_name, n_sketch;
  uint64_t count, total_ns, self_ns, min_ns, max_ns;
};

/* Identity, time range and size of an input. */
struct scan {
  const char *input, *host; /* host: "" = unknown */
  int64_t rank;             /* -1 = neither the trace nor its name states it */
  bool compared;            /* true if the rank was found by comparing names of inputs, which may not be the inputs of the plan */
  uint32_t part;            /* 1 + index of the rank in its file; 0 = the file contains one rank */
  bool merged;              /* the input contains several ranks; the device numbers of its anchors are then rank + 1 */
  int64_t world;            /* ranks in its job; 0 = unknown */
  int64_t zero_ns, start_ns, end_ns; /* on its own clock: zero of printed times, start of the first event, end of the last event */
  enum tk_clock clock;
  uint64_t records, events, flow_points, size;
  const char *format;
  const char *run, *step;     /* from the path of the input; "" = unknown */
  struct align_gpu gpu;       /* in whole ns; unknown if the input contains several ranks */
  uint64_t mark;              /* result of scan_mark */
  struct scan_pids pids;      /* scan_take does not fill this in */
  struct format_starts starts;
  struct scan_size sizes[FORMATS_MOST]; /* by row of the format table */
  struct scan_step *steps; /* sorted by number, without duplicates */
  uint32_t n_steps;
  bool more_steps;         /* there are more steps than stored */
  struct scan_name *names; /* names with the most self time first */
  uint32_t n_names;
};

/* Options for collecting anchors. */
struct scan_options {
  bool none;             /* true: collect no anchors, because clocks are not compared */
  uint32_t input;        /* number of the input to which the anchors belong */
  uint32_t most;         /* largest number of anchors; 0 = SCAN_ANCHORS */
  const char *marker;    /* same as in align_source */
  struct regexp *anchor;
};

/* Scans a trace. Adds texts and remarks on its clocks to `notes`, and anchors, with times on the trace's own clock, to
 * `anchors`. Returns false if memory runs out. */
bool scan_take(struct scan *s, struct align_anchors *anchors, struct tk_trace *t, const struct scan_options *opt,
               struct tk_diagnostics *notes);

/* Returns a hash of the size, the first and the last events of a trace as it was read. It is equal for equal traces, whatever
 * their compression. */
uint64_t scan_mark(const struct tk_trace *t);

/* ---- files ---- */

/* Scans read from files. */
struct scan_list {
  struct mem *mem;
  struct scan *v;
  uint32_t n, cap;
  uint32_t most; /* anchors to keep per rank; 0 = all */
  struct arena arena;
};

#endif
