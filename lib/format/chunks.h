/* chunks.h - reads a large input with several threads.
 *
 * The input is cut after events, and each chunk is read independently into a fragment (graph/fragment.h):
 *
 *     ... event event | event event event | event event ev...
 *                     |<---- chunk 1 ---->|<--- chunk 2 ---
 *
 * The position of a cut is a guess, but if a chunk starts after an event and is read to its very end, then the next chunk also starts
 * after an event. So chunks join in order, as long as they contain only valid events. Everything else (metadata, damage, the end, a
 * position that only looked like the start of an event) is put back into the input, together with all later chunks, and the sequential
 * reader continues there. Only the sequential reader makes repairs and interprets names. The trace depends neither on the number of
 * threads nor on the positions of the cuts.
 *
 * The caller's thread only finds the places of a chunk's events in the trace; another thread copies them there.
 *
 * If the input is a plain file, the caller's thread reads only the bytes that it needs to find a cut, and another thread reads the text
 * of the chunk. Copying a file from the page cache was a third of the work that only one thread can do.
 *
 * Each time chunks fail again, the sequential reader reads more of the input before the next try.
 *
 * If the events of a format depend on everything before them, the format does not use fragments. Its chunks are only decoded as far as
 * this needs no earlier data, and `joined` passes the result to the sequential reader. */
#ifndef FORMAT_CHUNKS_H
#define FORMAT_CHUNKS_H

#include "graph/fragment.h"
#include "io/in.h"

enum { CHUNK_HEAD = 4096 };

struct chunk {
  struct fragment fragment; /* empty if the format does not use it */
  const struct chunks_of *of;
  void *reader;    /* state of the format's reader */
  bool prepared;   /* `begin` was called, but not `end` */
  bool joined;     /* its fragment has joined the trace, but is not in its place yet */
  uint8_t *text;   /* [size], followed by a pad, as in inputs */
  size_t size, read;
  const struct in *in; /* input from which the chunk's thread reads the text; NULL = the text is already in memory */
  struct tk_err fault; /* error of reading the text */
  bool stops;      /* set by `joined`: the sequential reader must go on, even if the whole chunk was read */
  uint64_t offset; /* position of the text in the input */
  unsigned round;  /* turn in which it was prepared */
  struct tk_err err;
};

/* The functions of a format for chunks. `one`: the format's sequential reader of the whole input. */
struct chunks_of {
  size_t reader_size;
  bool has_no_fragments;
  unsigned room; /* maximum number of bytes that a reader allocates per byte of text; 0 = as many as for a fragment */
  /* Returns the length of the complete events with which text[0, n) begins, if more events follow; 0 = none. */
  size_t (*cut)(const uint8_t *text, size_t n);
  /* Number of bytes at the end of text[0, n) in which `cut` searches, besides the first CHUNK_HEAD bytes; 0 = all. */
  size_t tail;
  /* Copies the state of the sequential reader to the chunk's reader. `end` frees the copy, also after a failure. */
  bool (*begin)(struct chunk *c, const void *one);
  void (*end)(struct chunk *c);
  /* Reads the chunk up to the first byte that the sequential reader must handle, and sets c->read to the number of bytes read. May be
   * called on any thread. */
  void (*read)(struct chunk *c);
  /* Called after the chunk's events and flow points were appended; `events` and `points` are the last ids before these. If the
   * format does not use fragments, `joined` itself takes over as much of the chunk's data as possible, and sets c->read to the
   * number of bytes taken. */
  void (*joined)(struct chunk *c, void *one, tk_id events, tk_id points);
  /* Reports progress. Returns false with an error if the caller wants to stop. */
  bool (*tick)(void *one);
};

struct chunks;

/* Prepares chunks of `size` bytes (0 = 1 MiB) for a trace. *s becomes NULL if there are no threads or too little memory. Returns
 * false when memory runs out. */
bool chunks_start(struct chunks **s, const struct chunks_of *of, struct tk_trace *t, unsigned threads, size_t size);
/* Stops the threads and frees everything; `s` may be NULL. */
void chunks_stop(struct chunks *s);

/* True if reading with several threads is worth trying at this offset, which must be after an event. */
bool chunks_are_due(const struct chunks *s, uint64_t offset);
/* Returns the smallest number of bytes for which chunks_read may be called. */
size_t chunks_least(const struct chunks *s);

/* Reads events from the next `most` bytes, until something else follows. Both before and afterwards, the position of the input
 * is after an event. Returns false with `err` set. */
bool chunks_read(struct chunks *s, void *one, struct in *in, uint64_t most, struct tk_err *err);

#endif
