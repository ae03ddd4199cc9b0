/* phase.h - converts the phases of Chrome JSON events to the graph. */
#ifndef FORMAT_CHROME_READ_PHASE_H
#define FORMAT_CHROME_READ_PHASE_H

#include "reader.h"

/* Adds the fields that the phase keeps as args (id, scope, ...) to the arg builder. Called on the general path, before
 * args_end. */
void chrome_extra_args(struct chrome *r, struct chrome_event *e);

/* Adds the event to the graph. `from` is its text, for events that are kept raw. */
void chrome_add_event(struct chrome *r, const struct chrome_event *e, uint32_t args, const uint8_t *from);

/* True if the event becomes a record, which keeps its text. */
bool chrome_is_record(const struct tk_trace *t, const struct chrome_event *e);

/* True for phases that become events or flow points; all others are kept as records. */
bool chrome_phase_known(uint8_t ph);

/* Removes args that are not numbers from the args under construction (the series of a counter sample). */
void chrome_drop_nan(struct chrome *r);

#endif
