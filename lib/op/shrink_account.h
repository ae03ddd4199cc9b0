/* shrink_account.h - counts the events that a shrink removes. */
#ifndef OP_SHRINK_ACCOUNT_H
#define OP_SHRINK_ACCOUNT_H

#include "shrink.h"

/* Adds an event that this rung removes to the row of its name. Spans that were merged into the event before are counted,
 * too. */
void shrink_account(const struct shrink *s, struct shrunk *out, const struct tk_event *e, enum rung rung);

#endif
