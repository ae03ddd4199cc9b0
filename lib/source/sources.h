/* sources.h - what the drivers share of sources, beside what tracekit.h says. */
#ifndef SOURCE_SOURCES_H
#define SOURCE_SOURCES_H

#include "io/in.h"
#include "tracekit.h"

/* The file that an input lies in: what must not be written to. */
const char *sources_path(const struct tk_sources *s, size_t i);

/* What is to be said of archives as such, as notes: for listings (who loads an input finds it among its notes). */
void sources_remarks(const struct tk_sources *s, struct tk_diagnostics *notes);

/* The bytes of an input as they lie there, NULL with err set. */
struct in *sources_raw(struct tk_sources *s, size_t i, struct mem *mem, struct tk_err *err);

/* ... unpacked. */
struct in *sources_unpacked(struct tk_sources *s, size_t i, struct mem *mem, struct tk_err *err);

/* Is the input a file of its own, all of whose views are?  Such inputs can be loaded by several threads at a time. */
bool sources_is_file(const struct tk_sources *s, size_t i);

/* The input can be loaded more than once from now on, even if it comes through a pipe; a pipe that fails does so when it is loaded. */
bool sources_keep(struct tk_sources *s, size_t i, struct tk_err *err);

/* Puts the n inputs from `first` on into another order: places[i] is where the i-th of them goes.  False when memory runs out. */
bool sources_arrange(struct tk_sources *s, size_t first, size_t n, const uint32_t *places);

/* Could the input's name not be read at all?  Then err says why. */
bool sources_failed(const struct tk_sources *s, size_t i, struct tk_err *err);

/* One of the files that show the same session: what is read, and what is read instead where that is beyond repair. */
struct source_view {
  uint32_t entry;
  const char *name, *host, *run; /* live as long as the sources; host is "" where the place does not tell it */
};
/* The nth view of an input, the best first; false behind the last. */
bool sources_view(const struct tk_sources *s, size_t i, unsigned nth, struct source_view *v);
struct in *sources_open_view(struct tk_sources *s, const struct source_view *v, bool ahead, struct mem *mem, struct tk_err *err);
/* Notes what was decided on the way to the input: which run, which view. */
void sources_decisions(const struct tk_sources *s, size_t i, struct tk_trace *t);
/* The input cannot be loaded, as err says: says too what could be read in its place, if somebody chose it. */
void sources_suggest(const struct tk_sources *s, size_t i, struct tk_err *err);

/* Options of tk_sources_open that go with those of loading. */
struct tk_source_options sources_options(const struct tk_load_options *opt);

#endif
