/* run_folder.h - a run as profilers keep it: a folder with a file for each host, which TensorBoard and xprof open.
 *
 *     <logdir>/plugins/profile/<run>/<host>.xplane.pb
 *
 * Viewers look for runs below the logdir that they are given, in exactly this place.  So a folder that an output names is a logdir,
 * unless it stands where runs do: then it is the run. */
#ifndef COMMAND_RUN_FOLDER_H
#define COMMAND_RUN_FOLDER_H

#include "merge_align.h"
#include "save.h"

struct run_folder {
  struct tk_save_options opt;
  const char *const *inputs; /* that no output may replace */
  const struct format *format;
  struct mem mem;
  struct map hosts;       /* hash of a host's name -> how many inputs are of it */
  struct map names;       /* hashes of names that are taken */
  struct run_file *files; /* that wait for all to be whole */
  struct tk_saved saved;  /* of all of them */
  size_t made;            /* bytes of the path that were there before */
  char path[4096];        /* of the run, without a slash behind it */
};

/* Is the output a folder of runs, in the format that is asked for, else the first that has such folders? */
bool run_folder_is_meant(const char *path, const struct tk_save_options *opt);

/* Where the run of this name goes, which an output that is meant so names, without a slash behind it.  False: the path is too long. */
bool run_folder_path(const char *output, const char *run, const struct tk_save_options *opt, char *path, size_t size);

/* `run` is what the run is called if the path is that of a logdir, "" = "trace".  Refuses a folder that holds a run already, unless
 * files are to be replaced. */
bool run_folder_open(struct run_folder *r, const char *path, const char *run, const struct tk_save_options *opt,
                     const char *const *inputs, struct tk_err *err);
/* Learns of which hosts the inputs are, before the first of them is added.  Without it each is the only one of its host. */
bool run_folder_meet(struct run_folder *r, const struct merge_who *who, size_t n);

/* One rank's trace as a file of its own.  `slot` is a number that no other rank has, `timeline` says what times of all files count
 * from, `provenance` is as for sinks. */
struct run_rank {
  const char *host; /* "" = not known */
  int64_t slot;
  const struct tk_trace *timeline;
  const char *provenance;
};
bool run_folder_add(struct run_folder *r, const struct tk_trace *t, const struct run_rank *rank, struct tk_err *err);

/* All files get their names, now that each of them is whole. */
bool run_folder_commit(struct run_folder *r, struct tk_saved *done, struct tk_err *err);
/* Frees; what was not committed is gone, folders included.  Safe on a zeroed struct. */
void run_folder_close(struct run_folder *r);

#endif
