/* manifest.h - merging by description: a tar of the inputs, and Perfetto's manifest that says how they stand to each
 * other (https://perfetto.dev/docs/reference/perfetto-manifest, read by its version 58 and later).
 *
 *     perfetto_manifest.json        {"perfetto_manifest":{"version":1,"files":[{"path":..,"machine":{..},"clocks":{..}},..]}}
 *     rank0.json rank1.json         the inputs, unpacked: what is packed itself cannot be told a machine or a clock
 *
 * Each input is a machine of its own there, named by the label of its rank, so that equal pids of different ranks stay apart; a
 * Perfetto trace of several machines says the name of each. */
#ifndef SOURCE_MANIFEST_H
#define SOURCE_MANIFEST_H

#include "base/map.h"
#include "io/out.h"
#include "tracekit.h"

struct manifest_machine {
  uint32_t id;
  const char *name;
};

/* One input. */
struct manifest_file {
  size_t input;        /* of the sources */
  const char *path;    /* its name in the tar */
  const char *machine; /* "rank 3 - host42" */
  const struct manifest_machine *machines; /* of a trace of several: its own first */
  uint32_t n_machines; /* 0 = it is one */
  const char *clock;   /* Perfetto's name of the clock that it tells time by; NULL = none of its own */
  int64_t shift_ns;    /* what it prints as T stands at T + shift on the merge's base of time */
  int64_t start_ns;    /* when its first event starts, as it prints it */
  uint64_t size;
  bool early;          /* begins before the reference's zero, where Perfetto's time begins; told by manifest_write */
};

struct manifest {
  struct out out;
  struct mem mem;
  struct arena arena;
  struct manifest_file *files;
  struct map names; /* of members: hash -> the number that the next one of it gets */
  uint32_t n, cap;
  uint32_t reference; /* whose clock the others are told against */
};

/* Opens the output, "-" or a name that ends in .tar or .tar.gz. */
bool manifest_open(struct manifest *m, const char *output, const struct tk_save_options *opt, const char *const *inputs,
                   struct tk_err *err);

/* Can Perfetto read what this trace was loaded from?  If not, err says why, and what can be done. */
bool manifest_takes(struct tk_sources *s, size_t input, const struct tk_trace *t, struct tk_err *err);

/* Adds file.input of the sources, which t was loaded from, with the file's machine (copied) and shift; the rest is found. */
bool manifest_add(struct manifest *m, const struct tk_trace *t, struct tk_sources *s, struct manifest_file file, struct tk_err *err);

/* Writes the tar and commits it. */
bool manifest_write(struct manifest *m, struct tk_sources *s, const char *provenance, const struct tk_progress *progress,
                    struct tk_saved *saved, struct tk_err *err);
/* Frees; what was not committed is gone. */
void manifest_close(struct manifest *m);

#endif
