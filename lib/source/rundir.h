/* rundir.h - what the names in a folder or an archive say: which files are views of one thing, of which host, in which run.
 *
 *     <logdir>/[step_100/]plugins/profile/<run>/<host>.xplane.pb           JAX, TensorFlow: a run is a folder
 *                                               <host>.trace.json.gz       the first million events of the same
 *                                               perfetto_trace.json.gz     the same again, with neither host nor cap lifted
 *     <logdir>/<host>_<pid>.<time>.pt.trace.json[.gz]                      PyTorch's tensorboard_trace_handler: a run is a time
 *     <folder>/rank3.json.gz, <folder>/node3/trace.json                    anything else: a run is the folder
 *
 * Names alone are looked at, so this works on any listing.  Whether a file is a trace is a question of content and of others. */
#ifndef SOURCE_RUNDIR_H
#define SOURCE_RUNDIR_H

#include "base/mem.h"

/* Views of one session, the best first (which is the whole, the others are made from it). */
enum rundir_view { VIEW_XPLANE, VIEW_TRACE_JSON, VIEW_OTHER, VIEW_PERFETTO_JSON };

struct rundir_file {
  const char *rel; /* given: path below what was named, '/'-separated */
  int64_t time_ns; /* given: of its last change */

  const char *folder; /* its run's, below what was named; "" */
  const char *stem;   /* views of one thing have the same */
  const char *host;   /* "" = not told */
  int64_t rank;       /* -1 = not told */
  int64_t stamp_ns;   /* of its name, 0 = none */
  uint32_t run;       /* index into the runs */
  uint32_t next;      /* the next best view of the same thing, UINT32_MAX = none */
  enum rundir_view view;
  bool profiler; /* a profiler gave it its name */
  bool packed;
  bool best;     /* the view to read; of its run exactly these make up the whole */
};

struct rundir_run {
  const char *name; /* "2026_11_20_10_21_49", or the folder's */
  const char *step; /* "100" of a folder "step_100"; "" */
  int64_t time_ns;
  bool profiler;
  bool session;   /* told by the time in its files' names, to the nanosecond */
  unsigned again; /* runs before it of the same second */
};

struct rundir {
  struct arena text;
  struct rundir_run *runs;
  uint32_t n_runs, cap_runs;
};

/* Fills in what is not given, and the runs.  `root` is the absolute path of what was named (for the names of folders above the
 * files); `one` says that files that no profiler named are one run, whatever folders they are in.  False when memory has run out. */
bool rundir_find(struct rundir *r, struct rundir_file *files, uint32_t n, const char *root, bool one);
void rundir_free(struct rundir *r);

/* Order of names in which rank2 comes before rank10. */
int rundir_compare(const char *a, const char *b);

/* The number behind "rank" or "worker" in a name. */
bool rundir_rank(const char *name, int64_t *rank);

#endif
