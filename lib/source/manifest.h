/* manifest.h - merges without rewriting the inputs: a tar of the inputs, with Perfetto's manifest that describes their clocks and
 * machines (https://perfetto.dev/docs/reference/perfetto-manifest, supported by version 58 and later).
 *
 *     perfetto_manifest.json        {"perfetto_manifest":{"version":1,"files":[{"path":..,"machine":{..},"clocks":{..}},..]}}
 *     rank0.json rank1.json         the inputs, decompressed: a compressed member cannot have a machine or a clock
 *
 * Each input becomes a machine, named by the label of its rank, so that equal pids of different ranks stay distinct. A Perfetto trace
 * of several machines becomes several machines. */
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
  size_t input;        /* index of the input in the sources */
  const char *path;    /* name of the member in the tar */
  const char *machine; /* such as "rank 3 - host42" */
  const struct manifest_machine *machines; /* for a trace of several machines: the first machine */
  uint32_t n_machines; /* 0 = the trace has only one machine */
  const char *clock;   /* Perfetto's name for the clock of the file's timestamps; NULL = no clock */
  int64_t shift_ns;    /* ns to add to the file's timestamps to get times on the merge's timeline */
  int64_t start_ns;    /* timestamp of the file's first event */
  uint64_t size;
  bool early;          /* the file starts before the reference's zero, where Perfetto's timeline starts; set by manifest_write */
};

struct manifest {
  struct out out;
  struct mem mem;
  struct arena arena;
  struct manifest_file *files;
  struct map names; /* hash of a member name -> number to append to the next equal name */
  uint32_t n, cap;
  uint32_t reference; /* index of the file to which the clocks of the others are synced */
};

/* Opens the output: "-" or a name that ends in .tar or .tar.gz. Returns false with err on failure. */
bool manifest_open(struct manifest *m, const char *output, const struct tk_save_options *opt, const char *const *inputs,
                   struct tk_err *err);

/* Returns true if Perfetto can read the file of this trace; otherwise false with the reason and a remedy in err. */
bool manifest_takes(struct tk_sources *s, size_t input, const struct tk_trace *t, struct tk_err *err);

/* Adds the input file.input of the sources, from which t was loaded. Copies the machine and shift of `file`, and computes its
 * other members. Returns false with err on failure. */
bool manifest_add(struct manifest *m, const struct tk_trace *t, struct tk_sources *s, struct manifest_file file, struct tk_err *err);

/* Writes the tar and gives it its final name. Returns false with err on failure. */
bool manifest_write(struct manifest *m, struct tk_sources *s, const char *provenance, const struct tk_progress *progress,
                    struct tk_saved *saved, struct tk_err *err);
/* Frees the manifest, and removes an output that was not completed. */
void manifest_close(struct manifest *m);

#endif
