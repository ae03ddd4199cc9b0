/* sources_impl.h - the members of tk_sources, for the files that implement it. */
#ifndef SOURCE_SOURCES_IMPL_H
#define SOURCE_SOURCES_IMPL_H

#include "graph/trace.h"
#include "format/parts.h"
#include "opening.h"
#include "sources.h"

enum { NOTES = 4 };

struct beside;

/* An input, as chosen among the entries. */
struct chosen {
  uint32_t entry; /* UINT32_MAX: nothing could be read under the name */
  uint32_t origin;
  struct {
    const char *text;
    bool repair;
  } note[NOTES];
  unsigned n_notes;
  const char *rank_from; /* source of the rank, a string literal; NULL = the input's own name or content */
  const char *rank_note; /* source of the rank as a sentence; NULL = none */
  struct parts *parts;   /* ranks of the entry, if it contains several; NULL = the input is the whole entry */
  uint32_t part;         /* index of the input's rank in `parts` */
  struct parts *within;  /* ranks of the entry, if it contains several that are read as one trace; otherwise NULL */
  bool joined; /* this entry is a piece of another input, or another recording of its rank */
  struct beside *beside; /* other recordings of the input's rank (sources_beside.h) */
  const char *sound_run; /* name of a run that contains traces, if this run has none; otherwise NULL */
};

struct tk_sources_impl {
  struct source source;
  struct chosen *chosen;
  uint32_t cap_chosen, cap_inputs, n;
  struct tk_source_options opt;
  int64_t rank; /* requested rank, or -1 */
  struct trace_early cut; /* the range to which the caller will cut the trace (tk_sources_load_cut) */
  struct tk_trace **kept; /* by input: ranks that are read already (sources_kept.h); NULL = none */
  enum tk_align align; /* how the clocks of recordings of one rank are aligned */
};

#endif
