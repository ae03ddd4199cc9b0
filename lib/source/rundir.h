/* rundir.h - infers from the names in a folder or an archive which files are views of one thing, and their hosts and runs.
 *
 *     <logdir>/[step_100/]plugins/profile/<run>/<host>.xplane.pb           JAX, TensorFlow: a run is a folder
 *                                               <host>.trace.json.gz       its first million events
 *                                               perfetto_trace.json.gz     the same, without host, with the same limit
 *     <logdir>/pod-0/plugins/profile/<run>/localhost.xplane.pb, pod-1/...   each host has a folder of its own: one run
 *     <logdir>/<host>_<pid>.<time>.pt.trace.json[.gz]                      PyTorch's tensorboard_trace_handler: a run is a time
 *     <logdir>/<host>_<pid>_<time>_ascend_pt/...                           Ascend: a folder for each rank (bundle.h)
 *     <folder>/rank3.json.gz, <folder>/node3/trace.json                    anything else: a run is the folder
 *
 * Only names are used, so this works on any listing. Whether a file is a trace depends on its content and is decided elsewhere.
 */
#ifndef SOURCE_RUNDIR_H
#define SOURCE_RUNDIR_H

#include "base/mem.h"

/* Views of one session, best first: the first contains everything, the others are derived from it. */
enum rundir_view { VIEW_XPLANE, VIEW_TRACE_JSON, VIEW_OTHER, VIEW_PERFETTO_JSON };

struct rundir_file {
  const char *rel; /* input: path below the named folder, '/'-separated */
  int64_t time_ns; /* input: time of the last change */

  const char *folder; /* folder of its run, relative; "" */
  const char *key;    /* equal for folders of one run: those of several hosts, each in a folder of its own */
  const char *stem;   /* equal for views of one thing */
  const char *host;   /* "" = unknown */
  int64_t rank;       /* -1 = unknown */
  const char *bundle; /* path of its bundle (bundle.h); NULL = none */
  bool rank_beside;   /* the rank is from a file next to it */
  int64_t stamp_ns;   /* time in its name; 0 = none */
  uint32_t run;       /* index into the runs */
  uint32_t next;      /* index of the next best view of the same thing; UINT32_MAX = none */
  enum rundir_view view;
  bool profiler; /* named by a profiler */
  bool packed;
  bool best;     /* the view to read; these files make up the run */
};

struct rundir_run {
  const char *name; /* "2026_11_20_10_21_49", or the folder's name */
  const char *step; /* "100" for a folder "step_100"; "" */
  int64_t time_ns;
  bool profiler;
  bool session;   /* identified by the times in its files' names, to the nanosecond */
  unsigned again; /* number of earlier runs in the same second */
};

struct rundir {
  struct arena text;
  struct rundir_run *runs;
  uint32_t n_runs, cap_runs;
};

/* Fills in the members that are not inputs, and the runs. `root` is the absolute path of the named folder, for names of folders
 * above the files; with `one`, files that no profiler named form one run, whatever their folders. Returns false when memory
 * runs out. */
bool rundir_find(struct rundir *r, struct rundir_file *files, uint32_t n, const char *root, bool one);
void rundir_free(struct rundir *r);

/* Compares names so that rank2 precedes rank10. */
int rundir_compare(const char *a, const char *b);

/* True for "gpu_3": a worker that a user named, not a process of a host called gpu, whose number would be larger. */
bool rundir_is_worker(const char *name);

/* Finds the number after "rank" or "worker" in a name. */
bool rundir_rank(const char *name, int64_t *rank);

#endif
