/* chunks.h - reads a large input with several threads.
 *
 * The input is cut after events, and each chunk is read independently into a fragment (graph/fragment.h):
 *
 *     ... event event | event event event | event event ev...
 *                     |<---- chunk 1 ---->|<--- chunk 2 ---
 *
 * If a chunk starts after an event and is read to its very end, then the next chunk also starts after an event, even if that
 * was only a guess. So chunks join in order, as long as they contain nothing but valid events. Anything else (metadata, damage,
 * the end, a position that only looked like the start of an event) goes back into the input, with all later chunks, and the
 * sequential reader continues from there. It alone decides about repairs and the meaning of names. The trace does not depend on
 * the number of threads, nor on the positions of the cuts.
 *
 * An input that keeps failing is left to the sequential reader for longer each time.
 *
 * A format whose events depend on everything before them has no fragments: its chunks hold what can be derived from their bytes
 * alone, and `joined` passes that to the sequential reader. */
#ifndef FORMAT_CHUNKS_H
#define FORMAT_CHUNKS_H

#include "graph/fragment.h"
#include "io/in.h"

struct chunk {
  struct fragment fragment; /* empty if the format does not use it */
  const struct chunks_of *of;
  void *reader;    /* state of the format's reader */
  bool prepared;   /* `begin` was called, and `end` was not */
  uint8_t *text;   /* [size], followed by the pad of an input */
  size_t size, read;
  uint64_t offset; /* position of the text in the input */
  unsigned round;  /* turn in which it was prepared */
  struct tk_err err;
};

/* The format's functions on chunks; `one` is its sequential reader of the whole input. */
struct chunks_of {
  size_t reader_size;
  bool has_no_fragments;
  unsigned room; /* most bytes that a reader allocates per byte of text; 0 = as for a fragment */
  /* Returns the length of the whole events at the start of text[0, n) that others follow; 0 = none. */
  size_t (*cut)(const uint8_t *text, size_t n);
  /* Gives the chunk's reader the state of the sequential reader; `end` frees it, also after a failure. */
  bool (*begin)(struct chunk *c, const void *one);
  void (*end)(struct chunk *c);
  /* Reads the chunk as far as it is certain, and stores that length in *read*; called on any thread. */
  void (*read)(struct chunk *c);
  /* Called after the chunk's events and flow points were appended after the given ids. Without fragments: takes the data as far
   * as it can, and stores that length in *read*. */
  void (*joined)(struct chunk *c, void *one, tk_id events, tk_id points);
  /* Returns false with an error if the caller wants to stop. */
  bool (*tick)(void *one);
};

struct chunks;

/* Prepares chunks of *size* bytes (0 = 1 MiB) for a trace. *s is NULL if there are no threads or too little memory. Returns
 * false when memory runs out. */
bool chunks_start(struct chunks **s, const struct chunks_of *of, struct tk_trace *t, unsigned threads, size_t size);
/* `s` may be NULL. */
void chunks_stop(struct chunks *s);

/* True if reading with several threads pays from this offset, which is after an event. */
bool chunks_are_due(const struct chunks *s, uint64_t offset);
/* Returns the least number of bytes that are read. */
size_t chunks_least(const struct chunks *s);

/* Reads events from the next `most` bytes until something else follows. The input is positioned after an event before and
 * afterwards. Returns false with `err` set. */
bool chunks_read(struct chunks *s, void *one, struct in *in, uint64_t most, struct tk_err *err);

#endif
