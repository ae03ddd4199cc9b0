/* provenance.h - writes the account of a shrink into the provenance of its output. */
#ifndef SHRINK_PROVENANCE_H
#define SHRINK_PROVENANCE_H

#include "op/shrink.h"

/* Appends the account of the shrink to b as JSON members, including the accounts of earlier shrinks of the same trace. Returns
 * its text; NULL if memory runs out. */
const char *shrink_provenance(struct buf *b, const struct tk_trace *t, const struct shrunk *done);

#endif
