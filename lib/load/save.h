/* save.h - saves traces; shared by the commands. Combines the sink of a format with an output file. */
#ifndef LOAD_SAVE_H
#define LOAD_SAVE_H

#include "format/format.h"
#include "io/out.h"

struct saver {
  struct out out;
  struct sink *sink;
  struct mem mem;
  const struct format *format;
  struct carry carry;      /* blocks of other formats, which the file embeds */
  bool no_passthrough;     /* omit data that only its own format understands, without counting a loss */
  uint64_t derived;        /* number of written events that tk_derive added */
  struct tk_progress progress;
  const char *path;        /* path given to save_open */
  bool packs;              /* true if the output is compressed, which takes longer than writing it */
  bool dry_run;            /* true if nothing is written */
  bool no_loss;            /* true to fail if the format cannot represent everything */
  bool is_cut;             /* true if a written graph was cut in time */
  /* To be set before opening: */
  struct sink_meter meter; /* receives the category of each byte, if the format supports this */
  const struct tk_trace *timeline; /* same as in sink_options */
  const struct format_starts *starts; /* properties of the first graph, for a saver that does not write that graph; otherwise
                                       * NULL */
  bool part;               /* true to write one graph's part of the output (out_join), without the data before and after all
                            * graphs */
  bool joins;              /* true if parts will be joined to form the output */
  bool several;
  const char *host;
  uint64_t most;           /* largest size in bytes; a larger file is discarded; 0 = no limit */
  struct tk_writer to;     /* if set, receives the bytes in place of a file; the file name then only selects the format */
};

/* Opens `path` in the format that is selected by opt, by the path, or by `like` (the format from which the trace was read). The
 * output must not be one of `inputs`. */
bool save_open(struct saver *s, const char *path, const struct tk_save_options *opt, const char *like, const char *const *inputs,
                struct tk_err *err);
/* Returns the output format if it can select the trace's passthrough data by time after a cut; otherwise NULL. */
const struct format *save_cuts(const char *path, const struct tk_save_options *opt, const struct tk_trace *t);
/* True if tk_derive should run before the trace is saved under this name. False if the format's viewers derive the same data
 * themselves. `like`: format from which the trace was read. */
bool save_derives(const char *path, const struct tk_save_options *opt, const char *like);
/* Counts the data of a graph that the format cannot represent. save_write also does this, before it writes the graph. */
void save_count_lost(struct saver *s, const struct tk_trace *t);
bool save_write(struct saver *s, const struct tk_trace *t, struct tk_err *err);
/* save_leave appends the state that is needed later to join a part that was written. save_take sets this state in the saver of
 * the whole output; the raw bytes of the part must be written next. */
void save_leave(struct saver *s, struct buf *to);
bool save_take(struct saver *s, uint64_t raw, const uint8_t *left, size_t n, struct tk_err *err);
/* Ends the file and stores its counts in *done. A loss is an error if no_loss is set. The file gets its final name when it is
 * committed. */
bool save_finish(struct saver *s, struct tk_saved *done, struct tk_err *err);
/* Calls save_finish and commits the file, unless it is larger than s->most. */
bool save_commit(struct saver *s, struct tk_saved *done, struct tk_err *err);
/* Frees the saver; a file that was not committed is removed. */
void save_close(struct saver *s);

/* Like tk_save, but a file that would be larger than `most` bytes is not created; done->bytes is then the size it would have.
 * Not for outputs whose bytes are visible at once (out_is_final). */
bool save_within(const struct tk_trace *t, const char *path, const struct tk_save_options *opt, uint64_t most, struct tk_saved *done,
                 struct tk_err *err);

/* Returns the JSON text of the "tracekit" object for a converted file, using b, which must be empty; NULL if there is nothing to
 * record. It includes the members that the object of `t` (may be NULL) already contains; the ranks are included even if opt
 * requests no provenance. */
const char *save_provenance(struct buf *b, const struct tk_save_options *opt, const struct tk_trace *t);
/* Like save_provenance, for a file in the format `to`. Adds the host if the trace was read from another format, because no format can
 * represent the hosts of all others. */
const char *save_provenance_in(struct buf *b, const struct tk_save_options *opt, const struct tk_trace *t, const struct format *to);

#endif
