/* sources_parts.h - splits inputs that contain several ranks. */
#ifndef SOURCE_SOURCES_PARTS_H
#define SOURCE_SOURCES_PARTS_H

#include "sources.h"

/* Replaces each input that contains several ranks with one input for each of them. Has no effect if this was done before. Returns
 * false on an interrupt or when memory runs out; an input that cannot be read stays, and fails when it is loaded. */
bool sources_split(struct tk_sources *s, struct tk_err *err);

/* Finds the ranks of inputs that are read as a whole. To be called only for a single input, because ranks of several inputs are not
 * numbered together. Returns false as sources_split does. */
bool sources_find_within(struct tk_sources *s, struct tk_err *err);

/* Returns 1 + the index of the input among the ranks of its file; 0 if it is the whole file. */
uint32_t sources_part(const struct tk_sources *s, size_t i);
/* Returns the number of inputs from i on that are ranks of one file and have no further recordings; 1 for other inputs. */
size_t sources_ranks_from(const struct tk_sources *s, size_t i);
/* Returns the name of an input's format, according to its first bytes; NULL if it is unknown. */
const char *sources_format(struct tk_sources *s, size_t i);

#endif
