/* shrink_account.h - the account of what a shrink took away. */
#ifndef OP_SHRINK_ACCOUNT_H
#define OP_SHRINK_ACCOUNT_H

#include "shrink.h"

/* The event goes on this rung: it counts in the row of its name, for all spans that were put into it before. */
void shrink_account(const struct shrink *s, struct shrunk *out, const struct tk_event *e, enum rung rung);

#endif
