/* look.h - inspects entries: which are traces, of which format, and whether they are complete. */
#ifndef SOURCE_LOOK_H
#define SOURCE_LOOK_H

#include "names.h"

/* Inspects the beginning of an entry; used as the function `look` of struct source. */
void look_at_beginning(void *arg, struct source *s, uint32_t entry, struct in *in, struct tk_err *err);

/* True if the entry can be read as a trace, or if a system error prevented inspecting it, because loading then reports the
 * error. False for a truncated entry if s->complete_only is set. */
bool look_may_be_trace(const struct source *s, uint32_t entry);

/* Makes truncated entries count as traces, even if only complete files were wanted. Called when the inputs have been chosen. */
void look_take_cut(struct source *s);

/* Returns the condition of an entry, as far as its inspection shows it. */
enum tk_health look_health(const struct source_entry *e);

#endif
