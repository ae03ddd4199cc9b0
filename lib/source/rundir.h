/* rundir.h - infers from file names in a folder or an archive which files show the same recording (are views of it), and their
 * hosts and runs.
 *
 *     <logdir>/[step_100/]plugins/profile/<run>/<host>.xplane.pb           JAX, TensorFlow: each run has a folder
 *                                               <host>.trace.json.gz       its first million events
 *                                               perfetto_trace.json.gz     the same, without host, with the same limit
 *     <logdir>/pod-0/plugins/profile/<run>/localhost.xplane.pb, pod-1/...   each host has its own folder; together they are one run
 *     <logdir>/plugins/profile/<time>/hostA.xplane.pb, <time + 2 s>/hostB...  so are folders of different hosts, named seconds apart
 *     <logdir>/<host>_<pid>.<time>.pt.trace.json[.gz]                      PyTorch's tensorboard_trace_handler: a run has a common time
 *     <logdir>/<host>_<pid>_<time>_ascend_pt/...                           Ascend: a folder for each rank (bundle.h)
 *     <folder>/rank3.json.gz, <folder>/node3/trace.json                    anything else: each folder is a run
 *
 * Only names are used, so this works on any listing. Whether a file is a trace depends on its content, which sources.c inspects.
 */
#ifndef SOURCE_RUNDIR_H
#define SOURCE_RUNDIR_H

#include "base/mem.h"

/* Kinds of views of one session, best first: the first one is complete, and the others are derived from it. */
enum rundir_view { VIEW_XPLANE, VIEW_TRACE_JSON, VIEW_OTHER, VIEW_PERFETTO_JSON };

struct rundir_file {
  const char *rel; /* set by the caller: path below the named folder, with '/' between folders */
  int64_t time_ns; /* set by the caller: time of the last change */

  const char *folder; /* relative path of its run's folder; "" = the named folder */
  const char *key;    /* equal for all folders of one run; a run has several folders if each host has its own */
  const char *stem;   /* equal for all views of one session */
  const char *host;   /* "" = unknown */
  int64_t rank;       /* -1 = unknown */
  const char *bundle; /* path of its bundle (bundle.h); NULL = not in a bundle */
  bool rank_beside;   /* the rank comes from a file next to the trace */
  int64_t stamp_ns;   /* time in the file's name; 0 = none */
  uint32_t run;       /* index into the runs */
  uint32_t next;      /* index of the next best view of the same session; UINT32_MAX = none */
  enum rundir_view view;
  bool profiler; /* the file has a name that a profiler gives */
  bool packed;
  bool best;     /* true for the view of its session that is read */
};

struct rundir_run {
  const char *name; /* such as "2026_11_20_10_21_49", or the folder's name */
  const char *last; /* name of the last folder, if the hosts of one run gave their folders different times as names; else NULL */
  const char *step; /* "100" if the folder is called "step_100"; "" = no step */
  int64_t time_ns;
  bool profiler;
  bool has_hosts; /* files of the run state their hosts in their names */
  bool session;   /* the times in the files' names, exact to the nanosecond, identify the run */
  unsigned again; /* number of earlier runs in the same second */
};

struct rundir {
  struct arena text;
  struct rundir_run *runs;
  uint32_t n_runs, cap_runs;
};

/* Fills in the runs, and all members of the files that the caller did not set. `root`: absolute path of the named folder, whose
 * parent folders may matter. `one`: files that no profiler named form a single run, even in different folders. Returns false
 * when memory runs out. */
bool rundir_find(struct rundir *r, struct rundir_file *files, uint32_t n, const char *root, bool one);
void rundir_free(struct rundir *r);

/* Compares names in natural order: rank2 precedes rank10. */
int rundir_compare(const char *a, const char *b);

/* True for "gpu_3", a worker name that a user chose. In a name that consists of host and process id, the number would be
 * larger. */
bool rundir_is_worker(const char *name);

/* Finds the number after "rank" or "worker" in a name. */
bool rundir_rank(const char *name, int64_t *rank);

#endif
