/* sources_timed.h - leaves out files without times beside traces with times. */
#ifndef SOURCE_SOURCES_TIMED_H
#define SOURCE_SOURCES_TIMED_H

#include "sources_impl.h"

/* Drops the inputs from `first` on whose format has no times, if their run has inputs with times; a note names them. */
void sources_timed_keep(struct tk_sources *s, size_t first);

#endif
