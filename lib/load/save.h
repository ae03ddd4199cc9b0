/* save.h - saving, shared by the commands: a format's sink that writes to an output file. */
#ifndef LOAD_SAVE_H
#define LOAD_SAVE_H

#include "format/format.h"
#include "io/out.h"

struct saver {
  struct out out;
  struct sink *sink;
  struct mem mem;
  const struct format *format;
  struct carry carry;      /* blocks of other formats */
  bool no_passthrough;     /* omit data that only its own format understands; not a loss */
  uint64_t derived;        /* number of written events that tk_derive made */
  struct tk_progress progress;
  const char *path;        /* as passed to save_open */
  bool packs;              /* the output is compressed, which takes longer than writing it */
  bool dry_run;            /* nothing is written */
  bool no_loss;            /* fail if the format cannot represent everything */
  /* Set before opening: */
  struct sink_meter meter; /* receives the use of each byte, if the format supports it */
  const struct tk_trace *timeline; /* as in sink_options */
  const struct format_starts *starts; /* of the first graph, if it is not available; NULL = it is, or there is only one graph */
  bool part;               /* write one graph's part of the output (out_join), without what precedes and follows all graphs */
  bool joins;              /* parts will be joined into the output */
  bool several;
  const char *host;
  uint64_t most;           /* bytes; a larger file is not committed; 0 = no limit */
  struct tk_writer to;     /* if set, receives the bytes instead of the file, whose name then only selects the format */
};

/* Opens `path` in the format that is selected by opt, by the path, or by `like` (the format that was read). The output must not
 * be one of `inputs`. */
bool save_open(struct saver *s, const char *path, const struct tk_save_options *opt, const char *like, const char *const *inputs,
                struct tk_err *err);
/* True if tk_derive should run before saving under this name, for a trace that was read as `like`: false if the format's
 * viewers derive the same themselves. */
bool save_derives(const char *path, const struct tk_save_options *opt, const char *like);
/* Counts what the format cannot represent of a graph; save_write counts it and writes the graph. */
void save_count_lost(struct saver *s, const struct tk_trace *t);
bool save_write(struct saver *s, const struct tk_trace *t, struct tk_err *err);
/* save_leave appends the state that joining a written part requires. save_take restores it in the saver of the whole output;
 * the raw bytes of the part must follow. */
void save_leave(struct saver *s, struct buf *to);
bool save_take(struct saver *s, uint64_t raw, const uint8_t *left, size_t n, struct tk_err *err);
/* Ends the file and counts it in *done. A loss is an error if no_loss is set. Committing gives the file its name. */
bool save_finish(struct saver *s, struct tk_saved *done, struct tk_err *err);
/* Calls save_finish and commits the file, unless it is larger than s->most. */
bool save_commit(struct saver *s, struct tk_saved *done, struct tk_err *err);
/* Frees the saver; a file that was not committed is removed. */
void save_close(struct saver *s);

/* Like tk_save, but if the file becomes larger than `most` bytes, it is not created, and done->bytes is its size. Not for
 * outputs whose bytes are visible at once (out_is_final). */
bool save_within(const struct tk_trace *t, const char *path, const struct tk_save_options *opt, uint64_t most, struct tk_saved *done,
                 struct tk_err *err);

/* Returns the JSON text of the "tracekit" object for a converted file, in b, which must be empty. It includes what the object
 * of `t` (may be NULL) recorded before; the ranks even if opt requests no provenance. NULL if there is nothing to record. */
const char *save_provenance(struct buf *b, const struct tk_save_options *opt, const struct tk_trace *t);

#endif
