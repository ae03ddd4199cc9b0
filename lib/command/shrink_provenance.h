/* shrink_provenance.h - the account of a shrink, for the file that it wrote. */
#ifndef COMMAND_SHRINK_PROVENANCE_H
#define COMMAND_SHRINK_PROVENANCE_H

#include "op/shrink.h"

/* JSON members, in b; after those of an earlier shrink of the same trace.  NULL when memory runs out. */
const char *shrink_provenance(struct buf *b, const struct tk_trace *t, const struct shrunk *done);

#endif
