/* sources_kept.h - ranks that were read together with an earlier rank of their file, until the caller loads them.
 *
 * The sources own these traces, because only the sources live as long as the caller's loop over the inputs. */
#ifndef SOURCE_SOURCES_KEPT_H
#define SOURCE_SOURCES_KEPT_H

#include "sources.h"

/* Returns the kept traces by input, NULL where there is none. Returns NULL when memory runs out. */
struct tk_trace **sources_kept(struct tk_sources *s);
/* Size of all kept traces in bytes. */
uint64_t sources_kept_bytes(const struct tk_sources *s);
/* Hands the kept trace of an input over to the caller; NULL if there is none. */
struct tk_trace *sources_kept_take(struct tk_sources *s, size_t i);
void sources_kept_free(struct tk_sources *s);

#endif
