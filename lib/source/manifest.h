/* manifest.h - merging by description: a tar of the inputs, with Perfetto's manifest of their clocks and machines
 * (https://perfetto.dev/docs/reference/perfetto-manifest, supported by version 58 and later).
 *
 *     perfetto_manifest.json        {"perfetto_manifest":{"version":1,"files":[{"path":..,"machine":{..},"clocks":{..}},..]}}
 *     rank0.json rank1.json         the inputs, decompressed: a compressed member cannot have a machine or a clock
 *
 * Each input becomes a machine, named by the label of its rank, so that equal pids of different ranks stay apart; for a
 * Perfetto trace of several machines, each is named. */
#ifndef SOURCE_MANIFEST_H
#define SOURCE_MANIFEST_H

#include "base/map.h"
#include "io/out.h"
#include "tracekit.h"

struct manifest_machine {
  uint32_t id;
  const char *name;
};

/* An input of the manifest. */
struct manifest_file {
  size_t input;        /* index in the sources */
  const char *path;    /* name in the tar */
  const char *machine; /* such as "rank 3 - host42" */
  const struct manifest_machine *machines; /* trace of several machines: its own first */
  uint32_t n_machines; /* 0 = one machine */
  const char *clock;   /* Perfetto's name of the clock of its timestamps; NULL = no clock */
  int64_t shift_ns;    /* added to its timestamps to get times on the merge's time base */
  int64_t start_ns;    /* timestamp of its first event */
  uint64_t size;
  bool early;          /* starts before the reference's zero, where Perfetto's timeline starts; set by manifest_write */
};

struct manifest {
  struct out out;
  struct mem mem;
  struct arena arena;
  struct manifest_file *files;
  struct map names; /* hash of a member name -> number for the next duplicate */
  uint32_t n, cap;
  uint32_t reference; /* file whose clock the others are relative to */
};

/* Opens the output: "-" or a name that ends in .tar or .tar.gz. */
bool manifest_open(struct manifest *m, const char *output, const struct tk_save_options *opt, const char *const *inputs,
                   struct tk_err *err);

/* Returns false with the reason and a remedy in err if Perfetto cannot read the file of this trace. */
bool manifest_takes(struct tk_sources *s, size_t input, const struct tk_trace *t, struct tk_err *err);

/* Adds file.input of the sources, from which t was loaded, with the file's machine (copied) and shift; derives the other
 * members. */
bool manifest_add(struct manifest *m, const struct tk_trace *t, struct tk_sources *s, struct manifest_file file, struct tk_err *err);

/* Writes the tar and commits it. */
bool manifest_write(struct manifest *m, struct tk_sources *s, const char *provenance, const struct tk_progress *progress,
                    struct tk_saved *saved, struct tk_err *err);
/* Frees the manifest and removes an uncommitted output. */
void manifest_close(struct manifest *m);

#endif
