/* diagnostics.h - what is said of one thing or of several: notes with their texts, apart from any trace.
 *
 * Reports carry them, and what else they say in words: texts live as long as the diagnostics do.  The notes of a trace are its own
 * (trace_note), since they are written with it; tk_trace_diagnostics hands them out in this form. */
#ifndef GRAPH_DIAGNOSTICS_H
#define GRAPH_DIAGNOSTICS_H

#include "trace.h"

/* None yet; NULL = no memory. */
struct tk_diagnostics *diagnostics_new(void);
/* False with TK_ELIMIT in err if memory has run out since. */
bool diagnostics_check(const struct tk_diagnostics *d, struct tk_err *err);

/* The text, kept; "" when memory runs out, so that diagnostics_check comes before the text is written. */
const char *diagnostics_text(struct tk_diagnostics *d, const char *text);
const char *diagnostics_bytes(struct tk_diagnostics *d, const void *p, size_t n);

/* Once, and of no place in particular.  `source`: the input that it is of; NULL or "" = of none. */
void diagnostics_say(struct tk_diagnostics *d, const char *source, enum tk_note_kind kind, const char *text);
/* "left out: WHY" of an input; an error begins with its name. */
void diagnostics_say_left_out(struct tk_diagnostics *d, const char *source, const char *why);
/* All of a trace; those that are its own become those of `source`. */
void diagnostics_add_notes(struct tk_diagnostics *d, const struct tk_trace *t, const char *source);
/* All of others. */
void diagnostics_add(struct tk_diagnostics *d, const struct tk_diagnostics *from);
/* They become notes of the trace. */
void diagnostics_give(const struct tk_diagnostics *d, struct tk_trace *t);

#endif
