/* sources_notes.h - explains the choice of an input: as notes for its trace, and as alternatives in its error messages. */
#ifndef SOURCE_SOURCES_NOTES_H
#define SOURCE_SOURCES_NOTES_H

#include "sources_impl.h"

/* Adds a note about the choice of an input. `repair`: adds it as a repair, not as an observation. */
void sources_note(struct tk_sources *s, struct chosen *c, bool repair, const char *text);
/* Adds the notes on an input to its trace. */
void sources_decisions(const struct tk_sources *s, size_t i, struct tk_trace *t);
/* Adds to the error message of an input the alternatives that the user could read instead. */
void sources_suggest(const struct tk_sources *s, size_t i, struct tk_err *err);

#endif
