/* run_folder.h - writes a run in the layout that profilers use: a folder with a file per host, which TensorBoard and xprof can open.
 *
 *     <logdir>/plugins/profile/<run>/<host>.xplane.pb
 *
 * Viewers look for runs only at this path below the logdir. Therefore an output folder is treated as a logdir, unless its path already
 * ends with plugins/profile/<run>. */
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
  struct map names;       /* hashes of file names in use */
  struct run_file *files; /* files that keep a temporary name until all are complete */
  struct tk_saved saved;  /* sums over all files */
  size_t made;            /* length of the part of the path that existed before the merge */
  char path[4096];        /* path of the run, without a slash at the end */
};

/* True if the output is a folder for runs. Their format is the requested one, or by default the first format that has run folders. */
bool run_folder_is_meant(const char *path, const struct tk_save_options *opt);

/* Writes the path of the run with this name below `output`, without a slash at the end. Returns false if the path is too long. */
bool run_folder_path(const char *output, const char *run, const struct tk_save_options *opt, char *path, size_t size);

/* Opens a folder for output. `run`: name of the run, used if the path is a logdir; "" means "trace". Returns false with err on failure,
 * for example if the folder already contains a run and opt->force is not set. */
bool run_folder_open(struct run_folder *r, const char *path, const char *run, const struct tk_save_options *opt,
                     const char *const *inputs, struct tk_err *err);
/* Counts the inputs of each host. Must be called before the first input is added; otherwise each host is assumed to have a single
 * input. */
bool run_folder_meet(struct run_folder *r, const struct merge_who *who, size_t n);

/* One rank's trace, which becomes a separate file. `slot`: number that is unique among the ranks. `timeline`: trace that defines the
 * zero of time for all files. `provenance`: as for sinks. */
struct run_rank {
  const char *host; /* "" = unknown */
  int64_t slot;
  const struct tk_trace *timeline;
  const char *provenance;
};
bool run_folder_add(struct run_folder *r, const struct tk_trace *t, const struct run_rank *rank, struct tk_err *err);

/* Gives all files their final names. Call when all files are complete. Returns false with err on failure. */
bool run_folder_commit(struct run_folder *r, struct tk_saved *done, struct tk_err *err);
/* Frees the run; files that were not committed are removed, with the folders created for them. Safe on a zeroed struct. */
void run_folder_close(struct run_folder *r);

#endif
