/* diagnostics.h - notes with their texts, independent of any trace.
 *
 * Reports store notes here, and other texts that must live as long as the notes. The notes of a trace are stored in the trace
 * (trace_note) because they are written to the output; tk_trace_diagnostics returns a copy as struct tk_diagnostics. */
#ifndef GRAPH_DIAGNOSTICS_H
#define GRAPH_DIAGNOSTICS_H

#include "trace.h"

/* Returns an empty list; NULL = out of memory. */
struct tk_diagnostics *diagnostics_new(void);
/* Returns false with TK_ELIMIT in err if memory has run out since diagnostics_new. */
bool diagnostics_check(const struct tk_diagnostics *d, struct tk_err *err);

/* Returns a copy of the text with the lifetime of `d`; "" when memory runs out, so call diagnostics_check before printing the
 * text. */
const char *diagnostics_text(struct tk_diagnostics *d, const char *text);
const char *diagnostics_bytes(struct tk_diagnostics *d, const void *p, size_t n);

/* Adds a note without an offset, unless the list contains it already. `source`: name of the input that the note is about; NULL
 * or "" = none. */
void diagnostics_say(struct tk_diagnostics *d, const char *source, enum tk_note_kind kind, const char *text);
/* Adds the note "left out: WHY" for an input; `why` may begin with the input's name. */
void diagnostics_say_left_out(struct tk_diagnostics *d, const char *source, const char *why);
/* Adds all notes of a trace; notes without a source get `source`. */
void diagnostics_add_notes(struct tk_diagnostics *d, const struct tk_trace *t, const char *source);
/* Adds all notes of another list. */
void diagnostics_add(struct tk_diagnostics *d, const struct tk_diagnostics *from);
/* Adds the notes to a trace. */
void diagnostics_give(const struct tk_diagnostics *d, struct tk_trace *t);

#endif
