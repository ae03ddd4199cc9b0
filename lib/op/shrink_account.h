/* shrink_account.h - account of what a shrink removed. */
#ifndef OP_SHRINK_ACCOUNT_H
#define OP_SHRINK_ACCOUNT_H

#include "shrink.h"

/* Counts an event that this rung removes in the row of its name, with all spans that were merged into it before. */
void shrink_account(const struct shrink *s, struct shrunk *out, const struct tk_event *e, enum rung rung);

#endif
