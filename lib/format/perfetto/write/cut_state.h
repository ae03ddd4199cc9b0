/* cut_state.h - finds the events outside of the range that a cut needs. */
#ifndef FORMAT_PERFETTO_WRITE_CUT_STATE_H
#define FORMAT_PERFETTO_WRITE_CUT_STATE_H

#include "cut.h"

/* Fills c->open. */
void cut_state_find(struct cut *c, const struct tk_trace *t);

#endif
