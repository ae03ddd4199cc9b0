/* sources_impl.h - the inside of tk_sources, for the files that make it. */
#ifndef SOURCE_SOURCES_IMPL_H
#define SOURCE_SOURCES_IMPL_H

#include "names.h"
#include "sources.h"

enum { NOTES = 4 };

/* An input, as chosen among the entries. */
struct chosen {
  uint32_t entry; /* UINT32_MAX: the origin failed */
  uint32_t origin;
  struct {
    const char *text;
    bool repair;
  } note[NOTES];
  unsigned n_notes;
  const char *rank_from; /* where the rank comes from, a literal, if not from its own name or content; NULL */
  const char *rank_note; /* ... in a sentence; NULL */
  bool joined; /* a piece of another input */
  const char *sound_run; /* a run that contains traces, if this one has none; else NULL */
};

struct tk_sources_impl {
  struct source source;
  struct chosen *chosen;
  uint32_t cap_chosen, cap_inputs, n;
  struct tk_source_options opt;
  int64_t rank; /* requested rank, or -1 */
};

#endif
