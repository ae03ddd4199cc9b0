/* chunks.h - a large input by several threads.
 *
 * The input is cut behind an event, and each chunk is read by itself, into a fragment (graph/fragment.h):
 *
 *     ... event event | event event event | event event ev...
 *                     |<---- chunk 1 ---->|<--- chunk 2 ---
 *
 * A chunk that was read from behind an event to its very end proves that the next one begins behind an event, too, wherever it was
 * only guessed to.  So chunks join in their order, as far as they hold nothing but sound events.  What comes then (what describes
 * others, damage, the end, a place that only looked like the beginning of an event) goes back into the input, with all that was cut
 * behind it, and the one reader that there was before goes on from there.  It alone decides what is repaired, and what a name means;
 * and the trace does not depend on the number of threads, nor on where the input was cut.
 *
 * An input that sends chunks back again and again is left to the one reader for longer each time.
 *
 * A format whose events mean nothing without all that comes before them has no fragments: its chunks hold what can be said of their
 * bytes alone, and `joined` lets the one reader take that. */
#ifndef FORMAT_CHUNKS_H
#define FORMAT_CHUNKS_H

#include "graph/fragment.h"
#include "io/in.h"

struct chunk {
  struct fragment fragment; /* empty where the format has no use for it */
  const struct chunks_of *of;
  void *reader;    /* what the format reads it with */
  bool prepared;   /* the reader has been begun and not ended */
  uint8_t *text;   /* [size], and the pad of an input */
  size_t size, read;
  uint64_t offset; /* of the text in the input */
  unsigned round;  /* in which it was prepared */
  struct tk_err err;
};

/* What a format does with chunks; `one` is its reader of the whole input. */
struct chunks_of {
  size_t reader_size;
  bool has_no_fragments;
  unsigned room; /* bytes for one of the text that a reader allocates, at most; 0 = what a fragment needs */
  /* Bytes of whole events that text[0, n) begins with, behind which others are; 0 = none. */
  size_t (*cut)(const uint8_t *text, size_t n);
  /* Gives the chunk's reader all that the one reader knows; what it takes is freed by `end`, also after a failure. */
  bool (*begin)(struct chunk *c, const void *one);
  void (*end)(struct chunk *c);
  /* Reads the chunk up to where it is not sure, which is *read*; by any thread. */
  void (*read)(struct chunk *c);
  /* The chunk's events and flow points have become those behind these of the whole.  Without fragments: takes what was read, as far
   * as it can, which becomes *read*. */
  void (*joined)(struct chunk *c, void *one, tk_id events, tk_id points);
  /* False, with an error, when the caller wants to stop. */
  bool (*tick)(void *one);
};

struct chunks;

/* For a trace of which *size* bytes are read at a time (0 = 1 MiB).  *s is NULL if there are no threads or too little memory for it;
 * false when memory has run out. */
bool chunks_start(struct chunks **s, const struct chunks_of *of, struct tk_trace *t, unsigned threads, size_t size);
/* `s` may be NULL. */
void chunks_stop(struct chunks *s);

/* Is it worth to read on from this offset, behind an event, by several threads? */
bool chunks_are_due(const struct chunks *s, uint64_t offset);
/* What is read is that much at least. */
size_t chunks_least(const struct chunks *s);

/* Reads events, of the next `most` bytes, until it comes to something else.  The input stands behind an event, and does so again.
 * False with `err`. */
bool chunks_read(struct chunks *s, void *one, struct in *in, uint64_t most, struct tk_err *err);

#endif
