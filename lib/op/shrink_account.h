/* shrink_account.h - counts the events that a shrink removes. */
#ifndef OP_SHRINK_ACCOUNT_H
#define OP_SHRINK_ACCOUNT_H

#include "shrink.h"

/* Counts an event that the rung removes. If spans were merged into the event before, counts these. */
void shrink_account(const struct shrink *s, struct shrunk *out, const struct tk_event *e, enum rung rung);

#endif
