/* save.h - what the drivers share of saving: a format's sink over an output file. */
#ifndef COMMAND_SAVE_H
#define COMMAND_SAVE_H

#include "format/format.h"
#include "io/out.h"

struct saver {
  struct out out;
  struct sink *sink;
  struct mem mem;
  const struct format *format;
  struct carry carry;      /* blocks of other formats */
  bool no_passthrough;     /* what only its own format understands is left out, and is no loss */
  uint64_t derived;        /* events of what was written that tk_derive made */
  struct tk_progress progress;
  const char *path;        /* that it is opened as */
  bool packs;              /* what is written is compressed, which takes longer than writing it */
  bool no_loss;            /* what the format cannot hold is an error */
  /* Set before opening: */
  struct sink_meter meter; /* hears what bytes are spent on, if the format can tell */
  const struct tk_trace *timeline; /* as in sink_options */
  const struct format_starts *starts; /* of the first graph, which is not at hand; NULL = it is, or there is but one */
  bool part;               /* what is written of one graph among several, without what stands before and behind all: an out_join */
  bool joins;              /* parts go into the output */
  bool several;
  const char *host;
  uint64_t most;           /* bytes of the file: a larger one is not committed; 0 = any */
  struct tk_writer to;     /* takes the bytes instead of the file, whose name only says what they are to be, if it can write */
};

/* Opens `path` for the format that opt, the path or `like` (a format that was read) asks for.  `inputs` must not be the output. */
bool saver_open(struct saver *s, const char *path, const struct tk_save_options *opt, const char *like, const char *const *inputs,
                struct tk_err *err);
/* Is anything to be derived for a file of this name that opt asks for, of a trace that was read as `like`? */
bool saver_derives(const char *path, const struct tk_save_options *opt, const char *like);
/* Counts what of a graph the format cannot hold; saver_write counts it and writes the graph. */
void saver_count_lost(struct saver *s, const struct tk_trace *t);
bool saver_write(struct saver *s, const struct tk_trace *t, struct tk_err *err);
/* What the saver of all has to know of a part, when its graph is written; and takes the part, of which raw bytes go into the output
 * next. */
void saver_leave(struct saver *s, struct buf *to);
bool saver_take(struct saver *s, uint64_t raw, const uint8_t *left, size_t n, struct tk_err *err);
/* Ends the file and counts it in *done; a loss is an error where none is allowed.  It has its name when it is committed. */
bool saver_finish(struct saver *s, struct tk_saved *done, struct tk_err *err);
/* Both. */
bool saver_commit(struct saver *s, struct tk_saved *done, struct tk_err *err);
/* Frees; what was not committed is gone. */
void saver_close(struct saver *s);

/* As tk_save, unless the file becomes larger than `most` bytes: then it is not there, and done->bytes says how large it is.  Not for
 * outputs that cannot be taken back (out_is_final). */
bool save_within(const struct tk_trace *t, const char *path, const struct tk_save_options *opt, uint64_t most, struct tk_saved *done,
                 struct tk_err *err);

/* The JSON text of the "tracekit" object that every converted file carries, with what that of `t` (or NULL) said already, its ranks
 * also where opt asks for none; NULL if there is nothing to say.  In b, which is empty. */
const char *saver_provenance(struct buf *b, const struct tk_save_options *opt, const struct tk_trace *t);

#endif
