/* sources.h - functions on sources that the commands share, besides those in tracekit.h. */
#ifndef SOURCE_SOURCES_H
#define SOURCE_SOURCES_H

#include "io/in.h"
#include "tracekit.h"

/* Returns the file that contains an input, which must not be written to. */
const char *sources_path(const struct tk_sources *s, size_t i);

/* Returns the path of the nth piece that is read as part of an input; NULL past the last. */
const char *sources_piece(const struct tk_sources *s, size_t i, size_t nth);

/* Adds remarks about archives as notes, for listings; a loaded input has them among its own notes. */
void sources_remarks(const struct tk_sources *s, struct tk_diagnostics *notes);

/* Opens the stored bytes of an input; NULL with err set on failure. */
struct in *sources_raw(struct tk_sources *s, size_t i, struct mem *mem, struct tk_err *err);

/* The same, decompressed. */
struct in *sources_unpacked(struct tk_sources *s, size_t i, struct mem *mem, struct tk_err *err);

/* True if the input and all its views are separate files. Several threads can load such inputs at a time. */
bool sources_is_file(const struct tk_sources *s, size_t i);

/* Makes the input loadable more than once, even if it is a pipe; errors of a pipe are reported on loading. */
bool sources_keep(struct tk_sources *s, size_t i, struct tk_err *err);

/* Reorders the n inputs from `first` on: places[i] is the new position of the i-th. Returns false when memory runs out. */
bool sources_arrange(struct tk_sources *s, size_t first, size_t n, const uint32_t *places);

/* True, with the reason in err, if the input's name could not be read at all. */
bool sources_failed(const struct tk_sources *s, size_t i, struct tk_err *err);

/* A file that shows a session; if it is beyond repair, the next view is read instead. */
struct source_view {
  uint32_t entry;
  const char *name, *host, *run; /* live as long as the sources; host is "" if unknown */
  int64_t rank;          /* rank of the input, -1 = unknown */
  const char *rank_from; /* where it comes from, a literal, if neither the name nor the content states it; NULL */
  const char *rank_note; /* ... in a sentence for those who rely on it; NULL */
};
/* Finds the nth view of an input, best first; false past the last. */
bool sources_view(const struct tk_sources *s, size_t i, unsigned nth, struct source_view *v);
struct in *sources_open_view(struct tk_sources *s, const struct source_view *v, bool ahead, struct mem *mem, struct tk_err *err);

/* Derives the options of tk_sources_open from the load options. */
struct tk_source_options sources_options(const struct tk_load_options *opt);
/* ... with a caller's choice of runs and inputs; `choice` may be NULL. */
struct tk_source_options sources_chosen(const struct tk_source_options *choice, const struct tk_load_options *opt);

#endif
