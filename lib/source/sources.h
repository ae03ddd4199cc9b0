/* sources.h - functions on sources that the commands share, in addition to those in tracekit.h. */
#ifndef SOURCE_SOURCES_H
#define SOURCE_SOURCES_H

#include "format/parts.h"
#include "io/in.h"
#include "tracekit.h"

/* Returns the path of the file that contains an input, so that callers do not overwrite it. */
const char *sources_path(const struct tk_sources *s, size_t i);

/* Returns the path of the nth piece of an input; other recordings of its rank count as pieces. NULL if it has no more. */
const char *sources_piece(const struct tk_sources *s, size_t i, size_t nth);

/* Returns the index of the name, among those passed to tk_sources_open, that yielded an input. */
size_t sources_operand(const struct tk_sources *s, size_t i);

/* Adds remarks about archives as notes, for listings. When an input is loaded, these remarks become notes of its trace. */
void sources_remarks(const struct tk_sources *s, struct tk_diagnostics *notes);

/* Opens the stored bytes of an input, without decompression; NULL with err set on failure. */
struct in *sources_raw(struct tk_sources *s, size_t i, struct mem *mem, struct tk_err *err);

/* Opens the decompressed bytes of an input; NULL with err set on failure. */
struct in *sources_unpacked(struct tk_sources *s, size_t i, struct mem *mem, struct tk_err *err);

/* True if the input and all its views are separate files, which several threads can load at a time. */
bool sources_is_file(const struct tk_sources *s, size_t i);

/* Copies an input that is a pipe, so that it can be loaded more than once. Returns false only on an interrupt; errors of the pipe
 * are reported on loading. `progress`: callbacks of the caller, because those given to tk_sources_open may no longer be valid. */
bool sources_keep(struct tk_sources *s, size_t i, const struct tk_progress *progress, struct tk_err *err);

/* Returns the ranks of a merged file, such as "0-2, 7", if its end states them; otherwise NULL. */
const char *sources_ranks(const struct tk_sources *s, size_t i);

/* Reorders the n inputs from `first` on: the i-th of them moves to position places[i]. Returns false when memory runs out. */
bool sources_arrange(struct tk_sources *s, size_t first, size_t n, const uint32_t *places);

/* Returns true, with the reason in err, if nothing could be read under the input's name. */
bool sources_failed(const struct tk_sources *s, size_t i, struct tk_err *err);

/* A view of an input: one of the files that show the same session. If a view is damaged beyond repair, the next one is read
 * instead. */
struct source_view {
  uint32_t entry;
  const char *name, *host, *run; /* these live as long as the sources; host is "" if unknown */
  const char *format;    /* name of the format found at the beginning of the file; NULL = the file was not opened yet */
  int64_t rank;          /* rank of the input, -1 = unknown */
  const char *rank_from; /* source of the rank, a string literal; NULL = the input's own name or content */
  const char *rank_note; /* source of the rank as a sentence, for users who rely on the rank; NULL = none */
  const struct parts *parts; /* ranks of the file, if the input is only one of them; NULL = the whole file */
  uint32_t part;             /* index of the input's rank in `parts` */
  const struct parts *within; /* ranks of the file, if the input is the whole file and contains several; otherwise NULL */
};
/* Finds the nth view of an input, best first. Returns false if there are fewer. */
bool sources_view(const struct tk_sources *s, size_t i, unsigned nth, struct source_view *v);
struct in *sources_open_view(struct tk_sources *s, const struct source_view *v, bool ahead, struct mem *mem, struct tk_err *err);

/* Derives the options of tk_sources_open from the load options. */
struct tk_source_options sources_options(const struct tk_load_options *opt);
/* Derives the options in the same way, with a caller's choice of runs and inputs; `choice` may be NULL. */
struct tk_source_options sources_chosen(const struct tk_source_options *choice, const struct tk_load_options *opt);

#endif
