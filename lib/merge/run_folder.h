/* run_folder.h - a run as profilers store it: a folder with a file per host, which TensorBoard and xprof open.
 *
 *     <logdir>/plugins/profile/<run>/<host>.xplane.pb
 *
 * Viewers look for runs only in exactly this place below the given logdir. So an output folder is taken as a logdir, unless it
 * is in the place of a run: then it is the run. */
#ifndef MERGE_RUN_FOLDER_H
#define MERGE_RUN_FOLDER_H

#include "align.h"
#include "load/save.h"

struct run_folder {
  struct tk_save_options opt;
  const char *const *inputs; /* paths that no output may replace */
  const struct format *format;
  struct mem mem;
  struct map hosts;       /* hash of the host name -> number of inputs of that host */
  struct map names;       /* hashes of used names */
  struct run_file *files; /* waiting until all are complete */
  struct tk_saved saved;  /* sums over all files */
  size_t made;            /* length of the part of the path that existed before */
  char path[4096];        /* of the run, without a trailing slash */
};

/* True if the output is a folder of runs: in the requested format, else in the first format that has such folders. */
bool run_folder_is_meant(const char *path, const struct tk_save_options *opt);

/* Finds the path of the run of this name below `output`, without a trailing slash. False if the path is too long. */
bool run_folder_path(const char *output, const char *run, const struct tk_save_options *opt, char *path, size_t size);

/* `run` is the name of the run if the path is a logdir; "" = "trace". Fails if the folder already contains a run, unless
 * opt->force is set. */
bool run_folder_open(struct run_folder *r, const char *path, const char *run, const struct tk_save_options *opt,
                     const char *const *inputs, struct tk_err *err);
/* Counts the inputs of each host. Call before the first input is added; otherwise each input is taken as the only one of its
 * host. */
bool run_folder_meet(struct run_folder *r, const struct merge_who *who, size_t n);

/* One rank's trace as a file of its own. `slot` is a number that no other rank has. `timeline` defines the zero of time of all
 * files. `provenance` is as for sinks. */
struct run_rank {
  const char *host; /* "" = unknown */
  int64_t slot;
  const struct tk_trace *timeline;
  const char *provenance;
};
bool run_folder_add(struct run_folder *r, const struct tk_trace *t, const struct run_rank *rank, struct tk_err *err);

/* Gives all files their final names. Call after all files are complete. */
bool run_folder_commit(struct run_folder *r, struct tk_saved *done, struct tk_err *err);
/* Frees the run; files that were not committed are removed, with the folders created for them. Safe on a zeroed struct. */
void run_folder_close(struct run_folder *r);

#endif
