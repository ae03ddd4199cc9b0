/* scan.h - what the first pass of a merge keeps of an input, and the file that it can be kept in (proto/scan.proto).
 *
 * A merge of ten thousand ranks on many machines begins with a scan of each, where the rank lies; the clocks of all are compared by the
 * scans alone.  A merge in one process takes the same, so both find the same clocks. */
#ifndef COMMAND_SCAN_H
#define COMMAND_SCAN_H

#include "align/align.h"
#include "format/format.h"
#include "graph/diagnostics.h"

enum {
  SCAN_SCHEMA = 1,
  SCAN_MOST = 64 << 10, /* bytes of a rank in a file */
  SCAN_ANCHORS = 2048,  /* of a rank: more make nothing better, and these fit */
  SCAN_STEPS = 512,
  SCAN_NAMES = 128,     /* the names with the greatest self time, as many as fit into */
  SCAN_NAMES_MOST = 12 << 10,
  SCAN_NAME = 160       /* bytes of one */
};

/* The pids of an input as it was read, before any of it was left out. */
struct scan_pids {
  int64_t *v;
  uint32_t n, processes; /* processes: those of no number, too */
};
/* In place of those that *to has, if any; the caller frees them.  False when memory runs out. */
bool scan_take_pids(struct scan_pids *to, struct tk_trace *t, struct mem *mem);

/* Bytes of a file of one format, in gzip or not; bare: without events.  0 = not known. */
struct scan_size {
  uint64_t bytes[2], bare[2];
};
enum { SCAN_PLAIN, SCAN_PACKED };

/* A training step: from the first to the last of its spans, by the rank's own clock. */
struct scan_step {
  int64_t number, start_ns, end_ns;
};

/* Spans of one name, on threads and streams. */
struct scan_name {
  const char *name;
  const uint8_t *sketch; /* how durations are spread: pairs of varints, a class since the one before and how many are in it */
  uint32_t n_name, n_sketch;
  uint64_t count, total_ns, self_ns, min_ns, max_ns;
};
/* A quantile, 0..1, of the durations. */
uint64_t scan_quantile(const struct scan_name *name, double q);

/* Of an input: who it is, when it was, and how much. */
struct scan {
  const char *input, *host; /* host: "" = unknown */
  int64_t rank;             /* -1 = neither the trace nor its name says it */
  bool merged;              /* of several ranks: the devices of its anchors are those, + 1 */
  int64_t world;            /* ranks of its job, 0 = unknown */
  int64_t zero_ns, start_ns, end_ns; /* by its own clock: what its times are printed against, its first event, the end of its last */
  enum tk_clock clock;
  uint64_t records, events, flow_points, size;
  const char *format;
  const char *run, *step;     /* that its place tells; "" = none */
  struct scan_pids pids;      /* not filled by scan_take */
  struct format_starts starts;
  struct scan_size sizes[FORMATS_MOST]; /* by the row of the format */
  struct scan_step *steps; /* by number, each once */
  uint32_t n_steps;
  bool more_steps;         /* than are kept */
  struct scan_name *names; /* the greatest self time first */
  uint32_t n_names;
};

/* How anchors are taken. */
struct scan_options {
  bool none;             /* no anchors: clocks are not compared */
  uint32_t input;        /* the anchors are of this one */
  uint32_t most;         /* anchors, 0 = SCAN_ANCHORS */
  const char *marker;    /* as in align_source */
  struct regexp *anchor;
};

/* The steps, and the names; in `keep`, names as long as the trace is.  False when memory runs out. */
bool scan_take_steps(struct scan *s, const struct tk_trace *t, struct arena *keep);
bool scan_take_names(struct scan *s, const struct tk_trace *t, struct arena *keep);
/* From the first to the last of all spans of steps first..last.  False if there is none. */
bool scan_steps_range(const struct scan *s, int64_t first, int64_t last, int64_t *start_ns, int64_t *end_ns);

/* How large it would be in the format `only`, or in each that is written in parts (NULL). */
bool scan_weigh(struct scan *s, const struct tk_trace *t, const struct format *only, struct tk_err *err);

/* Takes what there is of a trace: texts go to `notes`, which also gets what is to be said of its clocks; anchors to `anchors`, by the
 * trace's own clock.  False when memory runs out. */
bool scan_take(struct scan *s, struct align_anchors *anchors, struct tk_trace *t, const struct scan_options *opt,
               struct tk_diagnostics *notes);

/* ---- files ---- */

/* Appends one rank: its scan, those of the anchors that are its own (n of them), and what is said of it.  What is more than SCAN_MOST
 * loses anchors, alike on all ranks.  Failure sticks in the memory of `to`. */
void scan_print(struct buf *to, const struct scan *s, struct align_anchors *anchors, const char *const *notes, size_t n_notes);
/* The head of a file. */
void scan_print_head(struct buf *to);

/* The scans of files. */
struct scan_list {
  struct mem *mem;
  struct scan *v;
  uint32_t n, cap;
  uint32_t most; /* anchors that a rank keeps; 0 = all */
  struct arena arena;
};

/* Adds the number of the file's ranks to *n. */
bool scan_count(const char *path, struct mem *mem, uint32_t *n, struct tk_err *err);

/* Adds the ranks of the file `path`; their anchors go to `anchors`, as of inputs from list->n on, and their notes to `notes`. */
bool scan_read(struct scan_list *list, struct align_anchors *anchors, const char *path, struct tk_diagnostics *notes,
               struct tk_err *err);
void scan_list_free(struct scan_list *list);

#endif
